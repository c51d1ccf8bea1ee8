#!/usr/bin/env python3
"""Builds an image from a Dockerfile without a container engine, and runs what it built as a container would.

    sudo python scripts/run_image_steps.py Dockerfile.cpu --base FOLDER --work FOLDER [--build-arg NAME=VALUE ...]
        [--env NAME=VALUE ...] [--bind FROM:TO ...] [--tmpfs PATH ...] [--keep]

FOLDER of --base is a root file system that stands for the image after FROM, such as `debootstrap --variant=minbase
--include=python3,python3-venv,ca-certificates bookworm FOLDER` makes. Every step of every stage is run in a copy of it, by chroot in a
mount namespace of its own; --bind and --env are for the steps alone (where pip finds its packages). Then the last stage is started as
the Dockerfile says: its user, its variables, process number 1, the root file system read-only, /data the one volume, no network but
loopback. Its HEALTHCHECK and scripts/smoke.py must pass, and SIGTERM must end it with status 0.

Needs Linux, root, unshare, nsenter, ip and a Python that smoke.py runs with. Exit code 0: all of it held. --keep leaves the work folder.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from dockerfile import Dockerfile, Instruction, assignments, expanded, seen_by_a_build
from image_container import DEVICES, Container, Image, command, namespaced

ROOT = Path(__file__).parents[1]


class Build:
    """The stages of a Dockerfile, built one after the other."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.file = Dockerfile.read(given.dockerfile)
        self.passed = dict(pair.split("=", 1) for pair in given.build_arg)
        self.images: dict[str, Image] = {}

    def run(self) -> Image:
        """Build all; gives the last. Raises CalledProcessError when a step fails."""
        for number, stage in enumerate(self.file.stages):
            image = Image(self.given.work / (stage.name or f"stage-{number}"))
            print(f"== FROM {expanded(stage.base, self.file.arguments | self.passed)} (here: the base folder)")
            subprocess.run(["cp", "--archive", "--reflink=auto", self.given.base, image.root], check=True)
            self.images[stage.name] = image
            for step in stage.steps:
                began = time.monotonic()
                self._take(step, image)
                print(f"   {time.monotonic() - began:6.1f} s  {step.keyword} {step.text[:110]}", flush=True)
        return image

    def _take(self, step: Instruction, image: Image) -> None:
        match step.keyword:
            case "ARG":
                for name in (word.partition("=")[0] for word in step.words):
                    default = assignments(step).get(name, self.file.arguments.get(name, ""))
                    image.arguments[name] = self.passed.get(name, default)
            case "ENV":
                pairs = assignments(step).items()
                image.environment |= {name: expanded(value, image.values) for name, value in pairs}
            case "WORKDIR":
                image.folder = step.text
                (image.root / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                image.user = step.text
            case "COPY":
                self._copy(step, image)
            case "RUN":
                binds = [bind.split(":") for bind in self.given.bind]
                extra = dict(pair.split("=", 1) for pair in self.given.env)
                inside = command(image, ["/bin/sh", "-c", step.text], image.values | extra)
                script = DEVICES + "".join(
                    f'mkdir -p "$root{inner}"; mount --bind {shlex.quote(outer)} "$root{inner}"\n'
                    for outer, inner in binds
                )
                subprocess.run(namespaced(image.root, script, inside), check=True, stdin=subprocess.DEVNULL)

    def _copy(self, step: Instruction, image: Image) -> None:
        *sources, target = step.words
        goal = image.root / os.path.normpath(f"{image.folder}/{target}").lstrip("/")
        if sources[0].startswith("--from="):
            origin = self.images[sources.pop(0).removeprefix("--from=")].root
            subprocess.run(["cp", "--archive", "--reflink=auto", origin / sources[0].lstrip("/"), goal], check=True)
            return
        for file in seen_by_a_build(ROOT):
            for source in map(Path, sources):
                if file == source or source in file.parents:
                    place = goal / (file.relative_to(source) if file != source else file.name)
                    place.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / file, place)


def main() -> int:
    """Build and run; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dockerfile", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="root file system that stands for the base image")
    parser.add_argument("--work", type=Path, required=True, help="new folder, removed at the end")
    for name, metavar in (("build-arg", "NAME=VALUE"), ("env", "NAME=VALUE"), ("bind", "FROM:TO"), ("tmpfs", "PATH")):
        parser.add_argument(f"--{name}", metavar=metavar, action="append", default=[])
    parser.add_argument("--keep", action="store_true", help="leave the work folder")
    given = parser.parse_args()
    given.base, given.work = given.base.resolve(), given.work.resolve()
    given.work.mkdir(parents=True)
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        build = Build(given)
        image = build.run()
        size = int(subprocess.check_output(["du", "-sxB1", image.root]).split()[0])
        print(f"== the image's files: {size / 1e6:,.0f} MB, the base folder in it")
        with Container(image, build.file.stages[-1], given.work / "volume", given.tmpfs) as container:
            print(f"== healthy after {container.wait_until_healthy():.1f} s")
            smoke = container.smoke()
            print(f"== resident after smoke.py: {container.resident / 1e6:,.0f} MB")
            status, seconds = container.stop()
        print(f"== smoke.py ended with {smoke}; SIGTERM: status {status} after {seconds:.1f} s")
        return int(smoke != 0 or status != 0)
    except (subprocess.SubprocessError, TimeoutError, ChildProcessError) as error:
        print(f"== {error}", file=sys.stderr)
        return 1
    finally:
        if not given.keep:
            shutil.rmtree(given.work)


if __name__ == "__main__":
    sys.exit(main())
