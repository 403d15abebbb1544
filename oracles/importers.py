"""The importers: one row for each way in which a model reaches the engine. `docs/adding.md` says how to add one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import cache
from typing import Self

from oracles.stage import Stage


class Reads(Enum):
    """What an importer reads."""

    MODEL = auto()  # the model itself: there is no importer
    PROGRAM = auto()  # torch.export's program, decomposed by PyTorch or by TVM
    RAW_PROGRAM = auto()  # torch.export's program, not decomposed
    GRAPH = auto()  # the graph that torch.fx.symbolic_trace gives
    PARTS = auto()  # the graphs that torch.compile splits the model into
    FILE = auto()  # the ONNX file that the TorchScript exporter writes
    DYNAMO_FILE = auto()  # the ONNX file that is written from torch.export's program
    FILE_OF_CASE = auto()  # the file of a case of ONNX
    MODULE = auto()  # the module of a case of Relax, in TVMScript
    TRACE = auto()  # what torch.jit.trace gives

    @property
    def is_program(self) -> bool:
        """Whether it is a program of torch.export."""
        return self in (Reads.PROGRAM, Reads.RAW_PROGRAM)

    @property
    def is_raw(self) -> bool:
        """Whether it is a program of torch.export that is not decomposed."""
        return self is Reads.RAW_PROGRAM

    @property
    def is_by_fx(self) -> bool:
        """Whether torch.fx traces the source of the model for it."""
        return self in (Reads.GRAPH, Reads.PARTS)

    @property
    def is_by_jit(self) -> bool:
        """Whether torch.jit traces the model for it. Relay alone reads that."""
        return self is Reads.TRACE

    @property
    def is_exported_file(self) -> bool:
        """Whether it is an ONNX file that an exporter of PyTorch writes."""
        return self in (Reads.FILE, Reads.DYNAMO_FILE)

    @property
    def is_by_dynamo(self) -> bool:
        """Whether torch.onnx.export writes it with dynamo=True."""
        return self is Reads.DYNAMO_FILE

    @property
    def is_file(self) -> bool:
        """Whether it is an ONNX file, of an exporter or of a case of ONNX."""
        return self.is_exported_file or self is Reads.FILE_OF_CASE

    @property
    def may_be_open(self) -> bool:
        """Whether the importer can leave sizes open of a model that leaves them open."""
        return self.is_program or self in (Reads.DYNAMO_FILE, Reads.FILE_OF_CASE, Reads.MODULE)

    @property
    def is_one_graph(self) -> bool:
        """Whether the importer makes one module of it, which can be kept, and compiled step by step."""
        return self is not Reads.PARTS

    @property
    def has_bare_result(self) -> bool:
        """Whether main returns a single result as it is, and not in a tuple of one."""
        return self.is_file or self is Reads.MODULE

    @property
    def exporter(self) -> str:
        """The exporter of PyTorch that makes it, in identities of failures. "" stands for the TorchScript exporter too,
        which was the only one when identities began to have it."""
        return "torch.export" if self.is_program else "onnx-dynamo" if self.is_by_dynamo else ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of TVM that makes a module.

    name        as reports name it
    module      the module of TVM that has it
    tests       TVM's test of it: tests/python/relax/{tests}.py
    tag         the tag of titles, as TVM's issues have it; "": there is none
    label       the label of TVM's tracker; "": there is none
    converters  its converters, as `fuzz diff` names them; "": it has none
    """

    name: str
    module: str
    tests: str
    tag: str = ""
    label: str = ""
    converters: str = ""

    @property
    def test(self) -> str:
        """The file of TVM's tests of it."""
        return f"tests/python/relax/{self.tests}.py"


def _of_frontend(frontend: str, name: str, tests: str, converters: str = "") -> Function:
    tag, label = _FRONTENDS[frontend]
    module = f"tvm.relax.frontend.{frontend}"
    return Function(name, module, f"test_frontend_{tests}", f"[Frontend][{tag}]", f"frontend:{label}", converters)


_FRONTENDS = {"torch": ("Torch", "pytorch"), "onnx": ("ONNX", "onnx")}
"""The modules of `tvm.relax.frontend`: the tag and the label of TVM's issues."""

FROM_EXPORTED_PROGRAM = _of_frontend("torch", "from_exported_program", "from_exported_program", "export")
FROM_FX = _of_frontend("torch", "from_fx", "from_fx", "fx")
RELAX_DYNAMO = _of_frontend("torch", "relax_dynamo", "dynamo", "fx")
FROM_ONNX = _of_frontend("onnx", "from_onnx", "onnx", "onnx")
FROM_PYTORCH = _of_frontend("torch", "from_pytorch", "from_exported_program")  # of Relay, which has no tests today
FROM_SOURCE = Function("from_source", "tvm.script", "test_tvmscript_parser", "[TVMScript]")
RUN = Function("PyTorch", "torch", "")  # no function of TVM: PyTorch runs the model itself


@dataclass(frozen=True, slots=True)
class ImporterRow:
    """What one importer is. What a row leaves out is right for an importer of a program of torch.export.

    dialect     the dialect of the cases that it reads; None: the engine decides
    reads       what it reads
    function    TVM's function that imports
    steps       the steps of a lane up to the module, in a report; {opset} and {converted} stand for the lane's opset,
                {folded} for the folding of constants, which the file of a given model is spared; "" where nothing
                imports: the dialect says what runs the model
    code        the module of `fuzzer.lanes.relax.importers` that calls it; "": it gives no single module of Relax
    script      the template in `fuzzer/templates/repro/importer/` that writes the import in a script
    family      the short name by which families of findings tell importers apart
    route       the importer that converts the same graph with the same converters; "": itself
    listed      whether `fuzzer/campaign/plan/unsupported.txt` says which operators it lacks
    percent     of how many cases of a hundred tier 1 imports; less than 100 makes it an expensive importer
    fails_with  for an expensive importer: where the plain importer ends in one of these stages, this one would too
    drawn       its place among the importers of drawn lanes of its dialect, which mostly take the first; 0: none has it
    share       its share in the lanes of both tiers of the default mix (`benchmarks/costs.py`)
    usual       whether TVM's documentation or torch.compile use it; others are options
    compared    whether blame looks if a module of this importer is right where that of another is wrong
    """

    dialect: str | None = "torch"
    reads: Reads = Reads.PROGRAM
    function: Function = FROM_EXPORTED_PROGRAM
    steps: str = ""
    code: str = "exported_program"
    script: str = "export"
    family: str = "export"
    route: str = ""
    listed: bool = False
    percent: int = 100
    fails_with: tuple[Stage, ...] = ()
    drawn: int = 0
    share: float = 0.0
    usual: bool = False
    compared: bool = False

    @property
    def is_evaluated(self) -> bool:
        """Whether tier 1 evaluates its module."""
        return bool(self.code)


_TORCH_ONNX = "`torch.onnx.export` (dynamo={}{{opset}}), {{folded}}`from_onnx`"


class Importer(StrEnum):
    """How the model reaches the engine. The word of a row is stored in findings, and is a part of names of lanes."""

    EXPORT = "export", ImporterRow(
        steps="`torch.export`, `run_decompositions`, `from_exported_program`",
        listed=True, drawn=1, share=0.39, usual=True, compared=True,
    )  # fmt: skip
    ONNX = "onnx", ImporterRow(
        reads=Reads.FILE, function=FROM_ONNX, steps=_TORCH_ONNX.format(False), code="onnx_file", script="onnx",
        family="onnx", listed=True, drawn=2, share=0.22, usual=True, compared=True,
    )  # fmt: skip
    # TVM's importer decomposes, as TVM's users do it: 0.07 CPU seconds for a case that PyTorch has exported already. Of
    # 70 random cases, 24 ended at the export or the import of EXPORT, and the same 24 at that of EXPORT_TVM.
    EXPORT_TVM = "export-tvm", ImporterRow(
        steps="`torch.export`, `from_exported_program`",
        route="export", percent=8, fails_with=(Stage.EXPORT, Stage.VERIFY, Stage.IMPORT), usual=True,
    )  # fmt: skip
    EXPORT_RAW = "export-raw", ImporterRow(
        reads=Reads.RAW_PROGRAM, steps="`torch.export`, `from_exported_program(run_ep_decomposition=False)`",
        drawn=4, share=0.24, compared=True,
    )  # fmt: skip
    FX = "fx", ImporterRow(
        reads=Reads.GRAPH, function=FROM_FX, steps="`torch.fx.symbolic_trace`, `from_fx`", code="traced_graph",
        script="fx", family="fx", listed=True, drawn=3, share=0.15,
    )  # fmt: skip
    DYNAMO = "dynamo", ImporterRow(
        reads=Reads.PARTS, function=RELAX_DYNAMO, steps="`torch.compile` with `relax_dynamo`", code="",
        route="fx", usual=True,
    )  # fmt: skip
    # it exports again: 0.54 CPU seconds
    ONNX_DYNAMO = "onnx-dynamo", ImporterRow(
        reads=Reads.DYNAMO_FILE, function=FROM_ONNX, steps=_TORCH_ONNX.format(True), code="onnx_file", script="onnx",
        family="onnx", percent=3, fails_with=(Stage.EXPORT,),
    )  # fmt: skip
    ONNX_MODEL = "onnx-model", ImporterRow(
        dialect="onnx", reads=Reads.FILE_OF_CASE, function=FROM_ONNX, steps="{converted}`from_onnx`",
        code="onnx_file", script="onnx", family="onnx", drawn=1, share=1.0, usual=True,
    )  # fmt: skip
    MODULE = "module", ImporterRow(
        dialect="relax", reads=Reads.MODULE, function=FROM_SOURCE, steps="`from_source`", code="script",
        script="module", family="module", drawn=1, share=1.0, usual=True,
    )  # fmt: skip
    TRACE = "trace", ImporterRow(  # Relay reads it
        reads=Reads.TRACE, function=FROM_PYTORCH, steps="`torch.jit.trace`, `from_pytorch`", code="",
    )  # fmt: skip
    EAGER = "eager", ImporterRow(
        dialect=None, reads=Reads.MODEL, function=RUN, code="",
    )  # fmt: skip

    row: ImporterRow

    # mypy takes `Importer("fx")`, which looks a row up, for a call of this: so `row` has a default
    def __new__(cls, word: str, row: ImporterRow = ImporterRow()) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.row = row
        return member

    @property
    def route(self) -> Importer:
        """The importer that converts the same graph with the same converters."""
        return Importer(self.row.route or self.value)

    @property
    def program(self) -> Importer | None:
        """The importer by which PyTorch's own run of the program that this one reads is named; None: no program."""
        programs = {Reads.PROGRAM: Importer.EXPORT, Reads.RAW_PROGRAM: Importer.EXPORT_RAW}
        return programs.get(self.row.reads)


@cache
def plain_importer(dialect: str) -> Importer:
    """The importer of the plain lanes of a dialect."""
    return drawn_importers(dialect)[0]


@cache
def drawn_importers(dialect: str) -> tuple[Importer, ...]:
    """The importers of lanes that are drawn for a case of the dialect. Drawn lanes mostly have the first."""
    return tuple(sorted((each for each in _of(dialect) if each.row.drawn), key=lambda each: each.row.drawn))


def evaluated_importers() -> tuple[Importer, ...]:
    """The importers of tier 1, one dialect after the other, and in each the expensive ones last."""
    dialects = list(dict.fromkeys(each.row.dialect for each in Importer))
    evaluated = (each for each in Importer if each.row.is_evaluated)
    return tuple(sorted(evaluated, key=lambda each: (dialects.index(each.row.dialect), -each.row.percent)))


def shares_of(dialect: str) -> Mapping[Importer, float]:
    """The share of each importer in the lanes of the default mix, the largest first."""
    shares = {each: each.row.share for each in _of(dialect) if each.row.share}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def _of(dialect: str) -> Iterator[Importer]:
    return (each for each in Importer if each.row.dialect == dialect)


EXPENSIVE = {each: each.row.percent for each in Importer if each.row.percent < 100}
"""The importers that cost too much to read every case, and the percentage of cases that they read. With guidance, it is
the percentage of one that shows as many new failures per CPU second as the cheap ones together."""
