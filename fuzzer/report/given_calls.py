"""The calls of a given program of PyTorch as the lines of a function.

`fuzzer.seeds.torch.exact_call` writes the call of one node for the operator table, with numbers in place of sizes. Here
sizes are values, and the lines stand in a script: all of them are `Source`.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable
from keyword import iskeyword

from fuzzer.report.repro_imports import IMPORTED
from fuzzer.report.script_source import Source, joined, listed, literal_of, name, source, tuple_of
from fuzzer.seeds.torch.exported import (
    LAYOUTS,
    MEMORY_FORMATS,
    NAMES,
    POSITIONAL,
    Argument,
    Complex,
    Device,
    Flag,
    Graph,
    GraphArgument,
    Node,
    OptionalTensor,
    Real,
    Size,
    Tensor,
)

MOST_NESTED = 8
"""How deep branches may be in branches."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,199}")
_TAKEN = frozenset((*IMPORTED, *dir(builtins), "self"))
"""Names that a script uses in another sense. A value of the program that has one gets an underscore."""

_ATEN, _HIGHER_ORDER, _OPERATOR = "torch.ops.aten.", "torch.ops.higher_order.", "_operator."
_SIZE = "torch.ops.aten.sym_size.int"
_CHANGES_BUFFERS = ("batch_norm", "instance_norm", "moving_avg_obs")
"""Parts of the names of operators that may change running statistics without saying so by an underscore."""

_SIGNS = {
    "add": source("+"), "and_": source("&"), "eq": source("=="), "floordiv": source("//"), "ge": source(">="),
    "gt": source(">"), "le": source("<="), "lt": source("<"), "mod": source("%"), "mul": source("*"),
    "ne": source("!="), "or_": source("|"), "sub": source("-"), "truediv": source("/"),
}  # fmt: skip
"""The signs of the functions of Python's module operator."""


class NoScript(Exception):
    """The program cannot be written as source. The message says what it has or does."""


class Names:
    """Names of a script that stand for names of a document. None is a name of Python or one that the script has."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {*_TAKEN, *taken}

    def new(self, text: str) -> Source:
        """Raise `NoScript` where the text is no name."""
        if not _NAME.fullmatch(text):
            raise NoScript(f"has a name that is no name of Python: {text[:60]!a}")
        while text in self._taken or iskeyword(text):
            text += "_"
        self._taken.add(text)
        return name(text)


class Body:
    """The lines of forward, or of a branch.

    changes  whether a call may change an input or a buffer
    """

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[Source] = []
        self.changes = False
        self._depth = depth
        self._names = Names()
        self._values: dict[str, Source] = {}

    def add(self, text: str) -> Source:
        """The name of a new value in the script."""
        if text in self._values:
            raise NoScript(f"has two values of the name {text[:60]!a}")
        self._values[text] = made = self._names.new(text)
        return made

    def add_own(self, text: str) -> Source:
        """The name of a parameter or buffer, which is an attribute of the module."""
        made = self.add(text)
        self._values[text] = source("self.{}", made)
        return made

    def write(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            call = self._call(node)
            results = self._results(node)
            self.lines.append(source("{} = {}", results, call) if results else call)

    def give(self, results: list[str], *, alone: bool = False) -> None:
        """End with the results in a tuple. `alone`: there is one, which stands in no tuple."""
        values = [self._value(each) for each in results]
        self.lines.append(source("return {}", values[0] if alone and len(values) == 1 else tuple_of(values)))

    def _value(self, text: str) -> Source:
        if text not in self._values:
            raise NoScript(f"reads {text[:60]!a}, for which there are no numbers")
        return self._values[text]

    def _results(self, node: Node) -> Source:
        """What stands left of the sign of equality; nothing where the call has no result."""
        outputs, alone = node.outputs, not node.target.startswith(_HIGHER_ORDER) or node.is_hop_single_tensor_return
        if len(outputs) == 1 and outputs[0].as_tensors is not None:
            names, alone = [self.add(each.name) for each in outputs[0].as_tensors], False
        else:
            names = [self._result(each) for each in outputs]
        if len(names) == 1:
            return names[0] if alone else source("({},)", names[0])
        return joined(", ", names)

    def _result(self, arg: Argument) -> Source:
        match arg:
            case Argument(as_tensor=Tensor(name=text)):
                return self.add(text)
            case (
                Argument(as_sym_int=Size(as_name=str(text)))
                | Argument(as_sym_bool=Flag(as_name=str(text)))
                | Argument(as_sym_float=Real(as_name=str(text)))
            ):
                return self.add(text)
            case Argument(as_none=bool()):
                return source("_")
        raise NoScript("makes a value that a script cannot write")

    def _call(self, node: Node) -> Source:
        target = node.target
        if any(map(iskeyword, target.split("."))):
            raise NoScript(f"calls {target[:60]!a}, which is no name of Python")
        args = self._arguments(node)
        if target.startswith(_OPERATOR):
            return _arithmetic(target.removeprefix(_OPERATOR), args)
        if target == _SIZE and len(args) == 2:
            return source("{}.shape[{}]", *args)
        operator = target.removeprefix(_ATEN).partition(".")[0]
        in_place = operator.endswith("_") and not operator.endswith("__")
        self.changes |= in_place or any(each in operator for each in _CHANGES_BUFFERS)
        return source("{}({})", name(target), joined(", ", args))

    def _arguments(self, node: Node) -> list[Source]:
        """Those with a name come last. One with a name that is None is left out."""
        positional, named = list[Source](), dict[str, Source]()
        for each in node.inputs:
            written = self._argument(each.arg, in_tuples=node.target.startswith(_HIGHER_ORDER))
            if each.kind == POSITIONAL or not each.name:
                positional.append(written)
                if named:
                    raise NoScript("has an argument without a name behind one that has a name")
            elif each.name in named or not _NAME.fullmatch(each.name) or iskeyword(each.name):
                raise NoScript(f"has an argument with the name {each.name[:60]!a}")
            elif not each.arg.as_none:
                named[each.name] = source("{}={}", name(each.name), written)
        return [*positional, *named.values()]

    def _argument(self, arg: Argument, *, in_tuples: bool) -> Source:
        several = tuple_of if in_tuples else listed
        match arg:
            case Argument(as_tensor=Tensor(name=text)):
                return self._value(text)
            case Argument(as_tensors=list(each)):
                return several([self._value(item.name) for item in each])
            case Argument(as_optional_tensor=OptionalTensor() as item):
                return self._optional(item)
            case Argument(as_optional_tensors=list(some)):
                return several([self._optional(item) for item in some])
            case Argument(as_sym_int=Size() as size):
                return self._size(size)
            case Argument(as_sym_ints=list(sizes)):
                return several([self._size(size) for size in sizes])
            case Argument(as_sym_bool=Flag(as_name=text, as_bool=value)):
                return self._value(text) if text is not None else literal_of(value)
            case Argument(as_sym_float=Real(as_name=text, as_float=number)):
                return self._value(text) if text is not None else _number(number)
            case Argument(as_graph=GraphArgument(name=text, graph=Graph() as graph)):
                return self._branch(text, graph)
            case _:
                return _constant(arg)

    def _optional(self, item: OptionalTensor) -> Source:
        return self._value(item.as_tensor.name) if item.as_tensor else literal_of(None)

    def _size(self, size: Size) -> Source:
        return self._value(size.as_name) if size.as_name is not None else literal_of(size.as_int)

    def _branch(self, text: str, graph: Graph) -> Source:
        """Write a branch as a function in front of the call, and return its name."""
        if self._depth == MOST_NESTED:
            raise NoScript(f"has branches in branches, more than {MOST_NESTED} deep")
        inner = Body(self._depth + 1)
        taken = [inner._result(each) for each in graph.inputs]
        inner.write(graph.nodes)
        inner.give([_tensor(each) for each in graph.outputs], alone=graph.is_single_tensor_return)
        self.changes |= inner.changes
        made = self._names.new(text)
        self.lines.append(source("def {}({}):", made, joined(", ", taken)))
        self.lines += [source("    {}", line) for line in inner.lines]
        return made


def _arithmetic(function: str, args: list[Source]) -> Source:
    """An expression of Python's operators. Each operand is a name or a number."""
    match function, args:
        case "neg", [one]:
            return source("-{}", one)
        case "getitem", [one, other]:
            return source("{}[{}]", one, other)
        case "pow", [one, other]:
            return source("pow({}, {})", one, other)
        case _, [one, other] if function in _SIGNS:
            return source("{} {} {}", one, _SIGNS[function], other)
    raise NoScript(f"calls operator.{function[:60]}, which a script cannot write")


def _tensor(arg: Argument) -> str:
    if arg.as_tensor is None:
        raise NoScript("has a branch that gives something else than tensors")
    return arg.as_tensor.name


def _number(value: float | str | None) -> Source:
    """JSON has no infinities, so that they are strings there."""
    try:
        return literal_of(float(value if value is not None else "nothing"))
    except ValueError:
        raise NoScript(f"has the number {str(value)[:60]!a}") from None


def _constant(arg: Argument) -> Source:
    match arg:
        case Argument(as_bool=bool(value)) | Argument(as_int=int(value)) | Argument(as_string=str(value)):
            return literal_of(value)
        case Argument(as_float=float() | str() as number):
            return _number(number)
        case Argument(as_floats=list(numbers)):
            return listed(map(_number, numbers))
        case Argument(as_complex=Complex(real=real, imag=imaginary)):
            return source("complex({}, {})", _number(real), _number(imaginary))
        case Argument(as_ints=list(each)) | Argument(as_bools=list(each)) | Argument(as_int_lists=list(each)):
            return literal_of(each)
        case Argument(as_none=bool()):
            return literal_of(None)
        case Argument(as_device=Device(type="cpu", index=None)):
            return source('"cpu"')
        case Argument(as_scalar_type=int(code)) if code in NAMES:
            return source("torch.{}", name(NAMES[code]))
        case Argument(as_layout=int(code)) if code in LAYOUTS:
            return source("torch.{}", name(LAYOUTS[code]))
        case Argument(as_memory_format=int(code)) if code in MEMORY_FORMATS:
            return source("torch.{}", name(MEMORY_FORMATS[code]))
    raise NoScript("has an argument that a script cannot write")
