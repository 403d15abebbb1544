"""The Dockerfile of docs/examples/ci: its form, what it copies, and its installation in a fresh environment.

Docker is not here. What it would do runs on a copy of exactly the files that the image gets. No package is downloaded:
the new environment sees those of this one, in the versions that constraints.txt pins.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
from ci_files import BASH, CI, ROOT

INSTRUCTIONS = {"FROM", "RUN", "ARG", "WORKDIR", "COPY", "ENV", "USER", "ENTRYPOINT"}


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (CI / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_dockerfile_copies_what_is_there_and_all_that_the_package_needs() -> None:
    found = instructions()
    assert {name for name, _ in found} <= INSTRUCTIONS
    assert found[0][0] == "FROM"
    copied = [word for name, rest in found if name == "COPY" for word in rest.split()[:-1]]
    assert all((ROOT / each).exists() for each in copied)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} & {
        "difftvm",
        "fuzzer",
        "generators",
        "oracles",
    }
    assert {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "corpus", *packages} <= set(copied)


def test_the_dockerfile_ends_without_root_and_pins_its_base() -> None:
    found = instructions()
    names = [name for name, _ in found]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert dict(found)["USER"] == "difftvm"
    assert json.loads(dict(found)["ENTRYPOINT"]) == ["fuzz"]
    assert re.fullmatch(r"python:3\.1[1-9]\S*", dict(found)["FROM"])
    run = next(rest for name, rest in found if name == "RUN" and "apt-get" in rest)
    assert "--no-install-recommends" in run
    assert "rm -rf /var/lib/apt/lists/*" in run


# --- its steps

PYTHON = """#!/bin/sh
# `python3 -m venv FOLDER`: the environment also sees the packages of another one, where it has no older ones itself
"{python}" "$@" && "$3/bin/pip" uninstall --quiet --yes setuptools \
    && echo "{packages}" >"$3/lib/python{version}/site-packages/packages.pth"
"""

ASKED = """
import fuzzer
from fuzzer.regression.shipped import shipped_cases
from generators.torch.ops import OPS
print(fuzzer.__path__[0], len(shipped_cases({op.name for op in OPS})))
"""


def copied_as_the_image_has_it(folder: Path) -> None:
    """Copy what the COPY instructions name."""
    for name, rest in instructions():
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                place = folder / target / source if target.endswith("/") else folder / target
                place.parent.mkdir(parents=True, exist_ok=True)
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, place, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / source, place)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.programs
@pytest.mark.skipif(BASH is None, reason="bash is not on PATH")
def test_what_the_image_copies_is_installed_and_runs(tmp_path: Path) -> None:
    checkout, environment = tmp_path / "difftvm", tmp_path / "environment"
    copied_as_the_image_has_it(checkout)
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python3"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    python.write_text(PYTHON.format(python=sys.executable, packages=site.getsitepackages()[0], version=version))
    python.chmod(0o755)
    (step,) = (rest for name, rest in instructions() if name == "RUN" and "install.sh" in rest)
    command = step.partition(" && ")[0].split()
    assert command == ["docs/examples/ci/install.sh", "/difftvm", "/opt/difftvm"]
    variables = {
        **os.environ,
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # for pip, this means none
    }
    installed = subprocess.run(
        [checkout / command[0], checkout, environment],
        cwd=checkout,
        env=variables,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert installed.returncode == 0, installed.stdout + installed.stderr
    work = tmp_path / "work"
    work.mkdir()

    def output(*words: str) -> str:
        done = subprocess.run([environment / "bin" / words[0], *words[1:]], cwd=work, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert output("fuzz", "--help").startswith("Usage: fuzz ")
    assert "relu" in output("fuzz", "ops")
    folder, cases = output("python", "-P", "-c", ASKED).split()
    assert folder == str(checkout / "fuzzer")
    assert int(cases) > 0, "the image has the regression corpus"
