"""ColBERT checkpoints from local folders: the token vectors they were trained to give, or no start."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder

from mmmem.encoders.colbert import ColbertTokenEncoder
from mmmem.errors import WeightsError
from mmmem.types import SPECIAL, UNKNOWN
from tests.encoders import tiny

CLS, SEP, MASK, QUERY, DOCUMENT = 101, 102, 103, 1, 2  # in MiniLM's vocabulary; the markers are [unused0] and [unused1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A Stanford ColBERT folder, its BERT and its projection."""
    folder = tmp_path_factory.mktemp("colbert") / "folder"
    return folder, *tiny.write_stanford_colbert(folder)


@pytest.fixture
def folder(saved, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(saved[0], tmp_path / "folder")


def load(folder, batch_size=2):
    return ColbertTokenEncoder(folder, models=tiny.pinned(folder), device="cpu", batch_size=batch_size)


@pytest.fixture(scope="module")
def encoder(saved):
    return load(saved[0])


def own_ids(folder, text):
    return tiny.tokenizer(folder)(text, add_special_tokens=False)["input_ids"]


def original(saved, ids, attended=None):
    """float32 [t, 8], unit rows: ColBERT written out."""
    _, bert, projection = saved
    mask = torch.ones(1, len(ids), dtype=torch.long)
    if attended is not None:
        mask[0, attended:] = 0
    with torch.inference_mode():
        hidden = bert(input_ids=torch.tensor([ids]), attention_mask=mask).last_hidden_state[0]
        return torch.nn.functional.normalize(hidden @ projection.T, dim=-1).numpy()


def test_a_document_is_its_own_tokens_without_punctuation(saved, encoder):
    text = "Hello, world! Yes: it rained."
    ids = own_ids(saved[0], text)
    kept = [
        place for place, word in enumerate(tiny.tokenizer(saved[0]).convert_ids_to_tokens(ids)) if word not in ",!:."
    ]
    (tokens,) = encoder.encode_documents([text])
    assert tokens.ids.tolist() == [ids[place] for place in kept]
    np.testing.assert_allclose(tokens.vectors, original(saved, [CLS, DOCUMENT, *ids, SEP])[2:-1][kept], atol=1e-5)
    assert tokens.vectors.dtype == np.float32
    assert tokens.ids.dtype == np.int32


def test_a_query_is_expanded_with_masks_that_nothing_attends_to(saved, encoder):
    ids = own_ids(saved[0], "who sang, and when?")
    (tokens,) = encoder.encode_queries(["who sang, and when?"])
    marked = [CLS, QUERY, *ids, SEP]
    expected = original(saved, marked + [MASK] * (16 - len(marked)), attended=len(marked))
    np.testing.assert_allclose(tokens.vectors, expected, atol=1e-5)
    assert tokens.ids.tolist() == [SPECIAL, SPECIAL, *ids, *[SPECIAL] * (16 - len(ids) - 2)]


def test_a_word_outside_the_vocabulary_is_unknown_in_a_query_and_kept_in_a_document(encoder):
    (query,) = encoder.encode_queries(["who is ☃?"])
    (document,) = encoder.encode_documents(["it is ☃."])
    assert UNKNOWN in query.ids
    assert document.ids.tolist()[-1] == 100  # [UNK]


def test_a_long_document_is_encoded_to_its_end(saved, encoder):
    text = " ".join(f"word{number} and" for number in range(60))
    (tokens,) = encoder.encode_documents([text])
    assert tokens.ids.tolist() == own_ids(saved[0], text)


def test_a_long_query_is_encoded_to_its_end(saved, encoder):
    text = " ".join(f"word{number} and" for number in range(20))
    (tokens,) = encoder.encode_queries([text])
    assert [token for token in tokens.ids.tolist() if token != SPECIAL] == own_ids(saved[0], text)


def test_an_empty_text_has_no_tokens(encoder):
    (tokens,) = encoder.encode_documents([""])
    assert tokens.vectors.shape == (0, 8)
    assert encoder.encode_documents([]) == []


def test_company_changes_nothing(encoder):
    texts = ["short", "a somewhat longer text than that", "x y z", " ".join(["many words"] * 40), "short"]
    together = encoder.encode_documents(texts)
    for text, tokens in zip(texts, together, strict=True):
        (alone,) = encoder.encode_documents([text])
        np.testing.assert_allclose(tokens.vectors, alone.vectors, atol=1e-6)


def test_threads_may_share_it(encoder):
    # Two lengths that are padded to the same one: a thread that switched padding off for another would be seen.
    pairs = [[" ".join(["word"] * length) for length in (n, n + 1)] for n in range(1, 10)] * 8
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            encoded = list(threads.map(encoder.encode_documents, pairs))
    finally:
        sys.setswitchinterval(interval)
    assert [[len(tokens.ids) for tokens in pair] for pair in encoded] == [[n, n + 1] for n in range(1, 10)] * 8


def test_the_librarys_own_format_gives_the_same_vectors(saved, encoder, tmp_path):
    resaved = tmp_path / "resaved"
    MultiVectorEncoder(str(saved[0]), device="cpu", local_files_only=True).save_pretrained(
        str(resaved), create_model_card=False
    )
    again = load(resaved)
    for text in ("Hello, world!", " ".join(["many words"] * 40)):
        theirs, ours = encoder.encode_documents([text])[0], again.encode_documents([text])[0]
        np.testing.assert_allclose(ours.vectors, theirs.vectors, atol=1e-5)
    np.testing.assert_allclose(
        again.encode_queries(["who?"])[0].vectors, encoder.encode_queries(["who?"])[0].vectors, atol=1e-5
    )


@pytest.mark.parametrize("said", [{}, {"model_type": "ColBERT"}], ids=["older", "newer"])
def test_pylates_format_gives_the_same_vectors(saved, encoder, tmp_path, said):
    pylate = tmp_path / "pylate"
    tiny.write_pylate_colbert(pylate, saved[2], **said)
    again = load(pylate)
    for task in ("encode_documents", "encode_queries"):
        theirs, ours = (getattr(each, task)(["Hello, world!"])[0] for each in (encoder, again))
        np.testing.assert_array_equal(ours.ids, theirs.ids)
        np.testing.assert_allclose(ours.vectors, theirs.vectors, atol=1e-5)


def test_without_a_pin_it_does_not_start(saved):
    with pytest.raises(WeightsError, match="MMMEM_COLBERT_DIR"):
        ColbertTokenEncoder(saved[0], models=(), device="cpu", batch_size=2)


def test_one_altered_byte_is_refused(folder):
    models = tiny.pinned(folder)
    tiny.alter(folder / "model.safetensors")
    with pytest.raises(WeightsError, match=r"model\.safetensors is not the file pinned"):
        ColbertTokenEncoder(folder, models=models, device="cpu", batch_size=2)


def test_a_plain_bert_is_refused_instead_of_projected_at_random(tmp_path):
    tiny.write_bert(tmp_path / "bert")
    with pytest.raises(WeightsError, match="is not a ColBERT checkpoint"):
        load(tmp_path / "bert")


def test_a_sentence_encoder_is_refused_instead_of_projected_at_random(tmp_path):
    tiny.write_sentence_encoder(tmp_path / "sentence")
    with pytest.raises(WeightsError, match="is not a ColBERT checkpoint"):
        load(tmp_path / "sentence")


def test_a_checkpoint_without_its_projection_is_refused(folder):
    weights = folder / "model.safetensors"
    state = {name: value for name, value in load_file(weights).items() if name != "linear.weight"}
    save_file(state, weights, metadata={"format": "pt"})
    with pytest.raises(WeightsError, match="colbert_dir: cannot be loaded"):
        load(folder)


def test_a_checkpoint_that_lacks_a_layer_is_refused(folder):
    weights = folder / "model.safetensors"
    state = {name: value for name, value in load_file(weights).items() if "layer.1.output.dense.weight" not in name}
    save_file(state, weights, metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=r"lacks 1 weights of the network, for example encoder\.layer\.1\.output"):
        load(folder)


def test_weights_of_another_shape_are_refused(folder):
    tiny.edit_json(folder / "config.json", hidden_size=48)
    with pytest.raises(WeightsError, match="colbert_dir: cannot be loaded"):
        load(folder)


def test_pickled_weights_are_refused(folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(WeightsError, match=r"no \.safetensors file"):
        load(folder)
