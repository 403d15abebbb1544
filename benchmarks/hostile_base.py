"""A small campaign with a file of each kind that difftvm reads, which hostile files are made from; and the commands
that read each of them. `hostile_files.py` uses it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
from decoder_targets import ROOT, exported, index_bytes, onnx_bytes
from mutations import Form

from fuzzer.campaign import filing_progress, state
from fuzzer.campaign.index import Index
from fuzzer.campaign.store import Store
from fuzzer.campaign.waiting_item import document as waiting_document
from fuzzer.campaign.waiting_item import written
from fuzzer.cluster import assignment
from fuzzer.filing.ledger import Ledger, LedgerEntry
from fuzzer.findings import finding_file, record
from fuzzer.findings import merge as merging
from fuzzer.signature import signature_of
from fuzzer.toolchains.registry import ToolchainRecord
from fuzzer.toolchains.toolchain import GraphLanguage
from fuzzer.triage.investigate import Sighting

TOOLCHAIN = "own"


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one run.

    campaign  the one that is hostile
    good      one that is not, which it is merged with
    out       what commands write
    outside   nothing here may be read or written
    """

    root: Path

    @property
    def campaign(self) -> Path:
        return self.root / "given"

    @property
    def good(self) -> Path:
        return self.root / "good"

    @property
    def out(self) -> Path:
        return self.root / "out"

    @property
    def outside(self) -> Path:
        return self.root.with_name(f"{self.root.name}-outside")

    @property
    def finding(self) -> Path:
        return self.campaign / "crashes" / FINDING

    @property
    def onnx_finding(self) -> Path:
        return self.campaign / "crashes" / ONNX_FINDING

    @property
    def corpus_case(self) -> Path:
        return self.campaign / "corpus" / CORPUS_CASE

    @property
    def waiting(self) -> Path:
        return next(iter((self.campaign / "waiting").glob("*")))


FINDING = "wrong-value-selu-253a62bf677c"
"""A shipped finding with a natural case."""

ONNX_FINDING = "rejected-tile-34f780f878bb"
CORPUS_CASE = "cond"
SECRET = "CANARY-of-a-file-outside-5d1f"


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
    for beside in place.campaign.glob("index.sqlite-*"):
        beside.unlink()
    merged = merging.MergeFile(1, [merging.Merge(ONNX_FINDING, FINDING, "the same message")])
    (place.campaign / merging.NAME).write_bytes(msgspec.json.encode(merged))
    filing_progress.write(place.campaign, filing_progress.Progress(1, 2, "no network"))
    assignment.write(place.campaign, assignment.Round(0, 10, [0, 1]))
    (place.campaign / "models" / "m.onnx").write_bytes(onnx_bytes())
    (place.campaign / "models" / "m.pt2").write_bytes(exported())
    _sweep(place.campaign / "sweep", place.corpus_case)
    _toolchain(place.campaign / "cache" / "difftvm" / "toolchains" / TOOLCHAIN)
    _ledger(place.campaign / "filed.sqlite")
    with Store(place.good, 8) as store:
        store.save_state()
    return place


def _let_wait(store: Store, folder: Path) -> None:
    doc, case = finding_file.read_with_case(folder)
    sighting = Sighting(signature_of(doc.finding), doc.finding, (doc.lane,))
    waiting = waiting_document(case, sighting, {"tvm": "0.27.0"})
    (store.folder / "waiting").mkdir()
    written(store.folder / "waiting" / waiting.slug, waiting, case)


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


def has_index(place: Place) -> bool:
    with Index(place.campaign, writes=False) as read:
        return read.state() is not None and state.read(place.campaign) is not None


# --- commands


@dataclass(frozen=True, slots=True)
class Verb:
    """A command line that reads files.

    words  its arguments
    reads  the kinds of files that it reads, by the names in `KINDS`
    """

    words: Callable[[Place], list[object]]
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file: its form, and where it is."""

    form: Form
    path: Callable[[Place], Path]


KINDS = {
    "finding.json": Kind(Form.JSON, lambda place: place.finding / "finding.json"),
    "case.json": Kind(Form.JSON, lambda place: place.finding / "case.json"),
    "tensors.safetensors": Kind(Form.SAFETENSORS, lambda place: place.finding / "tensors.safetensors"),
    "natural.json": Kind(Form.JSON, lambda place: place.finding / "natural.json"),
    "natural.safetensors": Kind(Form.SAFETENSORS, lambda place: place.finding / "natural.safetensors"),
    "ir-before.txt": Kind(Form.BYTES, lambda place: place.finding / "ir-before.txt"),
    "onnx.json": Kind(Form.JSON, lambda place: place.onnx_finding / "onnx.json"),
    "index.sqlite": Kind(Form.SQLITE, lambda place: place.campaign / "index.sqlite"),
    "campaign.json": Kind(Form.JSON, lambda place: place.campaign / "campaign.json"),
    "campaign.lock": Kind(Form.BYTES, lambda place: place.campaign / "campaign.lock"),
    "merged.json": Kind(Form.JSON, lambda place: place.campaign / "merged.json"),
    "filing.json": Kind(Form.JSON, lambda place: place.campaign / "filing.json"),
    "waiting/finding.json": Kind(Form.JSON, lambda place: place.waiting / "finding.json"),
    "waiting/case.json": Kind(Form.JSON, lambda place: place.waiting / "case.json"),
    "waiting/attempts.txt": Kind(Form.BYTES, lambda place: place.waiting / "attempts.txt"),
    "corpus/case.json": Kind(Form.JSON, lambda place: place.corpus_case / "case.json"),
    "corpus/expect.json": Kind(Form.JSON, lambda place: place.corpus_case / "expect.json"),
    "m.onnx": Kind(Form.BYTES, lambda place: place.campaign / "models" / "m.onnx"),
    "m.pt2": Kind(Form.ZIP, lambda place: place.campaign / "models" / "m.pt2"),
    "toolchain.json": Kind(
        Form.JSON, lambda place: place.campaign / "cache" / "difftvm" / "toolchains" / TOOLCHAIN / "toolchain.json"
    ),
    "filed.sqlite": Kind(Form.SQLITE, lambda place: place.campaign / "filed.sqlite"),
    "sweep/samples.jsonl": Kind(Form.LINES, lambda place: place.campaign / "sweep" / "samples.jsonl"),
    "sweep/asked.json": Kind(Form.JSON, lambda place: place.campaign / "sweep" / "asked.json"),
}

_DOC, _CASE = frozenset({"finding.json"}), frozenset({"finding.json", "case.json", "tensors.safetensors"})
_RECORD = _CASE | {"natural.json", "natural.safetensors", "ir-before.txt", "onnx.json"}
_BOOKS = frozenset({"index.sqlite", "campaign.json"})
_WAITING = frozenset({"waiting/finding.json", "waiting/case.json", "waiting/attempts.txt"})
_SWEEP = frozenset({"sweep/samples.jsonl", "sweep/asked.json"})


def _campaign(place: Place) -> list[object]:
    return ["--campaign", place.campaign]


VERBS = {
    "replay": Verb(lambda place: ["replay", place.finding], _CASE),
    "replay onnx": Verb(lambda place: ["--replay", place.onnx_finding], frozenset()),
    "minimize": Verb(lambda place: ["minimize", place.finding, "--out", place.out / "small"], _CASE),
    "minimize case": Verb(
        lambda place: ["minimize", place.corpus_case, "--out", place.out / "small"], frozenset({"corpus/case.json"})
    ),
    "blame": Verb(lambda place: ["blame", place.finding], _CASE),
    "bisect": Verb(lambda place: ["bisect", place.finding], _CASE | {"toolchain.json"}),
    "scope": Verb(lambda place: ["scope", place.finding], _RECORD - {"onnx.json"}),
    "report": Verb(lambda place: ["report", place.finding, place.onnx_finding], _RECORD),
    "report html": Verb(
        lambda place: ["report", place.finding, place.onnx_finding, "--format", "html", "--out", place.out / "pages"],
        _RECORD,
    ),
    "report json": Verb(lambda place: ["report", place.finding, place.onnx_finding, "--json"], _RECORD),
    "file": Verb(
        lambda place: [
            *("file", place.finding, place.onnx_finding),
            *("--out", place.out / "drafts", "--ledger", place.out / "ledger"),
        ],
        _RECORD,
    ),
    "file --ledger": Verb(
        lambda place: ["file", place.finding, "--out", place.out, "--ledger", place.campaign / "filed.sqlite"],
        frozenset({"filed.sqlite"}),
    ),
    "status": Verb(lambda place: ["status", *_campaign(place)], _DOC | _BOOKS | {"filing.json", "campaign.lock"}),
    "status --json": Verb(lambda place: ["status", "--json", *_campaign(place)], _DOC | _BOOKS | {"filing.json"}),
    "status --repair": Verb(
        lambda place: ["status", "--repair", *_campaign(place)], _DOC | _BOOKS | {"filing.json", "campaign.lock"}
    ),
    "triage": Verb(lambda place: ["triage", "--all", *_campaign(place)], _DOC | _BOOKS | {"case.json", "merged.json"}),
    "triage --json": Verb(lambda place: ["triage", "--json", *_campaign(place)], _DOC | {"case.json", "merged.json"}),
    "triage --csv": Verb(lambda place: ["triage", "--csv", *_campaign(place)], _DOC | {"case.json", "merged.json"}),
    "triage --known": Verb(lambda place: ["triage", "--known", *_campaign(place)], _BOOKS),
    "triage --unsupported": Verb(lambda place: ["triage", "--unsupported", *_campaign(place)], _BOOKS),
    "triage --merge": Verb(lambda place: ["triage", "--merge", *_campaign(place)], _CASE | {"merged.json"}),
    "triage --work": Verb(lambda place: ["triage", "--work", *_campaign(place)], _DOC | _BOOKS | _WAITING),
    "dashboard": Verb(
        lambda place: [
            *("dashboard", *_campaign(place)),
            *("--out", place.out / "page.html", "--ledger", place.campaign / "filed.sqlite"),
        ],
        _RECORD | _BOOKS | {"merged.json", "filed.sqlite", "filing.json"},
    ),
    "dashboard --json": Verb(
        lambda place: ["dashboard", "--json", *_campaign(place)], _RECORD | _BOOKS | {"merged.json"}
    ),
    "merge": Verb(
        lambda place: ["merge", place.campaign, "--into", place.out / "merged"],
        _RECORD | _BOOKS | _WAITING | {"corpus/case.json", "campaign.lock"},
    ),
    "merge --into": Verb(
        lambda place: ["merge", place.good, "--into", place.campaign], _DOC | _BOOKS | {"campaign.lock"}
    ),
    "run": Verb(
        lambda place: ["run", "--tests", 1, *_campaign(place)],
        _DOC | _BOOKS | _WAITING | {"corpus/case.json", "campaign.lock"},
    ),
    "corpus": Verb(
        lambda place: ["corpus", "--corpus", place.campaign / "corpus"],
        frozenset({"corpus/case.json", "corpus/expect.json"}),
    ),
    "import": Verb(
        lambda place: ["import", place.campaign / "models", "--into", place.out / "seeds"],
        frozenset({"m.onnx", "m.pt2"}),
    ),
    "import --into": Verb(
        lambda place: ["import", place.campaign / "models" / "m.pt2", "--into", place.campaign],
        frozenset({"corpus/case.json"}),
    ),
    "toolchain list": Verb(lambda place: ["toolchain", "list"], frozenset({"toolchain.json"})),
    "toolchain check": Verb(lambda place: ["toolchain", "check", TOOLCHAIN], frozenset({"toolchain.json"})),
    "sweep": Verb(lambda place: ["sweep", "--out", place.campaign / "sweep"], _SWEEP),
}
"""The command lines. Those that would start a compiler are watched until then."""
