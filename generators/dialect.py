"""What a dialect is: one record for each, in `generators/<name>/dialect.py`.

A record loads no rows. Those of ONNX are made when the first of them is needed, which takes 0.2 CPU seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, NoReturn, Protocol

from generators.choice import ChoiceSource
from generators.dialect_names import NAMES
from generators.drawn_graph import DrawnGraph
from generators.graph import Array, Case, Form, Graph, Input, Invalid, Node, Profile, Role, TensorType
from generators.limits import Limits
from generators.op import Op
from generators.optional_parts import ALL_PARTS, OptionalParts


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words for texts.

    model      what a user has: "ONNX model"
    reference  whose result is expected, in short
    run        a sentence without its end: who runs the model
    results    "The result agrees with " these
    judges     who says that a case is not valid
    eager      what runs the model where nothing imports it
    exporter   the component that makes what TVM imports
    exporting  what that does, with `{ops}` and `{opset}`
    exported   a sentence: why the exporter should not fail
    absent     packages that have no part in the model, though they are installed
    """

    model: str
    reference: str
    run: str
    results: str
    judges: str
    eager: str
    exporter: str
    exporting: str
    exported: str
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opsets:
    """The versions of a dialect whose graphs have an opset.

    usual        the opsets that reduction tries, the best first
    drawn        the opsets of cases that are drawn
    rows_at      the rows that are in force at an opset
    row_at       the row of the same operator that is in force at an opset; None where there is none
    operator_at  the row of an operator, by its name in models, that is in force at an opset; KeyError where none is
    node_at      the call in the version of its operator that is in force at an opset; None where it cannot be written
    fits         whether the opset can write a call in a form, for operands and results of these types
    """

    usual: Callable[[], tuple[int, ...]]
    drawn: Callable[[], Sequence[int]]
    rows_at: Callable[[int], Sequence[Op]]
    row_at: Callable[[str, int], str | None]
    operator_at: Callable[[str, int], Op]
    node_at: Callable[[Node, int], Node | None]
    fits: Callable[[Form, int, Sequence[TensorType], Sequence[TensorType]], bool]


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module of Relax in TVMScript.

    text       the class `Module`, without imports
    is_lifted  whether LambdaLift must run before anything else: no compilation takes functions in functions
    helpers    the Python functions that it calls by name. Each registers itself in TVM
    """

    text: str
    is_lifted: bool = False
    helpers: tuple[str, ...] = ()


class Draw(Protocol):
    """Draws a graph of at most `limits.max_nodes` calls of `ops`, and guards. A dialect with opsets takes this one, and
    draws it if None. The profile is drawn if None. Raises `Invalid` where none of `ops` fits a graph of these limits,
    and where the dialect has no numbers of the profile."""

    def __call__(
        self,
        source: ChoiceSource,
        limits: Limits,
        ops: Sequence[Op],
        origin: str = "",
        *,
        profile: Profile | None = None,
        symbolic: bool | None = None,
        opset: int | None = None,
    ) -> DrawnGraph: ...


def _refuse_given(model: bytes, *_: object) -> NoReturn:
    raise Invalid("given: a case of this dialect has no given model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """One dialect.

    name              in cases and on the command line
    title             for people
    words             words of reports
    rows              all rows, by name. No other dialect has a row of one of these names
    drawn             the rows that are drawn
    families          for each row, the rows of its file: operators that are alike
    draw              the generator of random cases
    check             raises `Invalid` unless a graph keeps the rules of this dialect alone
    check_given       raises `Invalid` unless the bytes of a given model may be read. What a dialect does not name says
                      that no case of it has a given model, and so does `cut_given`
    cut_given         a part of the bytes of a given model, as `generators.torch.cut_given` says
    calls_of_given    for each call of a given model, in order, the function of the model that it calls, or "", and the
                      names of its results; nothing where models have no functions
    text              the lines of a call, for people
    called            what a call calls, as reports name it: torch.add, Conv
    written           how a call is written, for titles: "in If"; "" where that does not matter
    result            the name of a result of a call, by its place; "" for the first one, and where it has none
    source            imports, and the class `Model` of a graph without symbols: a module of PyTorch, whose parameters
                      are the arguments of its constructor, in the order of `Case.owned`. None: there is none
    module            a graph as a module of Relax, whose main takes `inputs` and then `Case.owned`. None: there is
                      none. A model without either is a file of ONNX
    inputs            the arrays that a model of the case takes, in this order
    network           a small network that every lane supports. Children inherit what its run loads and caches
    words_of          the words for a graph, where they depend on it
    parts             operands and results that a call may have or not
    opsets            its versions; None where graphs have no opset
    has_layouts       whether an input may have another layout than the contiguous one
    has_empty         whether an input may have no elements
    is_counted        whether somebody has counted its operators in published models
    none_is_left_out  whether an attribute that is None is not in the call
    plain_percent     how many calls in a hundred have the plain form, where there are others
    roles             what an input of each role is called
    flattening        titles of operators whose results are often equal, or always, although their operands are not
    indexed_writes    the rows that write through an index: into places of a tensor that another tensor names
    """

    name: str
    title: str
    words: Words
    rows: Callable[[], Mapping[str, Op]]
    drawn: Callable[[], tuple[Op, ...]]
    families: Callable[[], Mapping[str, tuple[Op, ...]]]
    draw: Draw
    check: Callable[[Graph], None]
    check_given: Callable[[bytes], None] = _refuse_given
    cut_given: Callable[[bytes, Mapping[str, Input], Mapping[str, TensorType]], tuple[bytes, tuple[str, ...]]] = (
        _refuse_given
    )
    calls_of_given: Callable[[bytes], Sequence[tuple[str, tuple[str, ...]]]] = lambda model: ()
    text: Callable[[Node], list[str]]
    called: Callable[[Graph, Node], str]
    written: Callable[[Node], str] = lambda node: ""
    result: Callable[[Node, int], str] = lambda node, place: ""
    source: Callable[[Graph], str] | None = None
    module: Callable[[Graph], ModuleText] | None = None
    inputs: Callable[[Case], Mapping[str, Array]]
    network: Callable[[], Case]
    words_of: Callable[[Graph], Words] | None = None
    parts: OptionalParts = ALL_PARTS
    opsets: Opsets | None = None
    has_layouts: bool
    has_empty: bool = True
    is_counted: bool
    none_is_left_out: bool
    plain_percent: int
    roles: Mapping[Role, str]
    flattening: frozenset[str] = frozenset()
    indexed_writes: Callable[[], frozenset[str]] = frozenset

    @property
    def is_file(self) -> bool:
        """Whether the model is a file of ONNX, which holds its parameters as constants."""
        return self.source is None and self.module is None

    def row_at(self, row: str, opset: int) -> str | None:
        """The row of the same operator that a graph of this opset may have; None where there is none."""
        return self.opsets.row_at(row, opset) if self.opsets else row

    def operator_at(self, name: str, opset: int) -> Op:
        """The row of an operator, by its name in models, that a graph of this opset may have; KeyError where none is.
        Functions of rows ask for other rows here: the table of rows imports them."""
        return self.opsets.operator_at(name, opset) if self.opsets else self.rows()[name]

    def has(self, row: str, opset: int) -> bool:
        """Whether a graph of this opset may have the row."""
        return not self.opsets or any(each.name == row for each in self.opsets.rows_at(opset))

    def rows_at(self, opset: int) -> Sequence[Op]:
        """The rows that a graph of this opset may have."""
        return self.opsets.rows_at(opset) if self.opsets else self.drawn()


def names_in(text: str) -> frozenset[str]:
    """The names in a text, which blanks separate."""
    return frozenset(text.split())


def object_of(place: str) -> Callable[[], Any]:
    """A function that returns an object of a module, `module:name`. It loads the module when it is called."""
    return cache(lambda: resolve_name(place))


def part_of(dialect: str, module: str) -> Any:
    """A module that each dialect has: `module` has {} in place of its name. Raise `LookupError`, which names the file,
    where the dialect lacks it."""
    name = module.format(dialect)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):
            raise
        file = f"{name.replace('.', '/')}.py"
        raise LookupError(f"the dialect {dialect} has no {file}: docs/dialects.md says what it has") from error


def has_folder(dialect: str, package: str) -> bool:
    """Whether a dialect has a folder that not all have: `package` has {} in place of its name. What is left of a folder
    that was removed, such as `__pycache__`, is none."""
    found = find_spec(package.format(dialect))
    return found is not None and found.origin is not None


def function_of(place: str) -> Callable[..., Any]:
    """A function that loads a module when it is called, and calls its function, `module:name`."""
    found = object_of(place)
    return lambda *args, **keywords: found()(*args, **keywords)


@cache
def dialect_named(name: str) -> Dialect:
    """The record of a dialect."""
    found: Dialect = part_of(name, "generators.{}.dialect").DIALECT
    return found


def words_for(graph: Graph) -> Words:
    """The words for reports on a graph."""
    dialect = dialect_named(graph.dialect)
    return dialect.words_of(graph) if dialect.words_of else dialect.words


@cache
def dialects() -> tuple[Dialect, ...]:
    """The records of all dialects."""
    return tuple(map(dialect_named, NAMES))
