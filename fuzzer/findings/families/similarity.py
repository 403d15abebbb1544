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

    def information(names: Collection[str]) -> float:
        return sum([rarity.get(name, rarest) for name in names])

    def common(part: Callable[[Traits], frozenset[str]]) -> tuple[float, float]:
        """The information in common, as a part of that of both together, and of that of the smaller one."""
        mine, theirs = part(one), part(other)
        if mine.isdisjoint(theirs):
            return 0.0, 0.0
        mine_alone, theirs_alone, shared = map(information, (mine - theirs, theirs - mine, mine & theirs))
        if not shared:  # every finding has it
            return 0.0, 0.0
        return shared / (mine_alone + theirs_alone + shared), shared / (min(mine_alone, theirs_alone) + shared)

    def rarest_of(names: Collection[str]) -> float:
        return max((rarity.get(name, rarest) for name in names), default=0.0) / rarest

    def both(is_so: Callable[[Traits], bool]) -> float:
        return float(is_so(one) and is_so(other))

    def only_one(is_so: Callable[[Traits], bool]) -> float:
        return float(is_so(one) is not is_so(other))

    same_symptom = float(one.symptom == other.symptom)
    same_place = float(one.place == other.place)
    lines, lines_of_smaller = common(lambda each: each.lines)
    calls, calls_of_smaller = common(lambda each: each.calls)
    needs, _ = common(lambda each: each.needs)
    words, _ = common(lambda each: each.words)
    return {
        "same place": same_place,
        "one without place": float(not one.place or not other.place),
        "same culprits": common(lambda each: each.culprits)[0],
        "a culprit of both": float(bool(one.culprits & other.culprits)),
        "other culprits": float(bool(one.culprits and other.culprits) and not one.culprits & other.culprits),
        "same functions": common(lambda each: each.functions)[0],
        "other functions": float(bool(one.functions and other.functions) and not one.functions & other.functions),
        "same lines": lines,
        "same lines, same symptom": lines * same_symptom,
        "lines of the smaller": lines_of_smaller,
        "rarest same line": rarest_of(one.lines & other.lines),
        "rarest same line, same symptom": rarest_of(one.lines & other.lines) * same_symptom,
        "rarest same attribute": rarest_of(one.attributes & other.attributes),
        "rarest same attribute, same symptom": rarest_of(one.attributes & other.attributes) * same_symptom,
        "rarest same attribute, both a wrong shape": rarest_of(one.attributes & other.attributes)
        * both(lambda each: each.symptom == "shape"),
        "rarest same call, same symptom": rarest_of(one.calls & other.calls) * same_symptom,
        "same needs, same symptom": needs * same_symptom,
        "both imprecise, same target": both(lambda each: each.symptom == "imprecise")
        * float(one.target == other.target),
        "same calls": calls,
        "calls of the smaller": calls_of_smaller,
        "calls of the smaller, same symptom": calls_of_smaller * same_symptom,
        "same symptom": same_symptom,
        "both memory": both(lambda each: each.symptom == "memory"),
        "one memory": only_one(lambda each: each.symptom == "memory"),
        "both lose NaN": both(lambda each: each.symptom == "NaN is lost"),
        "both ignore a dtype": both(lambda each: each.symptom == "dtype argument ignored"),
        "both always float32": both(lambda each: each.symptom == "always float32"),
        "both always float32, calls": both(lambda each: each.symptom == "always float32") * calls_of_smaller,
        "same words": words,
        "other words": float(bool(one.words and other.words)) * (1 - words),
        "one with a message": only_one(lambda each: bool(each.words)),
        "same names": common(lambda each: each.names)[0],
        "same operators": float(one.operators == other.operators),
        "one within the other": float(one.operators < other.operators or other.operators < one.operators),
        "a consequence": float(_follows(one, other) or _follows(other, one)),
        "same importer": float(one.importer == other.importer),
        "both fx": both(lambda each: each.importer == "fx"),
        "both fx, same lines": both(lambda each: each.importer == "fx") * lines,
        "same target": float(one.target == other.target),
        "same target, not llvm": float(one.target == other.target != "llvm"),
        "same types": _jaccard(one.types, other.types, empty=0.5),
        "both half": both(lambda each: "half" in each.types),
        "one half": only_one(lambda each: "half" in each.types),
        "both half, memory": both(lambda each: "half" in each.types and each.symptom == "memory"),
        "both empty": both(lambda each: "empty" in each.types),
        "one empty": only_one(lambda each: "empty" in each.types),
        "same attributes": common(lambda each: each.attributes)[0],
        "same needs": needs,
        "other needs": float(bool(one.needs and other.needs)) * (1 - needs),
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
