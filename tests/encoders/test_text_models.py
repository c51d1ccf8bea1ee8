"""Text models that a user brings: read as they were trained to be read, or refused."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from transformers import AutoModel

from mmmem.encoders.contextual import ContextualEncoder
from mmmem.encoders.conventions import Conventions
from mmmem.encoders.tokens import Projection, quantise
from mmmem.encoders.weights import sha256
from mmmem.errors import WeightsError
from mmmem.types import SPECIAL, UNKNOWN
from scripts import fit_projection
from tests.encoders import text_models, tiny
from tests.encoders.text_models import MEMORIES

KINDS = {"wordpiece": text_models.wordpiece, "unigram-bert": text_models.unigram_bert, "roberta": text_models.roberta}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    for name, write in KINDS.items():
        write(folder / name)
    return folder


@pytest.fixture(scope="module", params=KINDS)
def folder(folders, request):
    return folders / request.param


@pytest.fixture(scope="module")
def encoder(folder):
    return load(folder)


@pytest.fixture
def spoiled(folders, tmp_path):
    """A copy of a good folder, for a test to spoil."""
    return shutil.copytree(folders / "unigram-bert", tmp_path / "spoiled")


def load(folder, projection=None):
    conventions = Conventions.read("text_dir", folder)
    return ContextualEncoder(folder, conventions, projection, name="mine", device="cpu", batch_size=4)


def tokenizer_of(folder):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def test_a_question_is_what_sentence_transformers_makes_of_it(folder, encoder):
    theirs = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    texts = ["雨伞在谁那里？", "the cat", "我的护照"]
    prompts = {"prompt_name": "query"} if theirs.prompts.get("query") else {}
    for ours, vector in zip(encoder.encode_queries(texts), theirs.encode(texts, **prompts), strict=True):
        np.testing.assert_allclose(ours.dense, vector, atol=1e-5)


def test_a_memory_is_read_as_a_pair_in_the_models_own_format(folder, encoder):
    text, before = "还没有还。", "雨伞在谁那里？"
    tokenizer, prompt = tokenizer_of(folder), encoder._conventions.document_prompt
    pair = tokenizer.encode(prompt + text, before)
    count = len(tokenizer.encode(text, add_special_tokens=False).ids) - (
        1 if prompt else 0
    )  # the space is the prompt's
    end = 1 + len(tokenizer.encode(prompt + text, add_special_tokens=False).ids)
    with torch.inference_mode():
        hidden = AutoModel.from_pretrained(folder, add_pooling_layer=False)(torch.tensor([pair.ids])).last_hidden_state
    own = hidden[0, end - count : end].numpy()
    [memory] = encoder.encode_memories([text], [before])
    assert memory.token_ids.tolist() == pair.ids[end - count : end]
    assert np.abs(memory.tokens.astype(int) - quantise(own)).max() <= 1  # a rounding apart, at most
    pooled = hidden[0, 0].numpy() if encoder._conventions.pooling == "cls" else own.mean(axis=0)
    np.testing.assert_allclose(memory.dense, pooled / np.linalg.norm(pooled), atol=1e-5)


def test_the_same_bits_alone_and_in_any_company(encoder):
    texts = [*MEMORIES, "雨", "", " ".join(MEMORIES * 3)]
    alone = [encoder.encode_memories([text], ["猫"])[0] for text in texts]
    together = encoder.encode_memories(texts * 3, ["猫"] * len(texts) * 3)
    for i, encoding in enumerate(together):
        expected = alone[i % len(texts)]
        assert np.array_equal(expected.dense, encoding.dense)
        assert np.array_equal(expected.tokens, encoding.tokens)


def test_a_text_of_any_length_is_read_to_its_end_whatever_came_before_it(folder, encoder):
    long = "护照 " * 200 + "猫"
    [memory] = encoder.encode_memories([long], ["雨伞在谁那里？" * 100])
    ids = tokenizer_of(folder).encode(encoder._conventions.document_prompt + long, add_special_tokens=False).ids
    assert memory.token_ids.tolist() == ids[-len(memory.token_ids) :]
    assert len(ids) - len(memory.token_ids) == len(encoder._prompted(encoder._conventions.document_prompt, "")[0])
    [question] = encoder.encode_queries([long])
    assert question.token_ids.tolist()[-2] == ids[-1]
    assert len(question.tokens) == len(question.token_ids)


def test_what_the_vocabulary_holds_is_known_and_the_rest_is_marked(encoder):
    known, unknown = encoder.encode_queries(["雨伞在谁那里？", "☃龘"])
    assert UNKNOWN not in known.token_ids
    assert UNKNOWN in unknown.token_ids


def test_a_prompt_is_no_word_of_the_question(folders):
    [question] = load(folders / "unigram-bert").encode_queries(["the cat"])
    words = tokenizer_of(folders / "unigram-bert").encode("the cat", add_special_tokens=False).ids
    assert question.token_ids.tolist() == [SPECIAL, *words, SPECIAL]


def test_a_newer_folder_is_read_the_same(folders, tmp_path):
    old, new = folders / "wordpiece", tmp_path / "new"
    SentenceTransformer(str(old), device="cpu", local_files_only=True).save_pretrained(
        str(new), create_model_card=False
    )
    assert Conventions.read("text_dir", new) == Conventions.read("text_dir", old)
    theirs, ours = (load(each).encode_memories(MEMORIES, MEMORIES) for each in (old, new))
    for a, b in zip(theirs, ours, strict=True):
        assert np.array_equal(a.tokens, b.tokens)


def test_with_a_projection_token_vectors_are_as_narrow_as_it_says(folders, tmp_path):
    plain = load(folders / "roberta")
    vectors = plain.hidden_states(MEMORIES)
    Projection.fit(np.concatenate(vectors), 8).save(tmp_path / "p.safetensors")
    projection = Projection.load(tmp_path / "p.safetensors")
    encoder = load(folders / "roberta", projection)
    assert (plain.token_dimensions, encoder.token_dimensions) == (32, 8)
    assert plain.name != encoder.name
    for memory, own in zip(encoder.encode_memories(MEMORIES, [""] * len(MEMORIES)), vectors, strict=True):
        assert np.array_equal(memory.tokens, quantise(projection(own)))


def test_the_script_fits_a_projection_for_any_model(folders, tmp_path, monkeypatch, capsys):
    text, out = tmp_path / "lines.txt", tmp_path / "projection.safetensors"
    text.write_text("\n".join(text_models.CORPUS), encoding="utf-8")
    model = str(folders / "unigram-bert")
    options = ["--model", model, "--out", str(out), "--lines", "--dimensions", "8", str(text)]
    monkeypatch.setattr("sys.argv", ["fit_projection.py", *options])
    fit_projection.main()
    assert sha256(out) in capsys.readouterr().out
    fitted = load(folders / "unigram-bert", Projection.load(out))
    assert fitted.token_dimensions == 8
    [memory] = fitted.encode_memories(["雨伞"], [""])
    assert memory.tokens.shape == (len(memory.token_ids), 8)


def refused(folder, problem, projection=None):
    with pytest.raises(WeightsError, match=problem) as raised:
        load(folder, projection)
    assert str(folder) not in str(raised.value)


def test_a_projection_of_another_model_is_refused(spoiled):
    refused(spoiled, "text_projection: is for vectors of 384 numbers", Projection.identity(384))


def test_a_file_that_is_no_projection_is_refused(spoiled, tmp_path):
    with pytest.raises(WeightsError, match="projection"):
        Projection.load(spoiled / "model.safetensors")
    (tmp_path / "text").write_text("not safetensors at all")
    with pytest.raises(WeightsError, match="projection"):
        Projection.load(tmp_path / "text")


def test_a_checkpoint_that_lacks_a_layer_is_refused(spoiled):
    weights = spoiled / "model.safetensors"
    state = {name: value for name, value in load_file(weights).items() if "layer.1.output.dense.weight" not in name}
    save_file(state, weights, metadata={"format": "pt"})
    refused(spoiled, r"text_dir: lacks 1 weights of the network, for example encoder\.layer\.1\.output")


def test_weights_of_another_shape_are_refused(spoiled):
    tiny.edit_json(spoiled / "config.json", hidden_size=48)
    refused(spoiled, "text_dir: cannot be loaded as bert")


def test_weights_of_another_network_are_refused(spoiled):
    tiny.edit_json(spoiled / "config.json", num_hidden_layers=3)
    refused(spoiled, "text_dir: lacks 16 weights")


def test_another_kind_of_network_is_refused(spoiled):
    tiny.edit_json(spoiled / "config.json", model_type="gpt2", auto_map={"AutoModel": "modeling_mine.Mine"})
    refused(spoiled, "text_dir: config.json says model_type gpt2; known are bert, roberta, xlm-roberta")


def test_pickled_weights_are_refused(spoiled):
    torch.save(load_file(spoiled / "model.safetensors"), spoiled / "pytorch_model.bin")
    (spoiled / "model.safetensors").unlink()
    refused(spoiled, r"text_dir: has no \.safetensors file")


def test_other_pooling_is_refused(tmp_path):
    text_models.roberta(tmp_path / "max", pooling="max")
    refused(tmp_path / "max", "text_dir: pools its tokens by pooling_mode_max_tokens; mean and cls are known")


def test_pooling_in_two_ways_is_refused(spoiled):
    tiny.edit_json(spoiled / "1_Pooling" / "config.json", pooling_mode_cls_token=True)
    refused(spoiled, "text_dir: pools its tokens by cls, mean")


def test_a_model_with_a_layer_behind_its_pooling_is_refused(spoiled):
    dense = {"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"}
    modules = json.loads((spoiled / "modules.json").read_text())
    tiny.write_json(spoiled / "modules.json", [*modules, dense])
    refused(spoiled, "text_dir: modules.json lists Transformer, Pooling, Normalize, Dense")


def test_a_folder_that_does_not_say_how_it_pools_is_refused(spoiled):
    (spoiled / "modules.json").unlink()
    refused(spoiled, r"text_dir: has no modules\.json")


@pytest.mark.parametrize("content", [None, "{", '{"model": {}}'])
def test_a_folder_without_a_tokenizer_is_refused(spoiled, content):
    file = spoiled / "tokenizer.json"
    file.unlink() if content is None else file.write_text(content)
    refused(spoiled, r"text_dir: .*tokenizer\.json")


def test_a_tokenizer_of_another_model_is_refused(spoiled):
    shutil.copy(tiny.verified_folder("all-MiniLM-L6-v2") / "tokenizer.json", spoiled / "tokenizer.json")
    refused(spoiled, r"text_dir: tokenizer\.json has tokens that the network has no vectors for")


def test_a_prompt_that_leaves_no_room_for_a_text_is_refused(spoiled):
    tiny.edit_json(spoiled / "config_sentence_transformers.json", prompts={"query": "coffee cat dog " * 30})
    refused(spoiled, "too few for its prompt and a text")
