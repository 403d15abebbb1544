from dataclasses import replace

import msgspec

from fuzzer.findings.finding_doc import FORMAT, FindingDoc, StoredEvidence
from fuzzer.findings.related import causes
from fuzzer.lanes import TVM_LANES
from fuzzer.signature import Signature
from oracles.finding import Component, Kind, Mismatch
from oracles.outcome import Stage

EXPORT = ["relax-export-llvm", "relax-export-c"]


def doc(kind: Kind, *ops: str, lanes: list[str] = EXPORT) -> FindingDoc:
    identity = Signature(kind, Component.TVM, Stage.RUN, ops=ops)
    evidence = StoredEvidence(mismatch=Mismatch(0, "a", "b"))
    name = f"{kind}-{'-'.join(ops)}"
    return FindingDoc(
        FORMAT, name, name, kind, Component.TVM, lanes, list(ops), False, "3 of 3", identity, TVM_LANES[0], evidence,
        list(ops), 1, True, "", {},
    )  # fmt: skip


ANY = doc(Kind.WRONG_DTYPE, "any")
ANY_WHERE = doc(Kind.REJECTED, "any", "where")


def test_what_a_wrong_dtype_upstream_explains() -> None:
    assert causes([ANY_WHERE, ANY]) == {"rejected-any-where": ANY}


def test_what_stands_alone() -> None:
    assert causes([ANY, doc(Kind.REJECTED, "where")]) == {}
    assert causes([doc(Kind.WRONG_VALUE, "any"), ANY_WHERE]) == {}, "a wrong value does not make others refuse"
    assert causes([ANY, doc(Kind.WRONG_DTYPE, "any")]) == {}


def test_only_on_the_same_lanes_and_never_through_a_flaky_one() -> None:
    assert causes([doc(Kind.WRONG_DTYPE, "any", lanes=["relax-onnx-llvm"]), ANY_WHERE]) == {}
    flaky = msgspec.structs.replace(ANY, flaky=True)
    assert causes([flaky, ANY_WHERE]) == {}
    exporter = msgspec.structs.replace(ANY, component=Component.EXPORTER, identity=replace(ANY.identity))
    assert causes([exporter, ANY_WHERE]) == {}
