"""`mmmem serve` starts with what it is told, or says in one line why not."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import mmmem
from tests.running import DEADLINE, RunningService, run


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == f"mmmem {mmmem.__version__}\n"


def test_every_option_of_serve_is_in_its_help() -> None:
    text = run("serve", "--help", TERM="dumb", COLUMNS="120").stdout
    for option in ("--host", "--port", "--data-dir", "--profile", "--workers", "--log-level"):
        assert option in text


def test_every_option_of_explain_is_in_its_help() -> None:
    text = run("explain", "--help", TERM="dumb", COLUMNS="120").stdout
    options = ("user", "image", "option", "top-k", "data-dir", "url", "key", "tokens", "json")
    assert [option for option in options if f"--{option} " not in text] == []


def test_a_shell_completes_commands_and_options() -> None:
    def completed(words: str) -> list[str]:
        asked = {"_MMMEM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return run(**asked).stdout.split()

    assert completed("mmmem se") == ["serve", "search"]
    assert "--session" in completed("mmmem add --se")
    assert "whatsapp" in completed("mmmem import x --format w")
    assert "_MMMEM_COMPLETE=complete_bash" in run("--show-completion", "bash").stdout


def test_the_command_line_is_light() -> None:
    """Help, a wrong setting and the port all come before seconds of imports."""
    code = "import mmmem.cli, mmmem.api.server, mmmem.wiring, sys; print({'torch', 'lancedb'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "settings", "named"),
    [
        (["--port", "99999"], {}, "MMMEM_PORT"),
        (["--profile", "heavy"], {}, "MMMEM_PROFILE"),
        (["--workers", "0"], {}, "MMMEM_WORKERS"),
        ([], {"MMMEM_AUTH": "basic"}, "MMMEM_AUTH"),
        ([], {"MMMEM_MAX_TOP_K": "many"}, "MMMEM_MAX_TOP_K"),
        (["--log-level", "loud"], {"MMMEM_API_KEY": "4711"}, "MMMEM_LOG_LEVEL"),
    ],
)
def test_a_wrong_setting_is_one_line_that_names_it(arguments: list[str], settings: dict[str, str], named: str) -> None:
    done = run("serve", *arguments, **settings)
    assert done.returncode == 2
    assert done.stderr.startswith(f"mmmem: {named}: ")
    assert done.stderr.count("\n") == 1
    assert "4711" not in done.stderr


def test_an_option_that_is_no_number_is_refused() -> None:
    done = run("serve", "--port", "http", TERM="dumb")
    assert done.returncode == 2
    assert "--port" in done.stderr


def test_an_option_wins_over_its_variable() -> None:
    assert "MMMEM_PORT" in run("serve", "--port", "99999", MMMEM_PORT="8000").stderr
    assert "MMMEM_WORKERS" in run("serve", "--port", "1", MMMEM_PORT="99999", MMMEM_WORKERS="0").stderr


def test_a_port_in_use_is_said_plainly(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("serve", "--port", port, "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert f"mmmem: cannot listen on 127.0.0.1 port {port}: Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_service_that_is_told_to_stop_while_it_starts_ends_as_asked(tmp_path: Path) -> None:
    """Of the first process of a container the kernel drops signals that have no handler."""
    command = [sys.executable, "-m", "mmmem", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while not handles(signal.SIGTERM, process.pid):
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0


def handles(number: signal.Signals, pid: int) -> bool:
    """Whether the process has a handler for the signal; Python brings one for SIGINT alone."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_without_the_gpu_that_is_asked_for_nothing_listens_and_one_line_says_so(workers: str, tmp_path: Path) -> None:
    no_gpu = {"MMMEM_DEVICE": "cuda", "CUDA_VISIBLE_DEVICES": "", "MMMEM_WORKERS": workers}
    done = run("serve", "--port", "0", "--data-dir", str(tmp_path / "data"), **no_gpu)
    assert done.returncode == 1
    assert done.stderr.startswith("mmmem: MMMEM_DEVICE=cuda, but torch sees no GPU")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "data").exists()


def test_missing_weights_stop_the_start_with_what_is_missing(tmp_path: Path) -> None:
    done = run("serve", "--profile", "clip", "--data-dir", str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.startswith("mmmem: the clip profile needs MMMEM_CLIP_CHECKPOINT")
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_used_ends_the_service_and_is_not_tried_for_ever(
    start_service: Callable[..., RunningService], tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    for running in [start_service(workers="1"), start_service(workers="2")]:
        assert running.process.wait(DEADLINE) == 1
        log = running.log.read_text()
        assert "cannot start: data_dir" in log
        assert "Traceback" not in log
