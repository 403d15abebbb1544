"""The registry: a toolchain exists if its record is whole; every other state is reported or removed."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from fuzzer.cli import main
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.exit_codes import Exit
from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain
from generators.graph import Invalid
from generators.plain_file import LINK, NO_FILE

CRASHES = Path(__file__).parents[3] / "crashes"
MINE = Toolchain("mine", "/opt/python", {"PYTHONPATH": "/opt/tvm/python"}, GraphLanguage.RELAY)


def add(toolchain: Toolchain = MINE, data: bytes = b"12345") -> Path:
    with registry.new_folder(toolchain.name) as folder:
        (folder / "venv").mkdir()
        (folder / "venv" / "file").write_bytes(data)
        registry.save(toolchain, {"tvm": "0.17.dev0"})
    return folder


def test_what_was_saved_is_read(cache: Path) -> None:
    folder = add()
    size = sum(path.stat().st_size for path in (folder / "venv", folder / "venv" / "file"))
    assert registry.names() == ["mine"]
    assert registry.read("mine") == registry.ToolchainRecord(
        1, "mine", GraphLanguage.RELAY, "/opt/python", {"PYTHONPATH": "/opt/tvm/python"}, {"tvm": "0.17.dev0"}, size
    )
    assert registry.find("mine") == MINE


def test_nothing_is_there_at_first(cache: Path) -> None:
    assert registry.names() == []
    with pytest.raises(Invalid, match=r"^there is no toolchain 'x'; `fuzz toolchain list` lists them$"):
        registry.read("x")
    with pytest.raises(Invalid, match=r"^there is no toolchain 'x'; `fuzz toolchain list` lists them$"):
        registry.remove("x")
    with pytest.raises(
        EnvironmentMissing, match=r"^there is no toolchain 'x' here; `fuzz toolchain add x` may install"
    ):
        registry.find("x")


def test_the_hosts_release_is_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "host_release", lambda: "9.8.7")
    assert registry.find("host") is HOST
    assert registry.find("9.8.7") is HOST


def test_a_relative_cache_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG specification has it."""
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    assert registry.root() == Path.home() / ".cache" / "difftvm" / "toolchains"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a,b", "-x", ".x", "a b", "x" * 62])
def test_what_is_no_name(cache: Path, name: str) -> None:
    for use in (registry.read, registry.remove, lambda name: registry.new_folder(name).__enter__()):
        with pytest.raises(Invalid, match="is not a name for a toolchain"):
            use(name)


def test_a_name_that_is_taken(cache: Path) -> None:
    add()
    with pytest.raises(
        Invalid, match=r"^there is a toolchain 'mine' already; `fuzz toolchain remove mine` removes it$"
    ):
        add()
    with pytest.raises(Invalid, match=r"^'host' is the toolchain that difftvm itself runs in; it is always there$"):
        add(HOST)


def test_an_installation_that_fails_leaves_nothing(cache: Path) -> None:
    def fail() -> None:
        with registry.new_folder("mine") as folder:
            (folder / "half").mkdir()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_what_a_killed_installation_left_is_swept_by_the_next(cache: Path) -> None:
    (cache / "killed" / "venv").mkdir(parents=True)
    (cache / "mine" / "venv").mkdir(parents=True)
    assert registry.names() == []
    add()
    assert {path.name for path in cache.iterdir()} == {".lock", "mine"}
    add(Toolchain("other", "/opt/python"))
    assert registry.names() == ["mine", "other"]


def test_remove(cache: Path) -> None:
    add()
    registry.remove("mine")
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_one_installation_at_a_time(cache: Path) -> None:
    cache.mkdir(parents=True)
    with (cache / ".lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Invalid, match=r"^another `fuzz toolchain` is running; try again when it has finished$"):
            add()
    add()


@pytest.mark.parametrize(("thing", "why"), [("link", LINK), ("pipe", NO_FILE)])
@pytest.mark.parametrize("words", [["toolchain", "check", "mine"], ["bisect", "FINDING", "--toolchains", "mine"]])
def test_something_else_in_the_place_of_a_record_is_refused_with_one_sentence(
    cache: Path,
    tmp_path: Path,
    thing: str,
    why: str,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = add() / registry.NAME
    elsewhere = tmp_path / "elsewhere.json"
    path.rename(elsewhere)  # what the link leads to is valid
    if thing == "link":
        path.symlink_to(elsewhere)
    else:
        os.mkfifo(path)
    shipped = next(path for path in CRASHES.iterdir() if path.name.startswith("wrong-value-"))
    monkeypatch.setattr("sys.argv", ["fuzz", *(str(shipped) if word == "FINDING" else word for word in words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (Exit.BAD_INPUT, Exit.ENVIRONMENT)
    assert capsys.readouterr().err == f"fuzz: {path}: {why}\n"
    registry.remove("mine")
    assert elsewhere.exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: b"", "Input data was truncated"),
        (lambda text: b"\xff\xfe", "invalid"),
        (lambda text: text[:-20], "truncated"),
        (lambda text: json.dumps({**json.loads(text), "kind": "tvm"}).encode(), "Invalid enum value 'tvm'"),
        (lambda text: json.dumps({**json.loads(text), "surplus": 1}).encode(), "unknown field `surplus`"),
        (lambda text: json.dumps({**json.loads(text), "format": 2}).encode(), "no record of 'mine' in format 1"),
        (lambda text: json.dumps({**json.loads(text), "name": "other"}).encode(), "no record of 'mine' in format 1"),
    ],
)
def test_a_broken_record_is_reported_and_can_be_removed(cache: Path, change, says: str) -> None:
    path = add() / registry.NAME
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(Invalid) as caught:
        registry.read("mine")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert says in message
    assert message.endswith("; `fuzz toolchain remove mine` removes it")
    assert "\n" not in message
    with pytest.raises(EnvironmentMissing):
        registry.find("mine")
    assert registry.names() == ["mine"]
    registry.remove("mine")
    assert registry.names() == []
