"""The reranker that the settings ask for is the one that runs, with a verified checkpoint, or the service does not start."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from mmmem import wiring
from mmmem.encoders.device import Device
from mmmem.encoders.weights import pin
from mmmem.errors import StartupError, WeightsError
from mmmem.settings import Settings
from tests.encoders import tiny
from tests.rerankers.conftest import MEMORIES, QUESTION

CPU = Device("cpu", threads=2, cores=2)
CHECKPOINT_RERANKERS = ["colbert", "ragatouille"]


@pytest.fixture
def pinned(checkpoint, tmp_path):
    """What a user sets for a checkpoint that he pinned."""
    manifest = tmp_path / "models.toml"
    manifest.write_text(pin("mine", checkpoint), encoding="utf-8")
    return {"reranker_dir": str(checkpoint), "models_manifest": str(manifest)}


def test_by_default_stored_tokens_rerank(threads):
    reranker = wiring.rerankers.load(Settings(), CPU, threads)
    assert reranker is not None
    assert reranker.name == "maxsim"


def test_a_checkpoint_reranks_and_its_name_tells_its_weights(pinned, threads, ask, stored):
    reranker = wiring.rerankers.load(Settings(reranker="colbert", **pinned), CPU, threads)
    assert reranker is not None
    assert reranker.name.startswith("colbert@")
    assert int(np.argmax(reranker(ask(QUESTION), stored(MEMORIES)))) == 2


def test_none_is_none(threads):
    assert wiring.rerankers.load(Settings(reranker="none"), CPU, threads) is None


@pytest.mark.parametrize("reranker", CHECKPOINT_RERANKERS)
def test_without_a_checkpoint_it_does_not_start(reranker):
    with pytest.raises(WeightsError, match="MMMEM_RERANKER_DIR"):
        wiring.check(Settings(reranker=reranker))


@pytest.mark.parametrize("reranker", CHECKPOINT_RERANKERS)
def test_without_a_pin_it_does_not_start_and_says_how_to_pin(reranker, checkpoint):
    with pytest.raises(WeightsError, match=r"reranker_dir: .*mmmem models pin"):
        wiring.check(Settings(reranker=reranker, reranker_dir=str(checkpoint)))


def test_a_plain_bert_does_not_rerank(threads, tmp_path):
    tiny.write_bert(tmp_path / "bert")
    manifest = tmp_path / "models.toml"
    manifest.write_text(pin("mine", tmp_path / "bert"), encoding="utf-8")
    settings = Settings(reranker="colbert", reranker_dir=str(tmp_path / "bert"), models_manifest=str(manifest))
    with pytest.raises(WeightsError, match="reranker_dir: is not a ColBERT checkpoint"):
        wiring.rerankers.load(settings, CPU, threads)


@pytest.mark.skipif(find_spec("ragatouille") is not None, reason="RAGatouille is installed here")
def test_ragatouille_that_is_not_installed_is_named_with_its_command(pinned):
    with pytest.raises(StartupError, match=r"pip install 'mmmem\[ragatouille\]'"):
        wiring.check(Settings(reranker="ragatouille", **pinned))


def test_ragatouille_does_not_take_a_gpu_that_it_was_told_to_leave(pinned, threads, monkeypatch):
    monkeypatch.setattr(wiring.rerankers, "find_spec", lambda name: name)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    with pytest.raises(StartupError, match="MMMEM_DEVICE"):
        wiring.rerankers.load(Settings(reranker="ragatouille", **pinned), CPU, threads)
