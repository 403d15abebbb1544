"""`fuzz scope`, as a user calls it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fakes
import pytest
from labs import FakeLab

from fuzzer.commands import scope as module
from fuzzer.commands.scope import scope
from fuzzer.findings import finding_file, made_here
from fuzzer.findings.record import FindingRecord
from fuzzer.report import closer_look
from fuzzer.triage.scope.find import Effort
from fuzzer.triage.scope.statement import Scope
from generators.graph import Invalid
from generators.plain_file import plain_files

SHIPPED = Path(__file__).parents[3] / "crashes" / "wrong-dtype-softsign-3b0e52a5b390"


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> FakeLab:
    """Stands for the compilers: each case fails as the finding does."""
    lab = FakeLab(lambda *_: fakes.wrong_dtype((fakes.expect([1.0, -2.0]),)))

    @contextmanager
    def fleet(*_: Any) -> Iterator[FakeLab]:
        yield lab

    monkeypatch.setattr(module, "Fleet", fleet)
    return lab


@pytest.fixture
def finding(tmp_path: Path) -> Path:
    """A shipped finding without its scope, as if this user had made it here."""
    folder = Path(shutil.copytree(SHIPPED, tmp_path / "crashes" / SHIPPED.name))
    document = json.loads((folder / "finding.json").read_text())
    del document["scope"]
    (folder / "finding.json").write_text(json.dumps(document))
    (folder / made_here.NAME).write_bytes(made_here.mark(plain_files(folder, made_here.MARKED)))
    return folder


@pytest.mark.slow
def test_a_finding_gets_its_scope_once(lab: FakeLab, finding: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scope([finding])
    assert finding_file.read(finding).scope.cases > 0
    assert not made_here.why_not(finding), "its mark is that of the new files"
    shown = capsys.readouterr().out
    assert shown.startswith(f"{finding.name}: ")
    runs = len(lab.ran)
    scope([finding])
    assert len(lab.ran) == runs
    assert capsys.readouterr().out == shown, "what is known is printed"
    scope([finding], again=True)
    assert len(lab.ran) > runs


@pytest.mark.slow
def test_a_finding_from_elsewhere_runs_on_demand_only(lab: FakeLab, finding: Path) -> None:
    (finding / made_here.NAME).unlink()
    with pytest.raises(Invalid, match=r"its scripts are not run: it comes from elsewhere, .*; --trust runs them$"):
        scope([finding])
    assert not lab.ran
    scope([finding], trust=True)
    assert finding_file.read(finding).scope.cases > 0
    assert made_here.why_not(finding), "it stays one from elsewhere"


@pytest.mark.slow
def test_what_is_put_into_the_folder_meanwhile_is_not_run(
    finding: Path, lab: FakeLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process replaces the case while its lanes run."""
    looked = closer_look.scope_of

    def look(*arguments: Any) -> Scope:
        found = looked(*arguments)
        (finding / "ir-before.txt").write_bytes(b"another")
        return found

    monkeypatch.setattr(closer_look, "scope_of", look)
    with pytest.raises(Invalid, match=r"its scripts are not run: it was changed, .*; --trust runs them$"):
        scope([finding])


def test_a_flaky_finding_has_no_scope(lab: FakeLab, finding: Path, capsys: pytest.CaptureFixture[str]) -> None:
    doc = finding_file.read(finding)
    doc.flaky = True
    (finding / finding_file.NAME).write_bytes(finding_file.encode(doc))
    scope([finding])
    assert not lab.ran
    assert capsys.readouterr().out == "flaky findings have no scope\n"


@pytest.mark.slow
@pytest.mark.parametrize("parent", ["", "crashes"])
def test_a_folder_of_findings(lab: FakeLab, finding: Path, tmp_path: Path, parent: str) -> None:
    scope([tmp_path / parent])
    assert finding_file.read(finding).scope.cases > 0


@pytest.mark.slow
def test_json(lab: FakeLab, finding: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scope([finding], json=True)
    (found,) = json.loads(capsys.readouterr().out)
    assert found["slug"] == finding.name
    assert {"statement", "inside", "outside", "variations", "siblings", "routes", "cases", "cpu_seconds"} <= set(found)


@pytest.mark.slow
def test_an_error_in_one_finding_does_not_stop_the_others(
    lab: FakeLab, finding: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Path(shutil.copytree(finding, finding.with_name("a-broken-finding")))
    looks_closer = module.look_closer

    def failing(lab: FakeLab, folder: Path, effort: Effort, **more: Any) -> FindingRecord:
        if folder == broken:
            raise ZeroDivisionError("no rows")
        return looks_closer(lab, folder, effort, **more)

    monkeypatch.setattr(module, "look_closer", failing)
    with pytest.raises(ZeroDivisionError, match="no rows"):
        scope([broken, finding])
    shown = capsys.readouterr()
    assert shown.err == "a-broken-finding: ZeroDivisionError: no rows\n"
    assert shown.out.startswith(f"{finding.name}: ")
    assert finding_file.read(finding).scope.cases > 0


def test_a_folder_without_findings_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=f"^{tmp_path}: not the folder of a finding: there is no finding.json in it$"):
        scope([tmp_path])


@pytest.mark.tvm
@pytest.mark.long
def test_softsign_returns_the_wrong_dtype_for_integers(finding: Path) -> None:
    """A bug of TVM 0.27."""
    scope([finding])
    found = finding_file.read(finding).scope
    assert found.statement is not None
    (condition,) = found.statement.conditions
    assert (condition.property.subject, condition.property.what) == ("operand 0", "dtype")
    assert set(condition.values) == {"int8", "int16", "int32", "int64", "uint8"}
    assert found.is_certain
