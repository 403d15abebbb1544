"""A GitHub on the loopback, and a state folder of one's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2]), str(Path(__file__).parents[3])]

from desk import SHORT_SCOPE, Place, Watch  # noqa: E402
from github_server import GitHubServer, serving  # noqa: E402

from fuzzer.campaign.store.store import Store  # noqa: E402
from fuzzer.filing import draft as drafts  # noqa: E402
from fuzzer.filing.draft import Draft  # noqa: E402
from fuzzer.findings import made_here  # noqa: E402
from generators.plain_file import plain_files  # noqa: E402
from tests.fuzzer.conftest import raised  # noqa: E402


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("DIFFTVM_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _short_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "scope_of", SHORT_SCOPE)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def place(server: GitHubServer, tmp_path: Path, watch: Watch) -> Place:
    return Place(server.url, tmp_path / "filed.sqlite", watch.patience())


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> list[Draft]:
    """Six findings of one campaign, that nobody would take for each other; written and read once, for all tests."""
    folder = tmp_path_factory.mktemp("made")
    found = []
    with Store(folder, 1) as store:
        for op, message in zip(("relu", "neg", "exp", "sin", "cos", "tanh"), "abcdef", strict=True):
            doc = store.save(raised(f"no {message * 9}", op)[0], {"tvm": "0.27.0"})
            assert doc is not None
            found.append(drafts.read(folder / "crashes" / doc.slug))
    return found


@pytest.fixture
def findings(made: list[Draft], tmp_path: Path) -> list[Draft]:
    shutil.copytree(made[0].folder.parent, tmp_path / "crashes")
    for draft in made:  # they count as made by the user of this state folder
        folder = tmp_path / "crashes" / draft.folder.name
        (folder / made_here.NAME).write_bytes(made_here.mark(plain_files(folder, made_here.MARKED)))
    return [replace(draft, folder=tmp_path / "crashes" / draft.folder.name) for draft in made]


@pytest.fixture
def finding(findings: list[Draft]) -> Draft:
    return findings[0]
