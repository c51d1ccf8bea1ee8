"""What a service keeps is listed and removed from its folder without models: as the service says it, whatever made the vectors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mmmem import Client
from mmmem.errors import StoreUnavailable, Unavailable
from mmmem.library.engine import StoreDoor
from mmmem.settings import Settings
from tests.contract.pictures import data_url, draw
from tests.running import DEADLINE, RunningService

USER = "on the door"


def folder_of(service: RunningService) -> str:
    return str(service.log.parent / "data")


def test_a_folder_without_models_says_what_its_service_says(service: RunningService) -> None:
    with Client(service.url) as client, StoreDoor(Settings(data_dir=folder_of(service))) as door:
        client.add("hello " * 1000, user_id=USER, session_id="a", timestamp=1_704_067_200_000)
        client.add(["two", data_url(draw("red")), data_url(draw("green"))], user_id=USER)
        assert door.get_all(user_id=USER) == client.get_all(user_id=USER)
        client.add("and a picture", user_id=USER, session_id="a")  # seen by a door that was read before
        client.add(data_url(draw("blue")), user_id=USER)
        kept = client.get_all(user_id=USER)
        assert door.get_all(user_id=USER, newest_first=True) == kept[::-1]
        assert door.get_all(user_id=USER, session_id="a") == client.get_all(user_id=USER, session_id="a")
        assert door.get(kept[-1].id, user_id=USER) == kept[-1]
        assert door.usage(USER) == client.usage(USER)


def test_what_is_removed_from_the_folder_is_gone_for_the_service(service: RunningService) -> None:
    user = f"{USER} and off"
    with Client(service.url) as client, StoreDoor(Settings(data_dir=folder_of(service))) as door:
        client.add("A red boat.", user_id=user)
        client.add(["A green boat.", data_url(draw("green"))], user_id=user)
        red, green = client.get_all(user_id=user)
        assert [door.delete(red.id, user_id=user), door.delete(red.id, user_id=user)] == [True, False]
        assert client.get_all(user_id=user) == [green]
        assert client.search("boat", user_id=user)[0].images
        assert door.delete_all(user_id=user)
        assert client.get_all(user_id=user) == []


def test_nothing_is_added_or_found_without_models(service: RunningService) -> None:
    with StoreDoor(Settings(data_dir=folder_of(service))) as door:
        with pytest.raises(Unavailable, match="no models are loaded"):
            door.add("lost", user_id=USER)
        with pytest.raises(Unavailable, match="no models are loaded"):
            door.search("lost", user_id=USER)


def test_a_folder_without_a_store_stays_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="data_dir: there is no store"):
        StoreDoor(Settings(data_dir=str(tmp_path / "none")))
    assert list(tmp_path.iterdir()) == []


def test_no_model_is_loaded(service: RunningService) -> None:
    code = (
        "import sys; from mmmem.library.engine import StoreDoor; from mmmem.settings import Settings\n"
        "with StoreDoor(Settings()) as door: door.get_all(user_id='nobody')\n"
        "print({'torch', 'transformers', 'onnxruntime'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    environment = {"MMMEM_DATA_DIR": folder_of(service), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE, check=False)
    assert (done.stdout, done.stderr) == ("set()\n", "")
