"""The files of docs/examples/ci: their forms, their shell, and a run of the Action's gate on a small project.

The schemas are ours and have what these files use: GitHub's and GitLab's own runners are not here. The installation is
not run, because it would need the network; it is compared with the Makefile's, which `make test` runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[2]
CI = ROOT / "docs" / "examples" / "ci"
SCHEMAS = json.loads((Path(__file__).parent / "schemas.json").read_text())
FILES = {"action": "action.yml", "workflow": "workflow.yml", "gitlab": "gitlab-ci.yml"}
BASH = shutil.which("bash")


def loaded(kind: str) -> dict[str, Any]:
    """The document. YAML 1.1 reads the key `on` as true."""
    document = yaml.safe_load((CI / FILES[kind]).read_text())
    return {"on" if key is True else key: value for key, value in document.items()}


def scripts() -> dict[str, str]:
    """The shell of all files, by place."""
    steps = [*loaded("action")["runs"]["steps"], *(s for j in loaded("workflow")["jobs"].values() for s in j["steps"])]
    found = {step["name"]: step["run"] for step in steps if "run" in step}
    jobs = {name: "\n".join(job["script"]) for name, job in loaded("gitlab").items()}
    return {**found, **jobs, **{path.name: path.read_text() for path in CI.glob("*.sh")}}


@pytest.mark.parametrize("kind", FILES)
def test_the_files_have_their_form(kind: str) -> None:
    jsonschema.Draft202012Validator(SCHEMAS[kind]).validate(loaded(kind))


@pytest.mark.parametrize("kind", FILES)
def test_the_schemas_refuse_another_form(kind: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMAS[kind]).validate({**loaded(kind), "unknown": 1})


@pytest.mark.programs
@pytest.mark.skipif(BASH is None, reason="bash is not on PATH")
@pytest.mark.parametrize("name", scripts())
def test_the_shell_is_valid(name: str) -> None:
    assert BASH
    done = subprocess.run([BASH, "-n"], input=scripts()[name], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", scripts())
def test_no_expression_stands_in_a_script(name: str) -> None:
    """What a pull request may write would become shell."""
    assert "${{" not in scripts()[name]


def test_each_variable_of_the_gate_is_an_input_of_the_action() -> None:
    action = loaded("action")
    given = action["runs"]["steps"][1]["env"]
    named = set(re.findall(r"^#   ([A-Z_]+(?:, [A-Z_]+)*)  ", (CI / "gate.sh").read_text(), re.MULTILINE))
    assert {each for names in named for each in names.split(", ")} == set(given)
    inputs = [re.fullmatch(r"\$\{\{ inputs\.([a-z-]+) \}\}", text) for text in given.values()]
    assert {found[1] for found in inputs if found} == set(action["inputs"])
    for step in loaded("workflow")["jobs"]["compare"]["steps"]:
        if "difftvm" in step.get("uses", ""):
            assert set(step["with"]) <= set(action["inputs"])


def test_the_installation_is_that_of_the_makefile() -> None:
    """The same two commands, for users: without the packages of the tests."""
    made = re.findall(r"pip install .*", (ROOT / "Makefile").read_text())
    own = re.findall(r"pip\" install .*", (CI / "install.sh").read_text())
    assert len(made) == len(own) == 2
    assert ["torch==" in line for line in made] == ["torch==" in line for line in own] == [True, False]
    assert all("-c constraints.txt" in line for line in made)
    assert all('-c "$checkout/constraints.txt"' in line for line in own)


# --- the Dockerfile

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


# --- a run


def gate(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the Action's second step in a project, with its inputs or their defaults."""
    action = loaded("action")
    values = {name: each["default"] for name, each in action["inputs"].items()} | inputs
    step = action["runs"]["steps"][1]
    given = {name: values[re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", r"\1", text)] for name, text in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    github = {"GITHUB_ACTION_PATH": str(CI), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PATH": path}
    assert BASH
    command = [BASH, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]]
    environment = {**os.environ, **given, **github}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=400)


@pytest.mark.tvm
@pytest.mark.programs
@pytest.mark.skipif(BASH is None, reason="bash is not on PATH")
@pytest.mark.long
def test_the_gate_stops_a_change_for_the_worse(tmp_path: Path) -> None:
    shutil.copy(ROOT / "docs" / "examples" / "changed_relu.py", tmp_path / "change.py")
    options = {"patched-preload": "change.py", "seconds": "120", "options": "--until-worse 1 --ops relu,add"}
    done = gate(tmp_path, **options)
    assert done.returncode == 1, done.stdout + done.stderr
    reports = tmp_path / "difftvm-reports"
    assert "#### Worse" in (tmp_path / "summary.md").read_text()
    assert ElementTree.parse(reports / "difftvm.xml").findall(".//failure")
    assert json.loads((reports / "difftvm.sarif").read_text())["runs"][0]["results"]
    assert list((reports / "runs" / "1" / "crashes").glob("*/repro.py"))


@pytest.mark.tvm
@pytest.mark.programs
@pytest.mark.skipif(BASH is None, reason="bash is not on PATH")
@pytest.mark.long
def test_a_change_that_nothing_reaches_is_a_warning(tmp_path: Path) -> None:
    change = "def unused():\n    return 1\n"
    (tmp_path / "change.py").write_text(change)
    done = gate(tmp_path, **{"patched-preload": "change.py", "seconds": "5", "options": "--ops relu --tests 3"})
    assert (done.returncode, "::warning::difftvm: no case reached" in done.stdout) == (0, True), done.stdout
