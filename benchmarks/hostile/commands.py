"""The commands that read files of a campaign, and the kinds of files that each reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from mutations import Form

from hostile.place import TOOLCHAIN, Place


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
    "kept/corpus.json": Kind(Form.JSON, lambda place: place.kept / "corpus.json"),
    "kept/expected.jsonl": Kind(Form.LINES, lambda place: place.kept / "expected.jsonl"),
    "kept/cases.zip": Kind(Form.ZIP, lambda place: place.kept / "cases.zip"),
    "options.toml": Kind(Form.BYTES, lambda place: place.campaign / "options.toml"),
    "last-run.json": Kind(Form.JSON, lambda place: place.campaign / "last-run.json"),
    "last-list.json": Kind(Form.JSON, lambda place: place.shown),
    "diff/case.json": Kind(Form.JSON, lambda place: place.earlier / "case.json"),
    "net.py": Kind(Form.BYTES, lambda place: place.campaign / "net.py"),
    "preload.py": Kind(Form.BYTES, lambda place: place.preload),
    "inputs.npz": Kind(Form.ZIP, lambda place: place.campaign / "inputs.npz"),
    "input_0.pb": Kind(Form.BYTES, lambda place: place.campaign / "inputs" / "input_0.pb"),
    "sweep/samples.jsonl": Kind(Form.LINES, lambda place: place.campaign / "sweep" / "samples.jsonl"),
    "sweep/asked.json": Kind(Form.JSON, lambda place: place.campaign / "sweep" / "asked.json"),
}

_DOC, _CASE = frozenset({"finding.json"}), frozenset({"finding.json", "case.json", "tensors.safetensors"})
_RECORD = _CASE | {"natural.json", "natural.safetensors", "ir-before.txt", "onnx.json"}
_BOOKS = frozenset({"index.sqlite", "campaign.json"})
_WAITING = frozenset({"waiting/finding.json", "waiting/case.json", "waiting/attempts.txt"})
_KEPT = frozenset({"kept/corpus.json", "kept/expected.jsonl", "kept/cases.zip"})
_SWEEP = frozenset({"sweep/samples.jsonl", "sweep/asked.json"})


def _campaign(place: Place) -> list[object]:
    return ["--campaign", place.campaign]


VERBS = {
    "replay": Verb(lambda place: ["replay", place.finding], _CASE),
    "replay onnx": Verb(lambda place: ["--replay", place.onnx_finding], frozenset()),
    "minimize": Verb(lambda place: ["minimize", place.finding, "--out", place.out / "small"], _CASE),
    "minimize onnx": Verb(
        lambda place: [
            *("minimize", place.campaign / "models" / "m.onnx", "--inputs", place.campaign / "inputs.npz"),
            *("--out", place.out / "small"),
        ],
        frozenset({"m.onnx", "inputs.npz"}),
    ),
    "minimize onnx, inputs in a folder": Verb(
        lambda place: [
            *("minimize", place.campaign / "models" / "m.onnx", "--inputs", place.campaign / "inputs"),
            *("--out", place.out / "small"),
        ],
        frozenset({"input_0.pb"}),
    ),
    "check": Verb(
        lambda place: ["check", place.campaign / "models" / "m.onnx", "--folder", place.out / "found"],
        frozenset({"m.onnx"}),
    ),
    "check pt2": Verb(
        lambda place: ["check", place.campaign / "models" / "m.pt2", "--folder", place.out / "found"],
        frozenset({"m.pt2"}),
    ),
    "check case": Verb(
        lambda place: ["check", place.corpus_case, "--folder", place.out / "found"], frozenset({"corpus/case.json"})
    ),
    "check py": Verb(lambda place: ["check", place.campaign / "net.py"], frozenset({"net.py"})),
    "show": Verb(lambda place: ["show", place.finding], _RECORD),
    "show onnx": Verb(lambda place: ["show", place.onnx_finding], frozenset({"onnx.json"})),
    "show --json": Verb(lambda place: ["show", "--json", place.finding], _RECORD),
    "show case": Verb(lambda place: ["show", place.corpus_case], frozenset({"corpus/case.json"})),
    "show waiting": Verb(lambda place: ["show", place.waiting], _WAITING),
    "show 1": Verb(lambda place: ["show", 1], frozenset({"last-list.json"})),
    "report 1": Verb(lambda place: ["report", 1], frozenset({"last-list.json"})),
    "replay --preload": Verb(
        lambda place: ["replay", place.finding, "--preload", place.preload], frozenset({"preload.py"})
    ),
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
    "triage --new": Verb(
        lambda place: ["triage", "--new", *_campaign(place)], _DOC | {"last-run.json", "last-list.json"}
    ),
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
    "corpus keep": Verb(
        lambda place: ["corpus", "keep", place.campaign, "--into", place.out / "kept"],
        _CASE | _BOOKS | {"merged.json"},
    ),
    "corpus run": Verb(lambda place: ["corpus", "run", place.kept], _KEPT),
    "diff --cases": Verb(
        lambda place: [
            *("diff", "--patched-preload", place.preload, "--cases", place.campaign, "--tests", 1),
            *("--campaign", place.out / "diff"),
        ],
        _CASE | {"corpus/case.json"},
    ),
    "diff again": Verb(
        lambda place: [
            *("diff", "--patched-preload", place.preload, "--tests", 1),
            *("--campaign", place.campaign / "diff"),
        ],
        frozenset({"diff/case.json"}),
    ),
    "run --around": Verb(
        lambda place: ["run", "--tests", 1, "--around", place.campaign / "models", "--campaign", place.out / "run"],
        frozenset({"m.onnx", "m.pt2"}),
    ),
    "run --configurations": Verb(
        lambda place: [
            *("run", "--tests", 1, "--configurations", place.campaign / "options.toml"),
            *("--campaign", place.out / "run"),
        ],
        frozenset({"options.toml"}),
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


def is_chosen(name: str, globs: str) -> bool:
    """Whether a command has a name that fits one of these globs, which commas separate."""
    return any(fnmatchcase(name, glob.strip()) for glob in globs.split(","))
