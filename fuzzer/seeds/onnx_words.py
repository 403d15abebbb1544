"""ONNX's operators in PyTorch's words.

This is a phrase book, and no table of operators: it says `Gemm` is `addmm`, and nothing of what addmm takes or gives;
that stays with its row, which also judges whether the sentence makes sense (`rows`). It holds what exporters of today's
models write. An attribute that nobody asks for has no word, and makes the node a cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from fuzzer.onnx_model import Node
from fuzzer.seeds.program import MAX_RANK, Arg, Call, Ref
from generators.graph import Array, Role, TensorType


class NoWord(Exception):
    """The node cannot be said; the message says why."""


Value = int | float | str | tuple[int | float | str, ...]


class Phrase:
    """A node in the making: what its inputs and attributes are, and the calls that say it."""

    def __init__(self, node: Node, book: Translation) -> None:
        self._node, self._book = node, book
        self.op, self.opset = node.op, book.opset
        self._attributes = {item.name: item.value for item in node.attributes if item.tensor is None}
        self._asked: set[str] = set()
        self.calls: list[Call] = []
        self.outputs = tuple(name or f"{node.outputs[0]}:unused{place}" for place, name in enumerate(node.outputs))

    # inputs

    def has(self, place: int) -> bool:
        return place < len(self._node.inputs) and bool(self._node.inputs[place])

    def ref(self, place: int) -> Ref:
        return Ref(self._node.inputs[place])

    def refs(self) -> tuple[Ref, ...]:
        return tuple(map(Ref, self._node.inputs))

    def type(self, place: int) -> TensorType:
        return self._type(self._node.inputs[place])

    def out(self, place: int = 0) -> TensorType:
        return self._type(self.outputs[place])

    def _type(self, name: str) -> TensorType:
        if name not in self._book.types:
            raise NoWord(f"the type of {name} is not known, or none of ours")
        return self._book.types[name]

    def array(self, place: int) -> Array:
        """The numbers of an input that the model owns."""
        name = self._node.inputs[place]
        if name not in self._book.constants:
            raise NoWord(f"input {place} is computed")
        return self._book.constants[name]

    def ints(self, place: int, attribute: str = "", otherwise: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Integers that are an input today, and were an attribute in older operator sets."""
        if not self.has(place):
            return self.list(attribute, otherwise)
        array = self.array(place)
        if array.size > 2 * MAX_RANK:  # one constant may be the input of any number of nodes
            raise NoWord(f"input {place} has {array.size} numbers")
        return tuple(int(item) for item in array.reshape(-1))

    # attributes

    def attribute(self, name: str, otherwise: Value) -> Value:
        self._asked.add(name)
        return self._attributes.get(name, otherwise)

    def integer(self, name: str, otherwise: int) -> int:
        value = self.attribute(name, otherwise)
        if not isinstance(value, int):
            raise NoWord(f"{name} is {value!r}")
        return value

    def number(self, name: str, otherwise: float) -> float:
        """A float32 of the file as the shortest decimal that means it: 1e-05, and not 9.999999747378752e-06."""
        value = self.attribute(name, otherwise)
        if not isinstance(value, int | float):
            raise NoWord(f"{name} is {value!r}")
        return float(str(np.float32(value)))

    def list(self, name: str, otherwise: tuple[int, ...] | None = None) -> tuple[int, ...]:
        value = self.attribute(name, () if otherwise is None else otherwise)
        if not isinstance(value, tuple) or (not value and otherwise is None):
            raise NoWord(f"{name} is not given")
        return tuple(item for item in value if isinstance(item, int))

    def ignore(self, *names: str) -> None:
        self._asked.update(names)

    def require(self, name: str, *values: Value) -> None:
        """The first is the default."""
        if (value := self.attribute(name, values[0])) not in values:
            raise NoWord(f"{name} is {value!r}")

    def check_all_asked(self) -> None:
        if rest := sorted(self._attributes.keys() - self._asked):
            raise NoWord(f"has {rest[0]}={self._attributes[rest[0]]!r}")

    # calls

    def say(self, word: str, args: Mapping[str, Arg], results: Iterable[str] | None = None) -> None:
        self.calls.append(Call(word, dict(args), self.outputs if results is None else tuple(results)))

    def between(self, word: str, args: Mapping[str, Arg]) -> Ref:
        """A call whose result only another call of this node reads."""
        name = f"{self.outputs[0]}:{len(self.calls)}"
        self.say(word, args, (name,))
        return Ref(name)

    def weight(self, suffix: str, type: TensorType) -> Ref:
        """A parameter in the place of one that ONNX lays out otherwise."""
        return self._book.weight(f"{self.outputs[0]}:{suffix}", type)


Saying = Callable[[Phrase], None]


class Translation:
    """`types` and `roles` are of the parameters that phrases put in the place of others."""

    def __init__(self, opset: int, types: Mapping[str, TensorType], constants: Mapping[str, Array]) -> None:
        self.opset = opset
        self.types = dict(types)
        self.constants = constants
        self.roles: dict[str, Role] = {}

    def calls(self, node: Node) -> list[Call]:
        """Raise `NoWord`."""
        phrase = Phrase(node, self)
        saying = book().get(node.op)
        if saying is None:
            raise NoWord("is not in the phrase book")
        saying(phrase)
        phrase.check_all_asked()
        return phrase.calls

    def weight(self, name: str, type: TensorType) -> Ref:
        self.types[name], self.roles[name] = type, Role.PARAM
        return Ref(name)


def book() -> Mapping[str, Saying]:
    from fuzzer.seeds import onnx_layers, onnx_phrases

    return {**onnx_phrases.PHRASES, **onnx_layers.PHRASES}
