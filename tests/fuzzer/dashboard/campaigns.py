"""A campaign made by hand: five findings, two of them of one family, one hostile, one flaky, one old."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from graphs_by_hand import Call, case_of

from fuzzer.campaign.store.rows import index_row
from fuzzer.campaign.store.store import Store
from fuzzer.findings import finding_file
from fuzzer.lanes import ONNXRUNTIME, TORCH, TVM_LANES
from fuzzer.signature import signature_of
from fuzzer.signature.blame import NO_BLAME, NO_RELEASES, Blame, Origin, Place, Releases, ReleaseVerdict
from fuzzer.triage.investigate import Investigated, Sighting
from fuzzer.triage.scope.statement import NO_SCOPE, Answer, Hits, Scope, Statement, Variation
from oracles.finding import Component, Finding, Kind
from oracles.outcome import Outcome, Raised, Ran, Stage, Unsupported

HOSTILE = (
    '<img src=x onerror="window.owned = 1"></script><script>window.owned = 2</script><!-- ${x} {{ 7 * 7 }} '
    "\u2028\u202e\x1b"
)
"""A page shows its last three characters as escape sequences."""
LANE = TVM_LANES[0]
VERSIONS = {"python": "3.11.7", "torch": "2.13.0", "tvm": "0.27.0"}


def found(
    message: str,
    inputs: Mapping[str, str],
    calls: list[Call],
    blame: Blame = NO_BLAME,
    releases: Releases = NO_RELEASES,
) -> tuple[Investigated, Sighting]:
    finding = Finding(Kind.INTERNAL_ERROR, Component.TVM, LANE, Stage.COMPILE, Raised(Stage.COMPILE, "E", message))
    case, again = case_of(inputs, calls, calls[-1][0]), 2 if "now and then" in message else 3
    signature = signature_of(finding)
    confirmed = Investigated(
        signature, finding, case, (LANE.name,), again, 3, case.graph.ops, None, blame=blame, releases=releases
    )
    return confirmed, Sighting(signature, finding, (LANE,))


ORIGIN = Origin(("_linear +7", "_linear +9"), ("relax.matmul", "relax.add"), place="relax/transform/fuse_ops.py:10")
SCOPE = Scope(
    Statement(),
    Hits(9, 9),
    variations=(
        Variation("dtype of x0", "float32", Answer.FAILS),
        Variation("dtype of x0", "int64", Answer.PASSES),
        Variation("rank of x0", "1", Answer.PASSES),
        Variation("rank of x0", "2", Answer.FAILS),
    ),
    siblings=(("gelu", Answer.PASSES),),
    routes=(("from_fx", Answer.FAILS), ("target c", Answer.PASSES)),
    cases=40,
)
WIDER_SCOPE = Scope(variations=(Variation("dtype of x0", "int64", Answer.FAILS),), cases=1)

FINDINGS = (
    found(
        "no layout for it",
        {"x0": "float32[2,3]", "w0": "float32[4,3]", "b0": "float32[4]"},
        [("v0", "linear", "x0 w0 b0"), ("v1", "relu", "v0")],
        Blame(
            Place.PASS,
            "relu",
            "FuseOps",
            "Without `FuseOps` it is right",
            "y = x\n",
            "y = x\ny = R.add(x, w)\n",
            origin=ORIGIN,
        ),
        Releases((("0.26.0", ReleaseVerdict.PASSES), ("0.27.0", ReleaseVerdict.FAILS))),
    ),
    found(HOSTILE, {"x0": "float32[2]"}, [("v0", "hardswish", "x0")], Blame(Place.CODEGEN, HOSTILE, HOSTILE, HOSTILE)),
    found("it fails now and then", {"x0": "float32[2]"}, [("v0", "neg", "x0")]),
    found("of another day", {"x0": "float32[2]"}, [("v0", "abs", "x0")]),
    found(
        "no layout for it at all",
        {"x0": "float32[2,3]", "w0": "float32[4,3]", "b0": "float32[4]"},
        [("v0", "linear", "x0 w0 b0"), ("v1", "neg", "v0")],
        Blame(Place.PASS, "neg", "FuseOps", "Without `FuseOps` it is right", origin=ORIGIN),
    ),
)
SCOPES = (SCOPE, NO_SCOPE, NO_SCOPE, NO_SCOPE, WIDER_SCOPE)
HOURS_AGO = (1, 2, 3, 48, 4)


def campaign(folder: Path) -> list[str]:
    """The slugs of `FINDINGS`, in their order."""
    slugs = []
    with Store(folder, 7) as store:
        for finding, hours, scope in zip(FINDINGS, HOURS_AGO, SCOPES, strict=True):
            doc = store.save(finding[0], VERSIONS)
            assert doc is not None
            slugs.append(doc.slug)
            doc = finding_file.read(store.crashes / doc.slug)
            doc.found, doc.scope = time.time() - 3600 * hours, scope
            (store.crashes / doc.slug / finding_file.NAME).write_bytes(finding_file.encode(doc))
        refused: Outcome = Unsupported(Stage.IMPORT, "no")
        for number, (ops, outcome) in enumerate(((("relu", "neg"), refused), (("relu",), Ran(())))):
            outcomes = {TORCH: Ran(()), ONNXRUNTIME: Ran(()), LANE: outcome}
            store.record(index_row(number, 0.5, outcomes, ops))
        counters = store.state.counters
        counters.stage_cpu = {"compile": 30.0, "export": 10.0}
        for seconds in (0, 40, 80):
            counters.wall_seconds, counters.tests = seconds, seconds // 40
            store.save_state()
    return slugs
