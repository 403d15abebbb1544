"""The files of docs/examples/ci: their forms and their shell.

The schemas are ours and have what these files use: GitHub's and GitLab's own runners are not here.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from ci_files import BASH, CI, FILES, ROOT, loaded

SCHEMAS = json.loads((Path(__file__).parent / "schemas.json").read_text())


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
    """The same two commands, for users: without the packages of the tests, and those that run GPU code."""
    made = re.findall(r"pip install (?!.*gpu-on-cpu).*", (ROOT / "Makefile").read_text())
    own = re.findall(r"pip\" install .*", (CI / "install.sh").read_text())
    assert len(made) == len(own) == 2
    assert ["torch==" in line for line in made] == ["torch==" in line for line in own] == [True, False]
    assert all("-c constraints.txt" in line for line in made)
    assert all('-c "$checkout/constraints.txt"' in line for line in own)
