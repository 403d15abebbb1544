"""Translate nodes of an ONNX file into calls of PyTorch: what translation rules are written with.

A rule says that `Gemm` is `addmm`. The row of the operator table says what addmm accepts and returns. The
row also decides whether the call is valid (`fuzzer.seeds.torch.row_of_call`). The rules cover what current
exporters write. A node with an attribute that its rule does not read is not translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from fuzzer.seeds.bounds import MAX_RANK
from fuzzer.seeds.torch.program import Arg, Call, Ref
from generators.graph import Array, Role, TensorType
from generators.onnx.model import Node


class Untranslatable(Exception):
    """The node has no translation. The message gives the reason."""


Value = int | float | str | tuple[int | float | str, ...]


class NodeInTranslation:
    """A node's inputs and attributes for its rule to read, and the calls that the rule has made so far."""

    def __init__(self, node: Node, translation: Translation) -> None:
        self._node, self._translation = node, translation
        self.op, self.opset = node.op, translation.opset
        self._attributes = {item.name: item.value for item in node.attributes if item.tensor is None}
        self._read: set[str] = set()
        self.calls: list[Call] = []
        self.outputs = tuple(name or f"{node.outputs[0]}:unused{place}" for place, name in enumerate(node.outputs))

    # inputs

    def has(self, place: int) -> bool:
        return place < len(self._node.inputs) and bool(self._node.inputs[place])

    def ref(self, place: int) -> Ref:
        return Ref(self._input(place))

    def refs(self) -> tuple[Ref, ...]:
        return tuple(map(Ref, self._node.inputs))

    def type(self, place: int) -> TensorType:
        return self._type(self._input(place))

    def out(self, place: int = 0) -> TensorType:
        return self._type(self._output(place))

    def _input(self, place: int) -> str:
        if place >= len(self._node.inputs):
            raise Untranslatable(f"input {place} is missing")
        return self._node.inputs[place]

    def _output(self, place: int = 0) -> str:
        if place >= len(self.outputs):
            raise Untranslatable(f"output {place} is missing")
        return self.outputs[place]

    def _type(self, name: str) -> TensorType:
        if name not in self._translation.types:
            raise Untranslatable(f"the type of {name} is unknown or not supported")
        return self._translation.types[name]

    def array(self, place: int) -> Array:
        """The values of an input that is a constant of the model."""
        name = self._input(place)
        if name not in self._translation.constants:
            raise Untranslatable(f"input {place} is computed")
        return self._translation.constants[name]

    def ints(self, place: int, attribute: str = "", otherwise: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Integers that are an input in current operator sets and an attribute in older ones."""
        if not self.has(place):
            return self.list(attribute, otherwise)
        array = self.array(place)
        if array.size > 2 * MAX_RANK:  # one constant may be the input of any number of nodes
            raise Untranslatable(f"input {place} has {array.size} numbers")
        return tuple(int(item) for item in array.reshape(-1))

    # attributes

    def attribute(self, name: str, otherwise: Value) -> Value:
        self._read.add(name)
        return self._attributes.get(name, otherwise)

    def integer(self, name: str, otherwise: int) -> int:
        value = self.attribute(name, otherwise)
        if not isinstance(value, int):
            raise Untranslatable(f"{name} is {value!r}")
        return value

    def number(self, name: str, otherwise: float) -> float:
        """A float32 of the file as the shortest decimal with the same value: 1e-05, not 9.999999747378752e-06."""
        value = self.attribute(name, otherwise)
        if not isinstance(value, int | float):
            raise Untranslatable(f"{name} is {value!r}")
        return float(str(np.float32(value)))

    def list(self, name: str, otherwise: tuple[int, ...] | None = None) -> tuple[int, ...]:
        value = self.attribute(name, () if otherwise is None else otherwise)
        if not isinstance(value, tuple) or (not value and otherwise is None):
            raise Untranslatable(f"{name} is not given")
        return tuple(item for item in value if isinstance(item, int))

    def ignore(self, *names: str) -> None:
        self._read.update(names)

    def require(self, name: str, *values: Value) -> None:
        """Accept these values only. The first one is the default."""
        if (value := self.attribute(name, values[0])) not in values:
            raise Untranslatable(f"{name} is {value!r}")

    def check_all_read(self) -> None:
        if rest := sorted(self._attributes.keys() - self._read):
            raise Untranslatable(f"has {rest[0]}={self._attributes[rest[0]]!r}")

    # calls

    def call(self, function: str, args: Mapping[str, Arg], results: Iterable[str] | None = None) -> None:
        self.calls.append(Call(function, dict(args), self.outputs if results is None else tuple(results)))

    def intermediate(self, function: str, args: Mapping[str, Arg]) -> Ref:
        """Add a call whose result only other calls of this node read."""
        name = f"{self._output()}:{len(self.calls)}"
        self.call(function, args, (name,))
        return Ref(name)

    def weight(self, suffix: str, type: TensorType) -> Ref:
        """Add a parameter that replaces one which ONNX lays out differently."""
        return self._translation.weight(f"{self._output()}:{suffix}", type)


Rule = Callable[[NodeInTranslation], None]


_UNFIT = (ArithmeticError, LookupError, TypeError, ValueError)


class Translation:
    """Translates the nodes of one file by rules, each under the name of its ONNX operator.

    `types` and `roles` contain the parameters that rules have added, beside the types that were given.
    """

    def __init__(
        self,
        opset: int,
        types: Mapping[str, TensorType],
        constants: Mapping[str, Array],
        rules: Mapping[str, Rule],
    ) -> None:
        self.opset = opset
        self.types = dict(types)
        self.constants = constants
        self.roles: dict[str, Role] = {}
        self._rules = rules

    def calls(self, node: Node) -> list[Call]:
        """Raise `Untranslatable`. ONNX's checker does not compare attributes and constants with ranks: a rule may meet
        an axis of a scalar, or an empty constant."""
        rule = self._rules.get(node.op)
        if rule is None:
            raise Untranslatable("has no translation rule")
        translated = NodeInTranslation(node, self)
        try:
            rule(translated)
        except _UNFIT as error:
            raise Untranslatable(f"its operands and attributes do not fit together ({type(error).__name__})") from None
        translated.check_all_read()
        return translated.calls

    def weight(self, name: str, type: TensorType) -> Ref:
        self.types[name], self.roles[name] = type, Role.PARAM
        return Ref(name)
