"""Bare environments, made by pip from an index of small wheels."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest
from wheels import index_of

from fuzzer.system import telemetry
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.toolchains import bare, installation, registry
from fuzzer.toolchains.install import NotOffered
from generators.graph import Invalid

TVM = ("apache-tvm", "0.26.0", "tvm", "ANSWER = 1")
WANTED = ("apache-tvm==0.26.0",)


@pytest.fixture
def _index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index_of(tmp_path / "wheels", monkeypatch, [TVM])


@pytest.mark.programs
@pytest.mark.usefixtures("_index")
def test_it_is_made_once_and_holds_what_pip_gives_and_no_difftvm(cache: Path) -> None:
    steps: list[str] = []
    made = bare.environment(WANTED, steps.append)
    folder = bare.folder_of(WANTED)
    assert folder.parent == cache.with_name("bare")
    assert steps == [
        f"making a virtual environment in {folder} ...",
        "installing apache-tvm==0.26.0 as pip gives them: once, and it takes minutes ...",
    ]
    assert made == bare.BareRecord(1, platform.python_version(), WANTED, {"apache-tvm": "0.26.0"})
    assert bare.environment(WANTED, steps.append) == made
    assert len(steps) == 2
    program = "import importlib.util as u; print([bool(u.find_spec(n)) for n in ('tvm', 'fuzzer', 'torch', 'msgspec')])"
    printed = subprocess.run([made.interpreter, "-P", "-c", program], capture_output=True, text=True).stdout
    assert printed == "[True, False, False, False]\n"
    assert registry.names() == [], "no lane runs there"


@pytest.mark.programs
@pytest.mark.usefixtures("_index", "cache")
@pytest.mark.parametrize(
    ("wanted", "kind", "says"),
    [
        ("apache-tvm==0.28.dev0", NotOffered, "pip finds no apache-tvm 0.28.dev0; the newest that it finds are 0.26.0"),
        ("torch==2.13.0", EnvironmentMissing, "pip finds no release of torch: is the package index reachable?"),
    ],
)
def test_what_pip_does_not_find_is_one_sentence_and_leaves_nothing(
    wanted: str, kind: type[EnvironmentMissing], says: str
) -> None:
    with pytest.raises(EnvironmentMissing) as caught:
        bare.environment((wanted,), lambda text: None)
    assert (type(caught.value), str(caught.value)) == (kind, says)
    assert [path.name for path in bare.root().iterdir()] == [".lock"]


@pytest.mark.usefixtures("cache")
def test_an_environment_that_another_process_makes_is_not_made_twice() -> None:
    with (
        installation.locked(bare.root(), "it"),
        pytest.raises(Invalid, match=r"^another installation of a bare environment is running; try again"),
    ):
        bare.environment(WANTED, lambda text: None)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("text", ["{", '{"format": 2, "python": "3", "requirements": [], "packages": {}}'])
def test_a_record_that_cannot_be_read_is_one_sentence(text: str) -> None:
    folder = bare.folder_of(WANTED)
    folder.mkdir(parents=True)
    (folder / bare.NAME).write_text(text)
    with pytest.raises(Invalid, match=f"delete {folder}, and it is made again$"):
        bare.find(WANTED)


def test_other_requirements_are_another_environment() -> None:
    assert bare.folder_of(WANTED) != bare.folder_of(("apache-tvm==0.27.0",))
    assert bare.folder_of(WANTED).parent == bare.root()


def test_nothing_of_the_user_changes_python_or_tvm_there() -> None:
    ours = {"PATH": "/bin", "PYTHONPATH": "/x", "TVM_HOME": "/y", "TORCHINDUCTOR_X": "1", "CUDA_VISIBLE_DEVICES": "0"}
    assert bare.variables(ours) == {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "0", **telemetry.OFF}
