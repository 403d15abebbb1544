"""The scope of a bug as data: which cases near the reduced one fail, and the plainest statement that fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from generators.graph import Scalar


class Answer(StrEnum):
    """What a lane does with a case near the reduced one."""

    FAILS = "fails"  # the failure of the finding
    PASSES = "passes"
    OTHER = "fails in another way"
    REFUSED = "is not supported"
    INVALID = "is not valid"  # for PyTorch, or for an operator's rule

    @property
    def decides(self) -> bool:
        """Whether a statement must agree with it."""
        return self in (Answer.FAILS, Answer.PASSES)


@dataclass(frozen=True, slots=True, order=True)
class Property:
    """One property of a call.

    call     the number of the call in the graph
    subject  "operand 1", "result 0", "operands 0 and 1", the name of an attribute, or "call"
    what     which property of the subject: "dtype", "rank", "size -1", "value", ...
    """

    call: int
    subject: str
    what: str


Properties = Mapping[Property, Scalar]


class Relation(StrEnum):
    IN = "in"
    NOT_IN = "not in"
    AT_LEAST = "at least"
    AT_MOST = "at most"
    REMAINDER = "remainder"  # `values` are the modulus and the remainder
    ABSENT = "absent"  # the case has no such property: an operand is not there, the rank is smaller


_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Condition:
    property: Property
    relation: Relation
    values: tuple[Scalar, ...] = ()

    def holds(self, case: Properties) -> bool:
        """A condition on a property that the case does not have does not hold, unless it demands that."""
        value = case.get(self.property, _ABSENT)
        if value is _ABSENT:
            return self.relation is Relation.ABSENT
        match self.relation:
            case Relation.IN:
                return is_among(value, self.values)
            case Relation.NOT_IN:
                return not is_among(value, self.values)
            case Relation.AT_LEAST:
                return is_number(value) and value >= self.values[0]  # type: ignore[operator]
            case Relation.AT_MOST:
                return is_number(value) and value <= self.values[0]  # type: ignore[operator]
            case Relation.REMAINDER:
                modulus, remainder = self.values
                return is_integer(value) and value % modulus == remainder  # type: ignore[operator]
            case Relation.ABSENT:
                return False


def is_among(value: object, values: tuple[Scalar, ...] | list[Scalar]) -> bool:
    """Whether a value is one of these. 1, 1.0 and True are equal in Python, but not to PyTorch."""
    return any(value == each and type(value) is type(each) for each in values)


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Statement:
    """The failure shows where all conditions hold. Without conditions it shows always."""

    conditions: tuple[Condition, ...] = ()

    def holds(self, case: Properties) -> bool:
        return all(condition.holds(case) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class Hits:
    """How many held-out cases were as a statement says, of this many that decided."""

    right: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class Variation:
    """The reduced case with one thing changed: `what` ("dtype of x0") is `value` ("float16")."""

    what: str
    value: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Ignored:
    """An attribute that a lane ignores: with another value of it alone, the reference's result changes, and the lane's
    does not.

    call       the number of the call in the graph
    attribute  its name
    value      the value in the reduced case, as the table writes it
    as_if      the value for which the lane's result is right
    """

    call: int
    attribute: str
    value: str
    as_if: str


@dataclass(frozen=True, slots=True)
class Scope:
    """How far a bug reaches.

    statement   None where none with three conditions fits the answers
    inside      held-out cases in which it must show
    outside     held-out cases in which it must not show
    variations  the reduced case with one thing changed
    siblings    operators that are implemented in the same way, and what they do
    routes      other lanes, by what distinguishes them, and what they do with the reduced case
    ignored     attributes that the lane ignores
    cases       how many cases ran, all together; 0 where the scope was not looked for
    cpu_seconds those of all runs
    cut_short   whether the search ended at its limit of CPU seconds, with questions left
    """

    statement: Statement | None = None
    inside: Hits = Hits()
    outside: Hits = Hits()
    variations: tuple[Variation, ...] = ()
    siblings: tuple[tuple[str, Answer], ...] = ()
    routes: tuple[tuple[str, Answer], ...] = ()
    ignored: tuple[Ignored, ...] = ()
    cases: int = 0
    cpu_seconds: float = 0.0
    cut_short: bool = False

    @property
    def is_certain(self) -> bool:
        """Whether the statement was right about all held-out cases, and there were some on each side. There are none
        outside where every case fails."""
        if self.statement is None or self.inside.right < self.inside.of or self.outside.right < self.outside.of:
            return False
        return self.inside.of >= LEAST_HELD_OUT and (self.outside.of >= LEAST_HELD_OUT or not self.statement.conditions)


LEAST_HELD_OUT = 8
"""The least held-out cases on each side for a statement that is certain."""

NO_SCOPE = Scope()
