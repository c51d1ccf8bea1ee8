"""RAGatouille itself puts memories in order: the order of the other rerankers, with nothing compiled and nothing fetched."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from mmmem import wiring
from mmmem.encoders.device import Device
from mmmem.encoders.weights import pin
from mmmem.errors import WeightsError
from mmmem.rerankers.colbert import ColbertReranker
from mmmem.rerankers.maxsim import MaxSimReranker
from mmmem.settings import Settings
from tests.encoders import tiny
from tests.rerankers.conftest import MEMORIES, QUESTION

pytestmark = pytest.mark.skipif(
    find_spec("ragatouille") is None,
    reason="RAGatouille is not installed here; scripts/test_ragatouille runs this in an environment of its own",
)


def load(folder, threads):
    from mmmem.rerankers.ragatouille import RagatouilleReranker

    device = Device("cpu", threads=2, cores=2)
    return RagatouilleReranker(folder, threads, models=tiny.pinned(folder), device=device, batch_size=4)


@pytest.fixture
def folder(checkpoint, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(checkpoint, tmp_path / "folder")


@pytest.fixture
def reranker(checkpoint, threads):
    return load(checkpoint, threads)


def order(scores):
    return np.argsort(-scores, kind="stable").tolist()


def test_all_rerankers_agree_on_one_checkpoint(reranker, encoder, threads, ask, stored):
    question, memories = ask(QUESTION), stored(MEMORIES)
    by_ragatouille = reranker(question, memories)
    by_colbert = ColbertReranker(encoder, threads)(question, memories)
    by_stored_tokens = MaxSimReranker()(question, memories)
    np.testing.assert_allclose(by_ragatouille, by_colbert, atol=1e-3)
    assert order(by_ragatouille) == order(by_colbert) == order(by_stored_tokens) != list(range(len(MEMORIES)))


def test_the_settings_choose_it(checkpoint, threads, ask, stored, tmp_path):
    manifest = tmp_path / "models.toml"
    manifest.write_text(pin("mine", checkpoint), encoding="utf-8")
    settings = Settings(reranker="ragatouille", reranker_dir=str(checkpoint), models_manifest=str(manifest))
    wiring.check(settings)
    reranker = wiring.rerankers.load(settings, Device("cpu", threads=2, cores=2), threads)
    assert reranker.name.startswith("ragatouille@")
    assert int(np.argmax(reranker(ask(QUESTION), stored(MEMORIES)))) == 2


def test_nothing_is_compiled(checkpoint, threads, ask, stored, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    load(checkpoint, threads)(ask(QUESTION), stored(MEMORIES))
    from colbert.modeling.colbert import ColBERT

    assert list(tmp_path.iterdir()) == []
    assert not hasattr(ColBERT, "segmented_maxsim")


def test_nothing_is_printed_for_a_search(reranker, ask, stored, capfd):
    capfd.readouterr()
    reranker(ask(QUESTION), stored([*MEMORIES, *MEMORIES]))
    assert capfd.readouterr() == ("", "")


def test_one_memory_is_scored_as_among_others(reranker, ask, stored):
    among = reranker(ask(QUESTION), stored(MEMORIES))
    for place, text in enumerate(MEMORIES):
        [alone] = reranker(ask(QUESTION), stored([text]))
        assert alone == pytest.approx(among[place], abs=1e-3)


def test_blank_memories_have_no_score(reranker, ask, stored):
    texts = ["", *MEMORIES, " \n\t"]
    scores = reranker(ask(QUESTION), stored(texts))
    assert [text for text, score in zip(texts, scores, strict=True) if np.isnan(score)] == ["", " \n\t"]
    assert np.isnan(reranker(ask(QUESTION), stored(["", ""]))).all()


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_blank_question_gives_no_scores(reranker, ask, stored, text):
    assert np.isnan(reranker(ask(text), stored(MEMORIES))).all()


def test_odd_text_is_scored(reranker, ask, stored):
    odd = ["\ud800 half a pair", "!!!", "\u200b", "☃☃☃", "\x00", "很久以前", "word " * 3000]
    candidates = stored(["a"])
    candidates = type(candidates)(odd, candidates.tokens, candidates.token_scales, candidates.token_offsets)
    assert np.isfinite(reranker(ask(QUESTION), candidates)).all()
    assert np.isfinite(reranker(ask("word " * 300), stored(MEMORIES))).all()


def test_questions_asked_at_once_take_turns(reranker, ask, stored, monkeypatch):
    # Its model keeps the length of the question at hand: two at once would read each other's.
    memories = stored(MEMORIES)
    asked = [ask(text) for text in [QUESTION, "who? " * 40] * 10]
    one_by_one = [reranker(question, memories) for question in asked]
    rerank, inside, seen = reranker._model.rerank, [], []

    def watched(*arguments, **options):
        inside.append(None)
        seen.append(len(inside))
        results = rerank(*arguments, **options)
        inside.pop()
        return results

    monkeypatch.setattr(reranker._model, "rerank", watched)
    with ThreadPoolExecutor(4) as callers:
        at_once = list(callers.map(lambda question: reranker(question, memories), asked))
    np.testing.assert_allclose(at_once, one_by_one, atol=1e-5)
    assert set(seen) == {1}


def test_no_hub_is_asked_for_the_network_that_the_metadata_names(folder, threads, ask, stored, reranker):
    tiny.edit_json(folder / "artifact.metadata", model_name="someone/elsewhere")
    scores = load(folder, threads)(ask(QUESTION), stored(MEMORIES))
    np.testing.assert_allclose(scores, reranker(ask(QUESTION), stored(MEMORIES)), atol=1e-5)


def test_a_relative_folder_is_not_taken_for_a_models_name(checkpoint, threads, monkeypatch):
    monkeypatch.chdir(checkpoint.parent.parent)
    load(checkpoint.relative_to(checkpoint.parent.parent), threads)


def test_one_altered_byte_is_refused(folder, threads):
    from mmmem.rerankers.ragatouille import RagatouilleReranker

    models = tiny.pinned(folder)
    tiny.alter(folder / "model.safetensors")
    with pytest.raises(WeightsError, match=r"reranker_dir: model\.safetensors is not the file pinned"):
        RagatouilleReranker(folder, threads, models=models, device=Device("cpu", threads=1, cores=1), batch_size=4)


@pytest.mark.parametrize("lost", ["linear.weight", "bert.encoder.layer.1.output.dense.weight"])
def test_a_checkpoint_that_lacks_weights_is_refused(folder, threads, lost):
    weights = folder / "model.safetensors"
    state = {name: value for name, value in load_file(weights).items() if name != lost}
    save_file(state, weights, metadata={"format": "pt"})
    with pytest.raises(WeightsError, match=f"reranker_dir: lacks 1 weights of the network, for example {lost}"):
        load(folder, threads)


def test_a_checkpoint_of_another_width_is_refused(folder, threads):
    tiny.edit_json(folder / "artifact.metadata", dim=16)
    with pytest.raises(WeightsError, match="reranker_dir: RAGatouille cannot load it"):
        load(folder, threads)


def test_a_checkpoint_with_code_of_its_own_is_refused(folder, threads):
    tiny.edit_json(folder / "config.json", auto_map={"AutoModel": "modeling.Model"})
    with pytest.raises(WeightsError, match="auto_map"):
        load(folder, threads)


def test_pickled_weights_are_refused(folder, threads):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(WeightsError, match=r"no \.safetensors file"):
        load(folder, threads)
