"""The files of docs/examples/ci, and how a runner would execute their shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "docs" / "examples" / "ci"
FILES = {"action": "action.yml", "workflow": "workflow.yml", "gitlab": "gitlab-ci.yml"}
BASH = shutil.which("bash")

Done = subprocess.CompletedProcess[str]


def loaded(kind: str) -> dict[str, Any]:
    """The document. YAML 1.1 reads the key `on` as true."""
    document = yaml.safe_load((CI / FILES[kind]).read_text())
    return {"on" if key is True else key: value for key, value in document.items()}


def step(kind: str, name: str) -> dict[str, Any]:
    """The step of this name, of the Action or the workflow."""
    steps = loaded("action")["runs"]["steps"] if kind == "action" else loaded("workflow")["jobs"]["compare"]["steps"]
    return next(each for each in steps if each["name"] == name)


def run_step(step: Mapping[str, Any], folder: Path, inputs: Mapping[str, str], runner: Mapping[str, str]) -> Done:
    """Run a step as GitHub's runner runs one with `shell: bash`. `inputs` are those that expressions name, and `runner`
    is the environment of the runner. The programs of this interpreter come first on PATH, unless `runner` says more."""
    assert step["shell"] == "bash"
    given = {name: inputs[text[3:-2].strip()] for name, text in step.get("env", {}).items() if "${{" in text}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    assert BASH
    command = [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    environment = {**os.environ, "PATH": path, **given, **runner}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400)


def action_inputs(**given: str) -> dict[str, str]:
    """The inputs of the Action by the expressions that name them: those given, with `_` for `-`, and the defaults."""
    defaults = {name: each["default"] for name, each in loaded("action")["inputs"].items()}
    named = {name.replace("_", "-"): value for name, value in given.items()}
    assert named.keys() <= defaults.keys()
    return {f"inputs.{name}": value for name, value in {**defaults, **named}.items()}


def outputs_in(text: str) -> dict[str, str]:
    """The outputs of a step, as GitHub reads them from the file `$GITHUB_OUTPUT`."""
    found: dict[str, str] = {}
    for name, mark, value in re.findall(r"^(\w+)(?:<<(\S+)\n((?:.*\n)*?)\2|=.*)$", text, re.MULTILINE):
        found[name] = value.rstrip("\n") if mark else re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)[0]
    return found
