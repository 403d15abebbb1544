"""A small campaign with a file of each kind that difftvm reads, which hostile files are made from."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import onnx
from decoders.base import ROOT
from decoders.indexes import index_bytes
from decoders.models import exported, onnx_bytes

from fuzzer.campaign.plan import last_run
from fuzzer.campaign.store import filing_progress, notable_tests
from fuzzer.campaign.store.store import Store
from fuzzer.campaign.triage.waiting_item import document as waiting_document
from fuzzer.campaign.triage.waiting_item import written
from fuzzer.cluster import assignment
from fuzzer.filing.ledger import Ledger, LedgerEntry
from fuzzer.findings import finding_file, record
from fuzzer.findings import merge as merging
from fuzzer.lanes import TVM_LANES
from fuzzer.regression import record as regression
from fuzzer.regression.runs import failure_id
from fuzzer.signature import signature_of
from fuzzer.toolchains.registry import ToolchainRecord
from fuzzer.toolchains.toolchain import GraphLanguage
from fuzzer.triage.investigate import Sighting
from generators import case_file
from hostile.place import CORPUS_CASE, FINDING, ONNX_FINDING, SECRET, TOOLCHAIN, Place
from oracles.outcome import Ran, Result

OPTIONS = """
passes = ["FoldConstant", "EliminateCommonSubexpr"]
opt_levels = [2, 3]

[own]
opt_level = 3
"""
"""A file of compile options."""


def build(root: Path) -> Place:
    """Write the campaign, with everything valid."""
    place = Place(root)
    for folder in (place.out, place.outside, place.campaign / "models"):
        folder.mkdir(parents=True)
    (place.outside / "secret").write_text(SECRET)
    for slug in (FINDING, ONNX_FINDING):
        shutil.copytree(ROOT / "crashes" / slug, place.campaign / "crashes" / slug)
    (place.finding / record.BEFORE).write_text("# from tvm.script import ir as I\n")
    shutil.copytree(ROOT / "corpus" / CORPUS_CASE, place.corpus_case)
    with Store(place.campaign, 7) as store:
        store.finished(3)
        store.state.counters.tests = 3
        _let_wait(store, ROOT / "crashes" / ONNX_FINDING)
    (place.campaign / "index.sqlite").write_bytes(index_bytes())
    _notable(place)
    for beside in place.campaign.glob("index.sqlite-*"):
        beside.unlink()
    merged = merging.MergeFile(1, [merging.Merge(ONNX_FINDING, FINDING, "the same message")])
    (place.campaign / merging.NAME).write_bytes(msgspec.json.encode(merged))
    filing_progress.write(place.campaign, filing_progress.Progress(1, 2, "no network"))
    assignment.write(place.campaign, assignment.Round(0, 10, [0, 1]))
    (place.campaign / "models" / "m.onnx").write_bytes(onnx_bytes())
    (place.campaign / "models" / "m.pt2").write_bytes(exported())
    _inputs(place)
    shutil.copytree(place.finding, place.earlier)
    (place.campaign / last_run.NAME).write_bytes(msgspec.json.encode(last_run.LastRun(0.0)))
    (place.campaign / "net.py").write_text("def net():\n    return None\n")
    _kept(place)
    (place.campaign / "options.toml").write_text(OPTIONS)
    _sweep(place.campaign / "sweep", place.corpus_case)
    _toolchain(place.campaign / "cache" / "difftvm" / "toolchains" / TOOLCHAIN)
    _ledger(place.campaign / "filed.sqlite")
    with Store(place.good, 8) as store:
        store.save_state()
    place.preload.write_text("import tvm\n")
    return place


def _inputs(place: Place) -> None:
    """The input of the model, in each of the two forms that `fuzz minimize --inputs` reads."""
    (value,) = onnx.load_from_string(onnx_bytes()).graph.input
    array = np.ones([max(1, size.dim_value) for size in value.type.tensor_type.shape.dim], np.float32)
    assert value.name == "x"
    np.savez(place.campaign / "inputs.npz", x=array)
    (place.campaign / "inputs").mkdir()
    tensor = onnx.numpy_helper.from_array(array, value.name)
    (place.campaign / "inputs" / "input_0.pb").write_bytes(tensor.SerializeToString())


def _kept(place: Place) -> None:
    """A regression corpus of two cases: one that is right, and one with a known failure."""
    lane = TVM_LANES[0]
    doc, failing = finding_file.read_with_case(place.finding)
    cases = {regression.name_of(case): case for case in (case_file.read(place.corpus_case), failing)}
    right, wrong = cases
    failure = failure_id(doc.finding)
    known = regression.KnownFailure(doc.finding.kind, doc.finding.component, "a value is wrong", FINDING)
    entries = [
        regression.Entry(right, ["cond"], CORPUS_CASE, right=[lane.name]),
        regression.Entry(wrong, ["selu"], FINDING, fails={lane.name: failure}),
    ]
    description = regression.Description(
        format=regression.FORMAT,
        toolchain="host",
        versions={"tvm": "0.27.0"},
        cpu_seconds=1.5,
        coverage={"operators": regression.Coverage(2, 3)},
        lanes={lane.name: regression.short(lane)},
        failures={failure: known},
    )
    regression.write(place.kept, description, entries, cases)


def _let_wait(store: Store, folder: Path) -> None:
    doc, case = finding_file.read_with_case(folder)
    sighting = Sighting(signature_of(doc.finding), doc.finding, (doc.lane,))
    waiting = waiting_document(case, sighting, {"tvm": "0.27.0"})
    (store.folder / "waiting").mkdir()
    written(store.folder / "waiting" / waiting.slug, waiting, case)


def _notable(place: Place) -> None:
    """Add a test to the index that `fuzz corpus keep` can take."""
    document = notable_tests.encoded(case_file.read(place.corpus_case), Result({TVM_LANES[0]: Ran(())}), ())
    with closing(sqlite3.connect(place.campaign / "index.sqlite")) as db:
        db.execute("INSERT INTO notable_tests VALUES (1, 2, ?)", (document,))
        db.commit()


def _sweep(folder: Path, case: Path) -> None:
    (folder / "samples").mkdir(parents=True)
    shutil.copytree(case, folder / "samples" / "abs-float32-0")
    (folder / "asked.json").write_text('{"ops": "abs", "samples": 1}\n')
    (folder / "samples.jsonl").write_text('{"key": "abs/float32/0", "why": ""}\n')
    (folder / "sweep.jsonl").write_text('{"key": "abs/float32/0", "lanes": {"torch": ["supported", ""]}}\n')


def _toolchain(folder: Path) -> None:
    folder.mkdir(parents=True)
    record = ToolchainRecord(1, TOOLCHAIN, GraphLanguage.RELAX, "/no/python", {"A": "b"}, {"tvm": "0.26.0"}, 7)
    (folder / "toolchain.json").write_bytes(msgspec.json.encode(record))


def _ledger(path: Path) -> None:
    with Ledger(path) as ledger:
        entry = LedgerEntry("api.github.com/a/b", "253a62bf677c", "n", "title", "/x", "0.27.0", 1.0)
        ledger.intend(entry)
        ledger.filed(entry, 3, "https://github.com/a/b/issues/3")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
    path.with_name("filed.sqlite.lock").unlink()
