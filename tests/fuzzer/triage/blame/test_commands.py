"""`fuzz blame` and `fuzz bisect` on a finding's folder, with lanes made by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from compiler import PASSES, Compiler, chain, runs
from typer.testing import CliRunner

from fuzzer.campaign.store.store import Store
from fuzzer.cli import app
from fuzzer.commands import bisect, blame
from fuzzer.findings import finding_file
from fuzzer.signature import final_signature, signature_of
from fuzzer.signature.blame import Releases, ReleaseVerdict
from fuzzer.toolchains import registry
from fuzzer.toolchains.toolchain import GraphLanguage, Toolchain
from fuzzer.triage.investigate import Investigated
from generators.graph import Invalid

VERSIONS = {"tvm": "0.27.0.post1", "torch": "2.13.0", "python": "3.11.7"}
RELEASES = {"host": "0.27.0.post1", "0.25.0.post1": "0.25.0.post1", "0.26.0": "0.26.0"}


@dataclass
class Fleet:
    """What a fleet is to these commands."""

    compiler: Compiler
    place: str = "host"

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *ended: object) -> None:
        return None

    @property
    def run_fresh(self) -> Any:
        return self.compiler.run

    def backend(self, place: Any) -> Fleet:
        return Fleet(self.compiler, place.toolchain)

    @property
    def versions(self) -> dict[str, str]:
        return {"tvm": RELEASES[self.place]}


def saved(folder: Path, compiler: Compiler) -> Path:
    """The folder of what the compiler gets wrong."""
    finding = compiler.finding(chain())
    signature = final_signature(signature_of(finding), chain())
    found = Investigated(signature, finding, chain(), (finding.lane.name,), 3, 3, chain().graph.ops, None)
    with Store(folder, 1) as store:
        doc = store.save(found, VERSIONS)
    assert doc is not None
    return folder / "crashes" / doc.slug


def fuzz(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a finding that FuseOps causes from 0.26.0 on."""

    def sins(lane: Any, names: tuple[str, ...]) -> set[str]:
        return {"v3"} & set(names) if lane.toolchain != "0.25.0.post1" and runs(lane, 0) else set()

    compiler = Compiler(sins, PASSES)
    monkeypatch.setattr(blame, "Fleet", lambda *_: Fleet(compiler))
    monkeypatch.setattr(bisect, "Fleet", lambda *_: Fleet(compiler))
    return saved(tmp_path, compiler)


def test_blame_prints_the_component_and_the_evidence_and_leaves_the_folder_alone(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    first, second, third = fuzz("blame", folder).splitlines()
    assert first == f"{folder.name}: pass, FuseOps, at tanh"
    assert second == "  The result is right without FuseOps, the only optional pass that ran."
    assert third.endswith(f"bisect {folder}")
    document = json.loads(fuzz("blame", folder, "--json"))
    assert (document["slug"], document["place"], document["culprit"], document["operator"]) == (
        folder.name,
        "pass",
        "FuseOps",
        "tanh",
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_bisect_runs_all_toolchains_of_the_lanes_language(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = {
        name: registry.ToolchainRecord(1, name, kind, "python", {}, {"tvm": name}, 0)
        for name, kind in (
            ("0.26.0", GraphLanguage.RELAX),
            ("relay", GraphLanguage.RELAY),
            ("0.25.0.post1", GraphLanguage.RELAX),
        )
    }
    monkeypatch.setattr(registry, "names", lambda: list(records))
    monkeypatch.setattr(registry, "read", records.__getitem__)
    lines = fuzz("bisect", folder).splitlines()
    rows = [line.split()[:3] for line in lines if line.startswith("0.")]
    assert rows == [
        ["0.25.0.post1", "0.25.0.post1", "passes"],
        ["0.26.0", "0.26.0", "fails"],
        ["0.27.0.post1", "host", "fails"],
    ]
    assert f"{folder.name}: introduced in 0.26.0; next: " in lines[-1]
    document = json.loads(fuzz("bisect", folder, "--json"))
    assert (document["introduced"], document["fixed"]) == ("0.26.0", "")
    assert [(run["tvm"], run["verdict"]) for run in document["runs"]] == [
        ("0.25.0.post1", "passes"),
        ("0.26.0", "fails"),
        ("0.27.0.post1", "fails"),
    ]


def test_bisect_with_the_host_alone_says_what_to_type(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "names", list)
    last = fuzz("bisect", folder).splitlines()[-1]
    assert "no other release is installed here, and finding.json records none; next: " in last
    assert last.endswith(f"bisect {folder} --install")


def test_bisect_uses_the_releases_that_the_finding_records(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They were there when it was found; what runs today counts more."""
    monkeypatch.setattr(registry, "names", list)
    doc = finding_file.read(folder)
    doc.releases = Releases(
        (("0.25.0", ReleaseVerdict.PASSES), ("0.26.0", ReleaseVerdict.FAILS), ("0.27.0.post1", ReleaseVerdict.PASSES))
    )
    (folder / "finding.json").write_bytes(finding_file.encode(doc))
    lines = fuzz("bisect", folder).splitlines()
    assert [line.split()[:3] for line in lines if line.startswith("0.")] == [
        ["0.25.0", "-", "passes"],
        ["0.26.0", "-", "fails"],
        ["0.27.0.post1", "host", "fails"],
    ]
    assert f"{folder.name}: introduced in 0.26.0; next: " in lines[-1]
    document = json.loads(fuzz("bisect", folder, "--json"))
    assert (document["introduced"], [run["tvm"] for run in document["runs"]]) == ("0.26.0", ["0.27.0.post1"])
    assert document["recorded"] == [{"tvm": "0.25.0", "verdict": "passes"}, {"tvm": "0.26.0", "verdict": "fails"}]


def test_install_installs_what_the_index_has_and_this_machine_has_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(registry, "names", lambda: ["0.25.0.post1"])
    record = registry.ToolchainRecord(1, "0.25.0.post1", GraphLanguage.RELAX, "python", {}, {"tvm": "0.25.0.post1"}, 0)
    monkeypatch.setattr(registry, "read", lambda name: record)
    monkeypatch.setattr(registry, "host_release", lambda: "0.27.0.post1")
    monkeypatch.setattr(bisect.install, "releases_on_the_index", lambda: ["0.25.0.post1", "0.26.0", "0.27.0.post1"])
    monkeypatch.setattr(bisect.install, "add_release", lambda name, tell: installed.append(name))
    fuzz("bisect", folder, "--install")
    assert installed == ["0.26.0"]


def test_a_lane_that_no_toolchain_speaks_is_bad_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    relay = Toolchain("relay", "python", kind=GraphLanguage.RELAY)
    monkeypatch.setattr(bisect, "named", lambda names: (relay,))
    with pytest.raises(Invalid, match="runs in none of these toolchains"):
        fuzz("bisect", folder, "--toolchain", "relay")
