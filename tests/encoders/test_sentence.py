"""Sentence encoders from local folders, alone and paired with a ColBERT checkpoint as one TextEncoder."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch

from mmmem.encoders.colbert import ColbertTokenEncoder
from mmmem.encoders.paired import PairedTextEncoder
from mmmem.encoders.sentence import SentenceEncoder
from mmmem.encoders.tokens import quantise
from mmmem.errors import WeightsError
from tests.encoders import tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A sentence-transformers folder with a query prompt, and its BERT."""
    folder = tmp_path_factory.mktemp("sentence") / "folder"
    return folder, tiny.write_sentence_encoder(folder, query="search for: ")


def load(folder):
    return SentenceEncoder(folder, models=tiny.pinned(folder), device="cpu", batch_size=2)


@pytest.fixture(scope="module")
def encoder(saved):
    return load(saved[0])


def original(saved, text):
    folder, bert = saved
    with torch.inference_mode():
        tokens = tiny.tokenizer(folder)(text, return_tensors="pt")
        mean = bert(**tokens).last_hidden_state[0].mean(dim=0)
    return torch.nn.functional.normalize(mean, dim=0).numpy()


def test_vectors_are_those_of_the_model_that_was_saved(saved, encoder):
    (document,), (query,) = encoder.encode_documents(["It rained."]), encoder.encode_queries(["It rained."])
    np.testing.assert_allclose(document, original(saved, "It rained."), atol=1e-5)
    np.testing.assert_allclose(query, original(saved, "search for: It rained."), atol=1e-5)
    assert document.dtype == np.float32
    assert document.shape == (encoder.dimensions,)


def test_the_end_of_a_long_text_counts(encoder):
    beginning = "once upon a time there was a very long story about nothing at all " * 20
    cat, dog = encoder.encode_documents([beginning + "cat", beginning + "dog"])
    assert not np.allclose(cat, dog, atol=1e-4)
    assert np.linalg.norm(cat) == pytest.approx(1, abs=1e-6)


def test_company_changes_nothing(encoder):
    texts = ["short", "a somewhat longer text than that", " ".join(["many words"] * 60), "x"]
    for text, vector in zip(texts, encoder.encode_documents(texts), strict=True):
        np.testing.assert_allclose(vector, encoder.encode_documents([text])[0], atol=1e-6)


def test_a_blank_text_is_near_nothing(encoder):
    (vector,) = encoder.encode_documents([" \n"])
    assert not vector.any()
    assert encoder.encode_documents([]) == []


def test_without_a_pin_it_does_not_start(saved):
    with pytest.raises(WeightsError, match="MMMEM_SENTENCE_DIR"):
        SentenceEncoder(saved[0], models=(), device="cpu", batch_size=2)


def test_a_folder_that_does_not_say_how_it_pools_is_refused(tmp_path):
    tiny.write_bert(tmp_path / "bert")
    with pytest.raises(WeightsError, match=r"has no modules\.json"):
        load(tmp_path / "bert")


def test_a_folder_that_wants_to_run_its_own_code_is_refused(saved, tmp_path):
    folder = shutil.copytree(saved[0], tmp_path / "folder")
    (folder / "modeling_mine.py").write_text("raise RuntimeError('this ran')")
    tiny.edit_json(folder / "config.json", auto_map={"AutoModel": "modeling_mine.Mine"}, model_type="mine")
    with pytest.raises(WeightsError, match="sentence_dir: cannot be loaded"):
        load(folder)


def test_the_pair_is_one_text_encoder(encoder, tmp_path):
    tiny.write_stanford_colbert(tmp_path / "colbert")
    models = tiny.pinned(tmp_path / "colbert")
    colbert = ColbertTokenEncoder(tmp_path / "colbert", models=models, device="cpu", batch_size=2)
    pair = PairedTextEncoder(encoder, colbert)
    texts = ["It rained.", "", "Who sang?"]
    memories = pair.encode_memories(texts, ["And the weather?", "", ""])
    for text, memory in zip(texts, memories, strict=True):
        (tokens,) = colbert.encode_documents([text])
        np.testing.assert_array_equal(memory.dense, encoder.encode_documents([text])[0])
        np.testing.assert_array_equal(memory.tokens, quantise(tokens.vectors))
        np.testing.assert_array_equal(memory.token_ids, tokens.ids)
        assert memory.tokens.dtype == np.int8
    (query,) = pair.encode_queries(["Who sang?"])
    assert query.tokens.shape == (len(query.token_ids), pair.token_dimensions)
    assert encoder.name in pair.name
    assert colbert.name in pair.name
