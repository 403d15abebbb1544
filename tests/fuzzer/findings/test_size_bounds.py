"""What others send is read up to the sizes that docs/reliability.md names. Files have holes here, so that they take no
space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fuzzer.campaign.store import filing_progress, state
from fuzzer.campaign.triage import attempts
from fuzzer.campaign.triage.attempts import Event
from fuzzer.dashboard.data import gather
from fuzzer.evaluation import samples
from fuzzer.findings import finding_file, merge, natural_file, record
from fuzzer.seeds.onnx.reader import reader as onnx_reader
from fuzzer.toolchains import registry
from generators import case_file, plain_file
from generators.graph import Invalid

PAGE = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text()
MIB = 1 << 20


def grown(path: Path, size: int) -> None:
    """Make a file as large, with zeros after what it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.truncate(size)


def refused(read: Callable[[Path], object], folder: Path) -> str:
    """Why a folder is refused; "" where it is read."""
    try:
        read(folder)
    except Invalid as error:
        return str(error)
    return ""


def test_the_page_names_the_bounds() -> None:
    words = " ".join(PAGE.split())
    assert "A model of ONNX may have 2 GiB" in words


READ: list[tuple[str, int, Callable[[Path], object]]] = [
    ("finding.json", 12, finding_file.read),
    ("case.json", 12, case_file.read),
    ("case.json", 12, case_file.input_types),
    ("tensors.safetensors", 80, case_file.read),
    ("natural.json", 12, natural_file.read),
    ("ir-before.txt", 16, record.read),
    ("ir-after.txt", 16, record.read),
    ("onnx.json", 16, record.read),
    ("../../merged.json", 12, lambda folder: merge.read(folder.parents[1])),
    ("../../campaign.json", 12, lambda folder: state.read(folder.parents[1])),
    ("../../filing.json", 1, lambda folder: filing_progress.read(folder.parents[1])),
]


@pytest.mark.parametrize(("name", "mebibytes", "read"), READ)
def test_a_larger_file_is_refused_and_one_of_the_size_is_read(
    saved: Path, name: str, mebibytes: int, read: Callable[[Path], object]
) -> None:
    path = saved / name
    grown(path, mebibytes * MIB)
    why = f"it has more than {mebibytes * MIB:,} bytes"
    assert why not in refused(read, saved)  # zeros are a text, and no document
    grown(path, mebibytes * MIB + 1)
    assert why in refused(read, saved)
    assert "\n" not in refused(read, saved)


def test_the_tensors_of_a_natural_case_are_bounded(tmp_path: Path) -> None:
    shipped = next(path.parent for path in (Path(__file__).parents[3] / "crashes").glob("*/natural.json"))
    for name in (natural_file.NAME, natural_file.TENSORS):
        (tmp_path / name).write_bytes((shipped / name).read_bytes())
    assert natural_file.read(tmp_path) is not None
    grown(tmp_path / natural_file.TENSORS, 80 * MIB + 1)
    with pytest.raises(Invalid, match=f"it has more than {80 * MIB:,} bytes"):
        natural_file.read(tmp_path)


def test_the_script_that_the_dashboard_shows_is_bounded(saved: Path, tmp_path: Path) -> None:
    grown(saved / "repro.py", 16 * MIB + 1)
    shown = gather(tmp_path)
    assert any(f"repro.py: it has more than {16 * MIB:,} bytes" in line for line in shown.unreadable)


@pytest.mark.slow
def test_a_longer_list_of_attempts_is_as_none(tmp_path: Path) -> None:
    path = tmp_path / attempts.NAME
    attempts.Attempts().note(tmp_path, Event.BEGUN)
    line, counted = path.read_bytes(), attempts.read(tmp_path)
    path.write_bytes(line + b"\n" * (16 * MIB - len(line)))
    assert attempts.read(tmp_path) == counted != attempts.Attempts()
    path.write_bytes(line + b"\n" * (16 * MIB - len(line) + 1))
    assert attempts.read(tmp_path) == attempts.Attempts()


def test_the_record_of_a_toolchain_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    grown(registry.root() / "mine" / registry.NAME, 12 * MIB + 1)
    with pytest.raises(Invalid, match=f"it has more than {12 * MIB:,} bytes"):
        registry.read("mine")


def test_the_files_of_a_finding_are_bounded_together(saved: Path) -> None:
    """Each of them alone is small enough."""
    for name in ("repro.py", "log.txt"):
        grown(saved / name, 80 * MIB)
    with pytest.raises(OSError, match=r"it has more than [\d,]+ bytes"):
        plain_file.plain_files(saved, {"log.txt", "repro.py", finding_file.NAME})


def test_a_model_of_onnx_is_bounded(tmp_path: Path) -> None:
    grown(tmp_path / "m.onnx", 2048 * MIB + 1)
    with pytest.raises(onnx_reader.Unreadable, match="is larger than 2048 MiB"):
        onnx_reader.described(tmp_path / "m.onnx")


def test_the_samples_of_a_sweep_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "asked.json").write_text('{"ops": "abs", "samples": 1}')
    (tmp_path / "samples.jsonl").write_text('{"key": "abs/float32/0", "why": ""}\n')
    assert [sample.key for sample in samples.gather(tmp_path, "torch", None, None)] == ["abs/float32/0"]
    grown(tmp_path / "samples.jsonl", 16 * MIB + 1)
    with pytest.raises(Invalid, match=f"it has more than {16 * MIB:,} bytes"):
        samples.gather(tmp_path, "torch", None, None)
