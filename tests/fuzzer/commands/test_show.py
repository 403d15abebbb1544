"""`fuzz show`: a finding, what was seen and waits, and a case."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting import Queue
from fuzzer.commands.show import show
from fuzzer.system.terminal import command
from fuzzer.triage.investigate import Investigated, Sighting
from generators.graph import Invalid

CRASHES = Path(__file__).parents[3] / "crashes"


def shown(capsys: pytest.CaptureFixture[str], name: Path, json: bool = False) -> str:
    show(name, json=json)
    return capsys.readouterr().out


def test_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, CRASHES / "selu")
    first, second, *_ = text.splitlines()
    assert first == "`F.selu` gives wrong values: 3 instead of 3.152"
    assert second.startswith("severity: critical: the result is silently wrong; ")
    assert "\ncondition: It fails where " in text
    assert "\n    class Model(torch.nn.Module):\n" in text
    assert text.splitlines()[-1].endswith(f" replay {CRASHES / 'wrong-value-selu-253a62bf677c'}")


def test_a_finding_of_onnx_has_a_line_for_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\n    v0, v1 = TopK(x0, K=(3,))  # float32" in shown(capsys, CRASHES / "TopK")


def test_what_is_not_known_has_its_command(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"\ncondition not yet looked for: `{command('scope', saved)}`\n" in shown(capsys, saved)
    assert "\nat fault: tvm: which part of it is not known\n" in shown(capsys, saved)
    assert json.loads(shown(capsys, saved, json=True))["finding"]["slug"] == saved.name


def test_what_has_no_condition_is_not_looked_at(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failure that does not show each time, and one that is not TVM's."""
    whole = json.loads((saved / "finding.json").read_text())
    for changed in ({"flaky": True}, {"component": "exporter"}):
        (saved / "finding.json").write_text(json.dumps({**whole, **changed}))
        assert "\ncondition" not in shown(capsys, saved)


def test_a_line_break_in_a_field_makes_no_line(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved / "finding.json"
    doc = json.loads(path.read_text())
    for culprit in ("FuseOps", "FuseOps\nnext: rm x"):
        doc["blame"] = {"place": "pass", "culprit": culprit}
        path.write_text(json.dumps(doc))
        lines = shown(capsys, saved).splitlines()
        assert sum("FuseOps" in line for line in lines) == 1
        assert sum(line.startswith("next: ") for line in lines) == 1


def test_commands_to_copy_are_quoted(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = saved.with_name("$(touch x);`y`")
    saved.rename(folder)
    text = shown(capsys, folder)
    assert f"`{command('report', folder)}` prints the report" in text
    assert f" {folder}`" not in text


def test_what_waits_for_triage(
    tmp_path: Path, make: Callable[..., tuple[Investigated, Sighting]], capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path, 1) as store:
        store.save_state()
    found, sighting = make()
    Queue(tmp_path).add(found.case, sighting, {})
    (name,) = os.listdir(tmp_path / "waiting")
    first, second, *_, last = shown(capsys, tmp_path / "waiting" / name).splitlines()
    assert first == "`relu` fails: no layout for it"
    assert second.startswith("seen once, and not confirmed yet; ")
    short = "-".join(name.split("-")[-2:])
    assert last == f"next: {command('triage', '--work', short, '--campaign', tmp_path)}", "from any folder"


def test_a_case(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (saved / "finding.json").unlink()
    first, *_, last = shown(capsys, saved).splitlines()
    assert first.startswith(f"{saved}: a case of 1 operator: ")
    assert last.endswith(f" minimize {saved}")
    assert json.loads(shown(capsys, saved, json=True))["case"]["outputs"]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="there is no such folder"):
        show(tmp_path / "nothing")
