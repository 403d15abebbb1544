"""The steps of the Action, of the workflow and of the GitLab job run here, in order, in a scratch fork of TVM.

The fork is a git repository with a submodule. Its builds, `fuzz` and the interpreter that makes environments are stubs
which note their arguments: what is looked at is what the steps hand to each other, and that a build which fails ends
them. `test_ci_gate_tvm.py` runs the gate with the real `fuzz`, and `test_dockerfile.py` the real installation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ci_files import BASH, CI, ROOT, Done, action_inputs, loaded, outputs_in, run_step, step

pytestmark = [
    pytest.mark.programs,
    pytest.mark.slow,
    pytest.mark.skipif(BASH is None or shutil.which("git") is None, reason="bash or git is not on PATH"),
]

BUILD = """#!/usr/bin/env bash
set -eu
test -e "$1/3rdparty/part/file" || { echo "the submodule is missing" >&2; exit 1; }
[ ! -e "$1/broken" ] || exit 1
mkdir -p "$1/out" && ln -sf "$(command -v true)" "$1/out/python"
echo "$(cd "$1" && pwd)/out/python"
"""
FUZZ = """#!/usr/bin/env bash
echo "fuzz $*" >>"$CALLS"
"""
PIP = """#!/usr/bin/env bash
echo "pip $*" >>"$CALLS"
"""
PYTHON = """#!/usr/bin/env bash
# `python3 -m venv FOLDER`
[ "$1 $2" = "-m venv" ]
mkdir -p "$3/bin" && cp "$STUBS/pip" "$STUBS/fuzz" "$3/bin"
"""
CHANGED = "src/relax/transform/fuse_ops.cc"


class Fork:
    """A fork of TVM in `folder/fork` with two commits, of which the second changes one file, and stubs on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.stubs, self.calls = folder, folder / "stubs", folder / "calls"
        self.stubs.mkdir()
        for name, text in {"fuzz": FUZZ, "pip": PIP, "python3": PYTHON}.items():
            self._program(self.stubs / name, text)
        self.environment = {
            "PATH": f"{self.stubs}{os.pathsep}{os.environ['PATH']}",
            "CALLS": str(self.calls),
            "STUBS": str(self.stubs),
            "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        settings = (
            "[user]\nname = a\nemail = a@example.com\n[protocol.file]\nallow = always\n[init]\ndefaultBranch = main\n"
        )
        (folder / "gitconfig").write_text(settings)
        part, fork = folder / "part", folder / "fork"
        for path in (part, fork):
            self.git(folder, "init", "--quiet", str(path))
        (part / "file").write_text("a file of the submodule\n")
        self.commit(part)
        self.git(fork, "submodule", "--quiet", "add", str(part), "3rdparty/part")
        (fork / "ci").mkdir()
        self._program(fork / "ci" / "build.sh", BUILD)
        (fork / CHANGED).parent.mkdir(parents=True)
        (fork / CHANGED).write_text("// before\n")
        self.base = self.commit(fork)
        (fork / CHANGED).write_text("// after\n")
        self.head = self.commit(fork)

    def _program(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def git(self, folder: Path, *words: str) -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            ["git", "-C", folder, *words], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, folder: Path) -> str:
        self.git(folder, "add", ".")
        self.git(folder, "commit", "--quiet", "--message", "a change")
        return self.git(folder, "rev-parse", "HEAD")

    def check_out(self, name: str, commit: str) -> Path:
        """A checkout beside others, as `actions/checkout` makes it with submodules."""
        path = self.folder / "work" / name
        self.git(self.folder, "clone", "--quiet", "--recursive", str(self.folder / "fork"), str(path))
        self.git(path, "checkout", "--quiet", commit)
        return path

    def called(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    return Fork(tmp_path)


# --- GitHub


def build_step(fork: Fork) -> tuple[Done, dict[str, str]]:
    """Run the workflow's own step, in the folder with both checkouts. Also what it hands on."""
    work, output = fork.folder / "work", fork.folder / "output"
    runner = {**fork.environment, "GITHUB_OUTPUT": str(output)}
    named = {"github.event.pull_request.base.sha": fork.base}
    done = run_step(step("workflow", "Build both, and list what changed"), work, named, runner)
    return done, outputs_in(output.read_text()) if output.exists() else {}


def test_the_workflow_builds_both_and_the_gate_gets_what_it_needs(fork: Fork) -> None:
    patched, base = fork.check_out("patched", fork.head), fork.check_out("base", fork.base)
    done, outputs = build_step(fork)
    assert done.returncode == 0, done.stderr
    expected = {
        "base": str(base / "out" / "python"),
        "patched": str(patched / "out" / "python"),
        "changed": f"patched/{CHANGED}",
    }
    assert outputs == expected
    assert (fork.folder / "work" / outputs["changed"]).read_text() == "// after\n", "the gate reads it from here"
    given = action_inputs(**outputs, seed="17")
    runner = {**fork.environment, "GITHUB_ACTION_PATH": str(CI)}
    done = run_step(step("action", "Compare the builds"), fork.folder / "work", given, runner)
    assert done.returncode == 0, done.stderr
    removed, added, removed_too, added_too, compared = fork.called()
    assert (removed, removed_too) == ("fuzz toolchain remove base-build", "fuzz toolchain remove patched-build")
    assert added == f"fuzz toolchain add base-build --python {outputs['base']}"
    assert added_too == f"fuzz toolchain add patched-build --python {outputs['patched']}"
    assert compared.startswith("fuzz diff --base base-build --patched patched-build --seconds 600 --seed 17 ")
    assert compared.endswith(f" --changed patched/{CHANGED}")


@pytest.mark.parametrize("name", ["base", "patched"])
def test_a_build_that_fails_ends_the_workflow(fork: Fork, name: str) -> None:
    for each, commit in (("patched", fork.head), ("base", fork.base)):
        path = fork.check_out(each, commit)
        if each == name:
            (path / "broken").touch()
    done, outputs = build_step(fork)
    assert (done.returncode, outputs) == (1, {})


def test_the_action_installs_difftvm_and_puts_it_on_the_path(fork: Fork) -> None:
    path = fork.folder / "github-path"
    runner = {**fork.environment, "RUNNER_TEMP": str(fork.folder), "GITHUB_PATH": str(path)}
    runner |= {"GITHUB_ACTION_PATH": str(CI)}
    done = run_step(step("action", "Install difftvm"), fork.folder, {}, runner)
    assert done.returncode == 0, done.stderr
    assert path.read_text() == f"{fork.folder}/difftvm/bin\n"
    first, second = fork.called()
    assert first.startswith(f"pip install -c {CI}/../../../constraints.txt torch==")
    assert second == f"pip install -c {CI}/../../../constraints.txt -e {CI}/../../.."


# --- GitLab


def gitlab(fork: Fork) -> Done:
    """Run the script of the job, as GitLab's runner runs one: line by line in one shell, which ends at an error."""
    work = fork.check_out("project", fork.head)
    (work / "difftvm").symlink_to(ROOT)
    job = loaded("gitlab")["difftvm"]
    variables = {name: value for name, value in job["variables"].items() if "$" not in value}
    environment = {
        **os.environ,
        **fork.environment,
        **variables,
        "CI_PROJECT_DIR": str(work),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": fork.base,
        "SEED": "17",
    }
    assert BASH
    command = [BASH, "-e", "-o", "pipefail", "-c", "\n".join(job["script"])]
    return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=60)


def test_the_gitlab_job_builds_both_and_compares_them(fork: Fork) -> None:
    done = gitlab(fork)
    assert done.returncode == 0, done.stderr
    calls, work = fork.called(), fork.folder / "work" / "project"
    assert [call.split()[0] for call in calls] == ["pip"] * 2 + ["fuzz"] * 5
    assert calls[1] == "pip install -c difftvm/constraints.txt -e difftvm"
    assert calls[3] == f"fuzz toolchain add base-build --python {work}/base/out/python"
    assert calls[5] == f"fuzz toolchain add patched-build --python {work}/out/python"
    assert calls[6].startswith("fuzz diff --base base-build --patched patched-build --seconds 600 --seed 17 ")
    assert calls[6].endswith(f" --changed {CHANGED}")


def test_a_build_that_fails_ends_the_gitlab_job(fork: Fork) -> None:
    (fork.folder / "fork" / "broken").touch()
    fork.head = fork.commit(fork.folder / "fork")
    done = gitlab(fork)
    assert done.returncode == 1
    assert [call.split()[0] for call in fork.called()] == ["pip", "pip"]


# --- the gate


@pytest.mark.parametrize("name", ["BASE", "PATCHED"])
def test_the_gate_refuses_an_interpreter_that_no_build_printed(fork: Fork, name: str) -> None:
    environment = {**os.environ, **fork.environment, name: ""}
    done = subprocess.run([CI / "gate.sh"], cwd=fork.folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr == f"gate.sh: {name} is empty: name the interpreter that imports the build, or host\n"
    assert fork.called() == []


def test_the_gate_ends_where_a_build_is_no_toolchain(fork: Fork) -> None:
    (fork.stubs / "fuzz").write_text(f"{FUZZ}[ $2 != add ] || exit 69\n")
    environment = {**os.environ, **fork.environment, "PATCHED": "/bin/false"}
    done = subprocess.run([CI / "gate.sh"], cwd=fork.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 69
    assert fork.called()[-1] == "fuzz toolchain add patched-build --python /bin/false"
