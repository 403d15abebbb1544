"""Changes in place of an exported program, as calls that change nothing.

After `part = select(x, 0, 1); r = relu_(part)`, a reader of `x` gets `select_scatter(x, r, 0, 1)`, and a reader of
another part of `x` gets that part of this result. The calls are made where a value is read: what nothing reads costs
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fuzzer.seeds.torch.program import Arg, Call, Exact, Ref, Step
from generators.graph import TensorType
from generators.torch.ops.aten import PREFIX

WRITES = {"select": "select_scatter", "slice": "slice_scatter", "diagonal": "diagonal_scatter"}
"""Views of a part, and what writes such a part into a copy of the whole, by the same further arguments."""
RESHAPED = ("view", "unsqueeze", "squeeze", "alias", "detach")
"""Views of all elements in their order."""
FOLLOWED = frozenset((*WRITES, *RESHAPED, "transpose", "t", "permute", "expand"))
"""The operators that always give a view. What others give, such as reshape, may be a copy."""
OVERLOADS = {"transpose": "int"}
MOST_CHAINED = 20
"""How many views of views are followed."""


@dataclass(frozen=True, slots=True)
class _View:
    """A value that shares the memory of `base`.

    owner  the value at the end of the chain of views
    step   computes the view from its base; None where the view is not followed
    depth  how many views are between it and its owner
    """

    base: str
    owner: str
    step: Step | None
    depth: int


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of the operand into the result. Both are "" where nobody knows what was changed."""

    operand: str
    result: str


class Memory:
    """Which values share memory, and how it has changed. `types` get those of the values that are computed anew."""

    def __init__(self, types: dict[str, TensorType]) -> None:
        self._types = types
        self._steps: list[Step] = []
        self._views: dict[str, _View] = {}
        self._operand: dict[str, str] = {}  # of a change, by its result: the two are one value
        self._changes: dict[str, list[_Change]] = {}  # by the owner of the memory
        self._known: dict[str, dict[int, str]] = {}  # by value: its names, by the number of changes before

    def take_steps(self) -> list[Step]:
        """The steps that compute what was read since the last call."""
        steps, self._steps = self._steps, []
        return steps

    def view(self, operand: str, result: str, step: Step) -> None:
        """Record that a result of a step may be a view of the operand, as that is now."""
        base = self._operand.get(operand, operand)
        owner, depth = self._owner(base), self._views[base].depth + 1 if base in self._views else 1
        is_followed = len(step.results) == len(step.calls) == 1 and step.calls[0].function in FOLLOWED
        if depth > MOST_CHAINED:
            base, is_followed, depth = owner, False, 1
        self._views[result] = _View(base, owner, step if is_followed else None, depth)
        self._known[result] = {self._times(base): result}

    def change(self, operand: str, result: str) -> None:
        """Record that the operand was changed in place, into the result."""
        own = self._operand.get(operand, operand)
        self._operand[result] = own
        self._changes.setdefault(self._owner(own), []).append(_Change(own, result))

    def lose(self, name: str) -> None:
        """Record that the memory of the value was perhaps changed, nobody knows how."""
        self._changes.setdefault(self._owner(self._operand.get(name, name)), []).append(_Change("", ""))

    def now(self, name: str) -> str:
        """The name under which a value is read now. It has a colon where a change is not followed: no step makes it,
        which cuts the graph."""
        own = self._operand.get(name, name)
        times = self._times(own)
        return self._after(own, times) if times else name

    def _owner(self, name: str) -> str:
        return self._views[name].owner if name in self._views else name

    def _times(self, name: str) -> int:
        return len(self._changes.get(self._owner(name), ()))

    def _after(self, name: str, times: int) -> str:
        """The value after the first `times` changes of its memory."""
        known = self._known.setdefault(name, {0: name})
        changes = self._changes.get(self._owner(name), ())
        start = times
        while start not in known:
            operand = changes[start - 1].operand
            if operand == name:
                known[start] = changes[start - 1].result
            elif not operand:
                known[start] = self._made(name, start, None, None)
            elif not self._part_in(name, operand):
                known[start] = self._taken(name, start)
            else:
                start -= 1
        for time in range(start + 1, times + 1):
            known[time] = self._written(name, known[time - 1], time)
        return known[times]

    def _part_in(self, whole: str, changed: str) -> str:
        """The view of `whole` that `changed` is, or is a part of; "" where there is none."""
        while changed in self._views:
            base = self._views[changed].base
            if base == whole:
                return changed
            changed = base
        return ""

    def _written(self, name: str, before: str, time: int) -> str:
        """The value after a change of a part of it."""
        part = self._part_in(name, self._changes[self._owner(name)][time - 1].operand)
        view, own = self._views[part].step, self._types.get(name)
        if view is None or own is None:
            return self._made(name, time, None, None)
        call = _write(view.calls[0], before, self._after(part, time), own)
        return self._made(name, time, call, _exact(call) if call else None)

    def _taken(self, name: str, time: int) -> str:
        """The view of its base, as that is after the first `time` changes."""
        view = self._views[name]
        if view.step is None:
            return self._made(name, time, None, None)
        (call,) = view.step.calls
        base, operand = self._after(view.base, time), next(iter(call.args))
        exact = replace(view.step.exact, operands=(base,)) if view.step.exact else None
        return self._made(name, time, replace(call, args={**call.args, operand: Ref(base)}), exact)

    def _made(self, name: str, time: int, call: Call | None, exact: Exact | None) -> str:
        """The name of the value that the call gives."""
        made = f"{name}@{time}" if call else f"{name}:{time}"
        if name in self._types:
            self._types[made] = self._types[name]
        if call:
            call = replace(call, results=(made,))
            self._steps.append(Step(call.function, (made,), (call,), exact=exact))
        return made


def _write(view: Call, whole: str, part: str, type: TensorType) -> Call | None:
    """The call that gives the whole, of this type, with this part in the place of the view. None: there is none."""
    others: Mapping[str, Arg] = dict(list(view.args.items())[1:])
    if view.function in WRITES:
        return Call(WRITES[view.function], {"self": Ref(whole), "src": Ref(part), **others}, ())
    if view.function in RESHAPED and "dtype" not in others:  # a view of the same bits as another type is no such view
        return Call("view", {"self": Ref(part), "size": type.sizes}, ())
    if view.function in ("transpose", "t"):
        return Call(view.function, {"self": Ref(part), **others}, ())
    if view.function == "permute" and isinstance(dims := others.get("dims"), tuple):
        places = [dim % len(dims) for dim in dims if isinstance(dim, int)]
        return Call("permute", {"self": Ref(part), "dims": tuple(places.index(axis) for axis in range(len(dims)))}, ())
    return None  # as for expand, of which several elements are one


def _exact(call: Call) -> Exact:
    """The call of the operator itself."""
    function = f"{PREFIX}{call.function}.{OVERLOADS.get(call.function, 'default')}"
    operands = tuple(dict.fromkeys(call.operands))
    texts = [
        f"a{operands.index(arg.name)}" if isinstance(arg, Ref) else f"{name}={_text(arg)}"
        for name, arg in call.args.items()
    ]
    return Exact(function, f"{function}({', '.join(texts)})", operands)


def _text(arg: Arg) -> str:
    return repr(list(arg)) if isinstance(arg, tuple) else repr(arg)
