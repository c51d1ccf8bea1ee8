"""What docs/deploy.md promises of the images, of Compose, of Kubernetes and of systemd, read from the very files that users take."""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from mmmem.api.server import SHUTDOWN_SECONDS
from mmmem.settings import Settings
from scripts.dockerfile import Dockerfile, Instruction, assignments, seen_by_a_build
from scripts.image_requirements import requirements
from tests.contract.test_idempotency import WORDS_ONLY
from tests.running import RunningService

ROOT = Path(__file__).parents[1]
DOCKERFILES = [ROOT / "Dockerfile.cpu", ROOT / "Dockerfile.gpu"]
COMPOSE = ROOT / "compose.yaml"
WORKFLOW = ROOT / ".github/workflows/ci.yml"
DOCUMENT = (ROOT / "docs/deploy.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
VARIABLES = {f"MMMEM_{name.upper()}" for name in Settings.model_fields}

both = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.name)


def block(language: str, containing: str) -> str:
    """The code of docs/deploy.md in this language that holds these words."""
    [found] = [code for code in re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL) if containing in code]
    return found


def last_environment(path: Path) -> dict[str, str]:
    """The variables that a container has, as they are written."""
    pairs: dict[str, str] = {}
    for step in Dockerfile.read(path).stages[-1].all_of("ENV"):
        pairs |= assignments(step)
    return pairs


def one(steps: list[Instruction]) -> Instruction:
    [step] = steps
    return step


def command(name: str) -> str:
    """A tool of the extra `test`, by the path that it has beside this Python or elsewhere."""
    return shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}") or ""


@both
@pytest.mark.skipif(not command("hadolint"), reason="hadolint has no package for this machine")
def test_the_linter_finds_nothing(path: Path) -> None:
    done = subprocess.run([command("hadolint"), str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@both
def test_every_stage_stands_on_a_base_that_a_digest_pins(path: Path) -> None:
    file = Dockerfile.read(path)
    assert [stage.base for stage in file.stages] == ["${BASE}${BASE_DIGEST}"] * 2
    assert re.fullmatch(r"[a-z/]+:[\w.-]+", file.arguments["BASE"])
    assert "latest" not in file.arguments["BASE"]
    assert file.arguments["BASE_DIGEST"] == ""
    assert f"imagetools inspect {Dockerfile.read(DOCKERFILES[0]).arguments['BASE']}" in DOCUMENT


@both
def test_it_runs_as_a_fixed_user_without_a_shell_in_between_and_ends_by_sigterm(path: Path) -> None:
    stage = Dockerfile.read(path).stages[-1]
    assert one(stage.all_of("USER")).text == "10001:10001"
    assert stage.steps.index(one(stage.all_of("USER"))) > stage.steps.index(stage.all_of("RUN")[-1])
    entry, default = one(stage.all_of("ENTRYPOINT")), one(stage.all_of("CMD"))
    assert entry.is_exec_form
    assert default.is_exec_form
    assert entry.words + default.words == ["mmmem", "serve"]
    assert one(stage.all_of("STOPSIGNAL")).text == "SIGTERM"


@both
def test_all_it_writes_is_in_its_one_volume_and_in_memory(path: Path) -> None:
    stage, environment = Dockerfile.read(path).stages[-1], last_environment(path)
    assert one(stage.all_of("VOLUME")).words == ["/data"]
    assert environment["MMMEM_DATA_DIR"] == "/data"
    assert environment["TMPDIR"] == "/dev/shm"
    assert environment["PYTHONDONTWRITEBYTECODE"] == "1"


@both
def test_weights_of_the_profile_are_in_it_verified_and_used_once_and_no_hub_is_asked_later(path: Path) -> None:
    build, last = Dockerfile.read(path).stages
    steps = [step.text for step in build.all_of("RUN")]
    assert any("mmmem models fetch" in text and text.endswith("mmmem models verify") for text in steps)
    assert "start_once.py" in steps[-1]
    environment = last_environment(path)
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["MMMEM_PROFILE"] == "$PROFILE"
    for stage in (build, last):
        assert "PROFILE=light" in [step.text for step in stage.all_of("ARG")]
    [copied] = last.all_of("COPY")
    assert copied.words == ["--from=build", "/opt/mmmem", "/opt/mmmem"]
    assert environment["MMMEM_MODELS_DIR"].startswith("/opt/mmmem/")


@both
def test_its_variables_are_settings_and_it_says_where_it_runs(path: Path) -> None:
    environment = last_environment(path)
    assert {name for name in environment if name.startswith("MMMEM_")} <= VARIABLES
    assert environment["MMMEM_HOST"] == "0.0.0.0"
    assert environment["MMMEM_DEVICE"] == ("cuda" if path.name.endswith("gpu") else "cpu")


@both
def test_its_labels_are_those_of_oci(path: Path) -> None:
    labels = assignments(one(Dockerfile.read(path).stages[-1].all_of("LABEL")))
    names = {"title", "description", "licenses", "version", "revision"}
    assert {f"org.opencontainers.image.{name}" for name in names} <= set(labels)


@both
def test_whatever_a_build_copies_is_there_and_is_let_in(path: Path) -> None:
    seen = list(seen_by_a_build(ROOT))
    for stage in Dockerfile.read(path).stages:
        for step in stage.all_of("COPY"):
            *sources, _ = step.words
            for source in () if sources[0].startswith("--from") else map(Path, sources):
                assert any(file == source or source in file.parents for file in seen), source


def test_nothing_else_is_let_into_a_build(tmp_path: Path) -> None:
    shutil.copy(ROOT / ".dockerignore", tmp_path)
    for name in (".env", ".git/config", ".venv/bin/python", "data/a.lance", "tests/a.py", "docs/a.md", "scripts/smoke.py",
                 "mmmem/__pycache__/a.pyc", "mmmem/api/__pycache__/a.pyc", "key.txt"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "mmmem/api/app.py").touch()
    assert list(seen_by_a_build(tmp_path)) == [Path("mmmem/api/app.py")]


def test_what_is_installed_first_is_what_the_package_needs() -> None:
    lines = requirements(ROOT / "pyproject.toml", ["bucket"])
    assert any(line.startswith("lancedb") for line in lines)
    assert any(line.startswith("obstore") for line in lines)
    assert not any(line.startswith(("pytest", "mmmem")) for line in lines)


def test_the_health_check_of_the_images_holds_for_a_service_that_is_ready_and_not_for_none(
    start_service: Callable[..., RunningService],
) -> None:
    [text] = {one(Dockerfile.read(path).stages[-1].all_of("HEALTHCHECK")).text for path in DOCKERFILES}
    check = Instruction("CMD", text.partition("CMD ")[2])
    assert check.is_exec_form
    _, *arguments = check.words
    running = start_service(**WORDS_ONLY).ready()
    environment = os.environ | {"MMMEM_PORT": str(running.client.base_url.port), "http_proxy": "http://127.0.0.1:1"}

    def status() -> int:
        done = subprocess.run([sys.executable, *arguments], env=environment, stderr=subprocess.DEVNULL, check=False)
        return done.returncode

    assert status() == 0
    running.stop()
    assert status() != 0


def valid(schema: str, path: Path) -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_compose_file_is_one() -> None:
    valid("vendor.compose-spec", COMPOSE)


def test_compose_runs_the_image_as_the_document_does() -> None:
    service = yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))["services"]["mmmem"]
    assert service["build"]["dockerfile"] == "Dockerfile.cpu"
    assert set(service["build"]["args"]) <= named_arguments(DOCKERFILES[0])
    assert service["read_only"] is True
    assert service["volumes"] == ["data:/data"]
    assert service["cap_drop"] == ["ALL"]
    assert any(mount.startswith("/tmp") for mount in service["tmpfs"])
    assert int(service["stop_grace_period"].removesuffix("s")) > SHUTDOWN_SECONDS
    assert service["mem_limit"]
    assert service["cpus"]
    assert service["environment"]["MMMEM_API_KEY"].startswith("${MMMEM_API_KEY:?")
    assert set(service["environment"]) <= VARIABLES
    assert "/health/ready" in service["healthcheck"]["test"][-1]


def named_arguments(path: Path) -> set[str]:
    file = Dockerfile.read(path)
    inner = (word for stage in file.stages for step in stage.all_of("ARG") for word in step.words)
    return set(file.arguments) | {word.partition("=")[0] for word in inner}


def test_the_document_names_every_build_argument_and_no_other() -> None:
    named = set(re.findall(r"--build-arg (\w+)=", DOCUMENT))
    for path in DOCKERFILES:
        assert named <= named_arguments(path)
        assert {name for name in named_arguments(path) if f"`{name}`" not in DOCUMENT} == set()


def manifests() -> dict[str, Any]:
    documents = yaml.safe_load_all(block("yaml", "kind: Deployment"))
    return {document["kind"]: document for document in documents}


def test_the_manifest_has_all_that_a_deployment_needs() -> None:
    assert set(manifests()) == {"Secret", "PersistentVolumeClaim", "Deployment", "Service"}


def test_one_pod_has_the_folder_and_ends_before_another_begins() -> None:
    deployment = manifests()["Deployment"]["spec"]
    assert deployment["replicas"] == 1
    assert deployment["strategy"] == {"type": "Recreate"}
    pod = deployment["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > SHUTDOWN_SECONDS
    [claim] = [volume for volume in pod["volumes"] if "persistentVolumeClaim" in volume]
    assert claim["persistentVolumeClaim"]["claimName"] == manifests()["PersistentVolumeClaim"]["metadata"]["name"]
    assert {"name": claim["name"], "mountPath": "/data"} in pod["containers"][0]["volumeMounts"]


def test_the_pod_is_confined_and_asked_for_its_health() -> None:
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    user, group = map(int, one(Dockerfile.read(DOCKERFILES[0]).stages[-1].all_of("USER")).text.split(":"))
    inside = pod["securityContext"]
    assert (inside["runAsNonRoot"], inside["runAsUser"], inside["runAsGroup"], inside["fsGroup"]) == (
        *(True, user),
        *(group, group),
    )
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    paths = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/health/ready", "readiness": "/health/ready", "liveness": "/health/live"}


def test_every_name_in_the_manifest_leads_to_what_it_names() -> None:
    found = manifests()
    template = found["Deployment"]["spec"]["template"]
    [container] = template["spec"]["containers"]
    assert found["Service"]["spec"]["selector"] == template["metadata"]["labels"]
    assert found["Deployment"]["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    assert found["Service"]["spec"]["ports"][0]["targetPort"] in {port["name"] for port in container["ports"]}
    [key] = container["env"]
    assert key["name"] == "MMMEM_API_KEY"
    reference = key["valueFrom"]["secretKeyRef"]
    assert reference["name"] == found["Secret"]["metadata"]["name"]
    assert reference["key"] in found["Secret"]["stringData"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {
        volume["name"] for volume in template["spec"]["volumes"]
    }


def test_the_unit_gives_a_stop_its_time_and_the_service_a_user_of_its_own() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(block("ini", "ExecStart"))
    service = unit["Service"]
    assert int(service["TimeoutStopSec"]) > SHUTDOWN_SECONDS
    assert service["User"] == "mmmem"
    assert service["ExecStart"].endswith("mmmem serve")
    variables = dict(pair.split("=") for pair in service["Environment"].split())
    assert {name for name in variables if name.startswith("MMMEM_")} <= VARIABLES
    assert variables["MMMEM_DATA_DIR"] == f"/var/lib/{service['StateDirectory']}"


def test_a_proxy_lets_the_largest_body_through() -> None:
    [size] = re.findall(r"client_max_body_size (\d+)m;", DOCUMENT)
    assert int(size) << 20 >= Settings().max_request_bytes


def test_the_workflow_is_one() -> None:
    valid("vendor.github-workflows", WORKFLOW)


def steps_of_the_workflow() -> Iterator[dict[str, Any]]:
    for job in yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


def test_the_workflow_runs_the_commands_of_the_readme_and_builds_both_images() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    commands = yaml.safe_load(text)["jobs"]["test"]["strategy"]["matrix"]["command"]
    assert commands == ["bash .ci/run", "./scripts/demo"]
    assert "./scripts/demo" in README
    assert "scripts/test" in (ROOT / ".ci/run").read_text(encoding="utf-8")
    for path in DOCKERFILES:
        assert f"--file {path.name}" in text
    passed = set(re.findall(r"--build-arg (\w+)=", text))
    assert all(passed <= named_arguments(path) | {"TORCH_INDEX"} for path in DOCKERFILES)


def test_the_workflow_builds_the_docs_site_and_keeps_it() -> None:
    steps = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]["site"]["steps"]
    [install] = [step["run"] for step in steps if step.get("run", "").startswith("python -c")]
    listed = subprocess.run(
        ["bash", "-c", install.partition(" >")[0]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert [re.split(r"[<>=]", line)[0] for line in listed.stdout.splitlines()] == ["mkdocs", "mkdocs-material"]
    assert "mkdocs build --strict" in [step.get("run") for step in steps]
    assert steps[-1]["with"]["path"] == "build/site"


def test_every_action_of_the_workflow_is_pinned() -> None:
    used = [step["uses"] for step in steps_of_the_workflow() if "uses" in step]
    assert used
    assert all(re.search(r"@(v\d+|[0-9a-f]{40})$", action) for action in used)


def test_what_the_readers_of_a_dockerfile_agree_on(tmp_path: Path) -> None:
    """The reader behind these tests and scripts/run_image_steps.py: comments, long lines, both forms of a command."""
    path = tmp_path / "Dockerfile"
    path.write_text(
        'ARG A=1\n# a comment\nFROM base:${A} AS one\nRUN first \\\n    # within\n    && second\nCMD ["a", "b c"]\nFROM one\nCOPY --from=one /x /y\n'
    )
    file = Dockerfile.read(path)
    assert [(stage.base, stage.name) for stage in file.stages] == [("base:${A}", "one"), ("one", "")]
    run, command = file.stages[0].steps
    assert run.text.split() == ["first", "&&", "second"]
    assert command.words == json.loads('["a", "b c"]')
    path.write_text("RUN nothing\n")
    with pytest.raises(ValueError, match="RUN"):
        Dockerfile.read(path)
