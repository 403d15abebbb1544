"""How likely two findings have one cause: a logistic regression over what they have in common.

The weights are learnt from labelled findings (`benchmarks/families.py`) and stand in `weights.json`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.resources import files

import msgspec

from fuzzer.findings.families.traits import Traits

Rarity = Mapping[str, float]
"""The information in a line, a call or a word: the negative logarithm of how many of the labelled findings have it."""


class Weights(msgspec.Struct, frozen=True):
    """A logistic regression.

    bias       the log odds of two findings that have nothing in common
    weights    the log odds that each feature adds
    threshold  the least mean log odds with the members of a family
    rarity     of what several labelled findings have
    rarest     of everything else
    """

    bias: float
    weights: dict[str, float]
    threshold: float
    rarity: dict[str, float]
    rarest: float


@cache
def weights() -> Weights:
    return msgspec.json.decode((files("fuzzer.findings.families") / "weights.json").read_bytes(), type=Weights)


def log_odds(one: Traits, other: Traits, known: Weights | None = None) -> float:
    """The log odds that two findings have one cause. Minus infinity where they do not fail at one place and have no
    operator in common: a message alone never makes a family."""
    known = known or weights()
    if not may_be_one(one, other):
        return -math.inf
    found = features(one, other, known.rarity, known.rarest)
    return known.bias + sum(known.weights[name] * value for name, value in found.items())


def may_be_one(one: Traits, other: Traits) -> bool:
    """Whether the findings have a function, a line, an operator or the damage of one dtype in common."""
    same_place = one.culprits & other.culprits or one.functions & other.functions or one.lines & other.lines
    if same_place or one.calls & other.calls or one.names & other.names or one.siblings & other.operators:
        return True
    if one.operators & other.siblings:
        return True
    return one.symptom == other.symptom and one.symptom in _ONE_PLACE and one.types == other.types


_ONE_PLACE = frozenset({"memory", "NaN is lost", "dtype argument ignored", "always float32"})
"""Symptoms that one place of the compiler can cause for many operators."""


def features(one: Traits, other: Traits, rarity: Rarity, rarest: float) -> dict[str, float]:
    """What two findings have in common, each from 0 to 1."""
    pair = _Pair(one, other, rarity, rarest)
    return {**_place(pair), **_code(pair), **_symptom(pair), **_message_and_operators(pair), **_circumstances(pair)}


class _Pair:
    """Two findings, with what several features need."""

    def __init__(self, one: Traits, other: Traits, rarity: Rarity, rarest: float) -> None:
        self.one, self.other = one, other
        self._rarity, self._rarest = rarity, rarest
        self.same_symptom = float(one.symptom == other.symptom)
        self.lines, self.lines_of_smaller = self.common(lambda each: each.lines)
        self.calls, self.calls_of_smaller = self.common(lambda each: each.calls)
        self.needs, _ = self.common(lambda each: each.needs)

    def common(self, part: Callable[[Traits], frozenset[str]]) -> tuple[float, float]:
        """The information in common, as a part of that of both together, and of that of the smaller one."""
        mine, theirs = part(self.one), part(self.other)
        if mine.isdisjoint(theirs):
            return 0.0, 0.0
        mine_alone, theirs_alone, shared = map(self._information, (mine - theirs, theirs - mine, mine & theirs))
        if not shared:  # every finding has it
            return 0.0, 0.0
        return shared / (mine_alone + theirs_alone + shared), shared / (min(mine_alone, theirs_alone) + shared)

    def _information(self, names: Collection[str]) -> float:
        return sum([self._rarity.get(name, self._rarest) for name in names])

    def rarest_of(self, names: Collection[str]) -> float:
        return max((self._rarity.get(name, self._rarest) for name in names), default=0.0) / self._rarest

    def both(self, is_so: Callable[[Traits], bool]) -> float:
        return float(is_so(self.one) and is_so(self.other))

    def only_one(self, is_so: Callable[[Traits], bool]) -> float:
        return float(is_so(self.one) is not is_so(self.other))

    def differ(self, part: Callable[[Traits], frozenset[str]]) -> float:
        """Whether both have some, and none in common."""
        mine, theirs = part(self.one), part(self.other)
        return float(bool(mine and theirs) and mine.isdisjoint(theirs))


def _place(pair: _Pair) -> dict[str, float]:
    one, other = pair.one, pair.other
    return {
        "same place": float(one.place == other.place),
        "one without place": float(not one.place or not other.place),
        "same culprits": pair.common(lambda each: each.culprits)[0],
        "a culprit of both": float(bool(one.culprits & other.culprits)),
        "other culprits": pair.differ(lambda each: each.culprits),
        "same functions": pair.common(lambda each: each.functions)[0],
        "other functions": pair.differ(lambda each: each.functions),
    }


def _code(pair: _Pair) -> dict[str, float]:
    one, other = pair.one, pair.other
    return {
        "same lines": pair.lines,
        "same lines, same symptom": pair.lines * pair.same_symptom,
        "lines of the smaller": pair.lines_of_smaller,
        "rarest same line": pair.rarest_of(one.lines & other.lines),
        "rarest same line, same symptom": pair.rarest_of(one.lines & other.lines) * pair.same_symptom,
        "rarest same attribute": pair.rarest_of(one.attributes & other.attributes),
        "rarest same attribute, same symptom": pair.rarest_of(one.attributes & other.attributes) * pair.same_symptom,
        "rarest same attribute, both a wrong shape": pair.rarest_of(one.attributes & other.attributes)
        * pair.both(lambda each: each.symptom == "shape"),
        "rarest same call, same symptom": pair.rarest_of(one.calls & other.calls) * pair.same_symptom,
        "same needs, same symptom": pair.needs * pair.same_symptom,
        "both imprecise, same target": pair.both(lambda each: each.symptom == "imprecise")
        * float(one.target == other.target),
        "same calls": pair.calls,
        "calls of the smaller": pair.calls_of_smaller,
        "calls of the smaller, same symptom": pair.calls_of_smaller * pair.same_symptom,
    }


def _symptom(pair: _Pair) -> dict[str, float]:
    return {
        "same symptom": pair.same_symptom,
        "both memory": pair.both(lambda each: each.symptom == "memory"),
        "one memory": pair.only_one(lambda each: each.symptom == "memory"),
        "both lose NaN": pair.both(lambda each: each.symptom == "NaN is lost"),
        "both ignore a dtype": pair.both(lambda each: each.symptom == "dtype argument ignored"),
        "both always float32": pair.both(lambda each: each.symptom == "always float32"),
        "both always float32, calls": pair.both(lambda each: each.symptom == "always float32") * pair.calls_of_smaller,
    }


def _message_and_operators(pair: _Pair) -> dict[str, float]:
    one, other = pair.one, pair.other
    words, _ = pair.common(lambda each: each.words)
    return {
        "same words": words,
        "other words": float(bool(one.words and other.words)) * (1 - words),
        "one with a message": pair.only_one(lambda each: bool(each.words)),
        "same names": pair.common(lambda each: each.names)[0],
        "same operators": float(one.operators == other.operators),
        "one within the other": float(one.operators < other.operators or other.operators < one.operators),
        "a consequence": float(_follows(one, other) or _follows(other, one)),
    }


def _circumstances(pair: _Pair) -> dict[str, float]:
    one, other = pair.one, pair.other
    return {
        "same importer": float(one.importer == other.importer),
        "both fx": pair.both(lambda each: each.importer == "fx"),
        "both fx, same lines": pair.both(lambda each: each.importer == "fx") * pair.lines,
        "same target": float(one.target == other.target),
        "same target, not llvm": float(one.target == other.target != "llvm"),
        "same types": _jaccard(one.types, other.types, empty=0.5),
        "both half": pair.both(lambda each: "half" in each.types),
        "one half": pair.only_one(lambda each: "half" in each.types),
        "both half, memory": pair.both(lambda each: "half" in each.types and each.symptom == "memory"),
        "both empty": pair.both(lambda each: "empty" in each.types),
        "one empty": pair.only_one(lambda each: "empty" in each.types),
        "same attributes": pair.common(lambda each: each.attributes)[0],
        "same needs": pair.needs,
        "other needs": float(bool(one.needs and other.needs)) * (1 - pair.needs),
        "a sibling": float(bool(one.siblings & other.operators or other.siblings & one.operators)),
    }


def _follows(one: Traits, other: Traits) -> bool:
    """Whether one finding may follow from the wrong type of the other, whose operators it contains."""
    return other.operators < one.operators and one.importer == other.importer and other.symptom in _SPREADING


_SPREADING = frozenset({"shape", "always float32", "other precision", "not promoted", "dtype argument ignored"})
"""Symptoms of a wrong type, after which later operators fail."""


def _jaccard(one: Collection[str], other: Collection[str], empty: float) -> float:
    whole = set(one) | set(other)
    return len(set(one) & set(other)) / len(whole) if whole else empty
