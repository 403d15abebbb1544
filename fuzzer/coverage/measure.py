"""Small programs of every operator, in every form, by every way to an importer: which keys they reach."""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from fuzzer.coverage.question import Answer, Question, Table, Way
from fuzzer.coverage.worker import Worker
from generators.builder import Builder, Limits
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case, Form, Invalid
from generators.ops import OPS, TABLE, Op
from generators.random_graph import generate, with_values

TORCHSCRIPT_OPSETS = range(11, 21)
DYNAMO_OPSET = 23  # the newest has most operators
ATTEMPTS = 40
DECOMPOSED = 2
"""Of an operator's cases, every so many, and all symbolic ones: decomposing takes three times what exporting takes."""
ENOUGH = 2
"""An operator is decomposed no more where so many cases in a row gave no new key: a quarter of them all, for the same
keys. The other ways are too cheap, or too varied (nn.ReLU is one form of one row), to leave cases out."""
SYMBOLIC = 4
"""Of an operator's cases, the last of so many parts has sizes known by name only."""


@dataclass(frozen=True, slots=True)
class CoverageOptions:
    """What to look at. With `dynamo`, an operator's first case takes the dear exporter too."""

    ops: tuple[Op, ...] = OPS
    count: int = 12
    seed: int = 0
    dynamo: bool = True
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A case of the operator `op`; what it is asked. `place` orders trials."""

    place: int
    op: str
    case: Case
    questions: list[Question]


@dataclass(slots=True)
class Failure:
    """How often cases of `op` did not get to the end of a way, and what was said the first time."""

    op: str
    way: Way
    died: bool
    told: str
    count: int = 0


@dataclass(slots=True)
class Coverage:
    """What was seen. For each key of each table, the operator that reached it first."""

    tables: dict[Table, frozenset[str]]
    reached: dict[Table, dict[str, str]] = field(default_factory=lambda: {table: {} for table in Table})
    failures: dict[tuple[str, Way, bool], Failure] = field(default_factory=dict)
    unfit: dict[str, str] = field(default_factory=dict)
    trials: int = 0
    _places: dict[tuple[Table, str], int] = field(default_factory=dict)

    def add(self, trial: Trial, question: Question, answer: Answer | str) -> None:
        """Keys that no table has are forgotten: importers refuse what they do not know."""
        died = isinstance(answer, str)
        told = answer if isinstance(answer, str) else answer.error
        if told:
            place = trial.op, question.way, died
            self.failures.setdefault(place, Failure(*place, told)).count += 1
        table = question.way.table
        for key in () if isinstance(answer, str) else answer.keys:
            if key in self.tables[table] and trial.place < self._places.get((table, key), 1 << 62):
                self._places[table, key] = trial.place
                self.reached[table][key] = trial.op

    def unreached(self, table: Table) -> list[str]:
        return sorted(self.tables[table] - self.reached[table].keys())


def measure(options: CoverageOptions, said: Callable[[Coverage], None]) -> Coverage:
    """`said` hears of each case that is done. An interrupt ends it with what is known by then."""
    lock, stopped = threading.Lock(), threading.Event()
    coverage = Coverage({})
    works = _works(options, coverage.unfit)

    def work() -> None:
        with Worker() as worker:
            coverage.tables = worker.tables
            while True:
                with lock:
                    trials = next(works, None)
                if trials is None:
                    return
                decompositions = Decompositions()
                for trial in trials:
                    if stopped.is_set():
                        return
                    answers = [(q, worker.ask(q, trial.case)) for q in decompositions.wanted(trial)]
                    decompositions.learn(trial, answers)
                    with lock:
                        for question, answer in answers:
                            coverage.add(trial, question, answer)
                        coverage.trials += 1
                        said(coverage)

    with ThreadPoolExecutor(options.workers) as pool:
        working = [pool.submit(work) for _ in range(options.workers)]
        try:
            for each in working:
                each.result()
        except BaseException as error:
            stopped.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
    return coverage


def number_of_trials(options: CoverageOptions) -> int:
    """Fewer, where an operator does not fit into a small graph."""
    return len(options.ops) * options.count + _graphs(options)


def _graphs(options: CoverageOptions) -> int:
    return -(-len(options.ops) // 4)


class Decompositions:
    """What those of one operator gave so far: fixed sizes and symbolic ones apart, which arithmetic on sizes is in."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._in_vain: Counter[bool] = Counter()

    def wanted(self, trial: Trial) -> list[Question]:
        enough = self._in_vain[bool(trial.case.graph.symbols)] >= ENOUGH
        return [q for q in trial.questions if q.way is not Way.DECOMPOSED or not enough]

    def learn(self, trial: Trial, answers: Sequence[tuple[Question, Answer | str]]) -> None:
        for question, answer in answers:
            if question.way is Way.DECOMPOSED:
                symbolic, keys = bool(trial.case.graph.symbols), () if isinstance(answer, str) else answer.keys
                self._in_vain[symbolic] = self._in_vain[symbolic] + 1 if self._keys.issuperset(keys) else 0
                self._keys.update(keys)


def _works(options: CoverageOptions, unfit: dict[str, str]) -> Iterator[Sequence[Trial]]:
    """The cases of each operator, then random graphs of all of them. What has no case goes to `unfit`."""
    for row, op in enumerate(options.ops):
        yield list(_trials(options, row, op, unfit))
    for number in range(_graphs(options)):
        with suppress(Exception):  # said above already
            case = generate(NumpySource(options.seed, number), ops=options.ops)
            yield [Trial((1 << 32) + number, "a random graph", case, _questions(number, decomposed=True))]


def _trials(options: CoverageOptions, row: int, op: Op, unfit: dict[str, str]) -> Iterator[Trial]:
    for number in range(options.count):
        case = _case(options, op, number, unfit)
        if case is not None:
            decomposed = number % DECOMPOSED == 0 or bool(case.graph.symbols)
            questions = _questions(number + row, decomposed=decomposed, dynamo=options.dynamo and number == 0)
            yield Trial(row * options.count + number, op.name, case, questions)


def _case(options: CoverageOptions, op: Op, number: int, unfit: dict[str, str]) -> Case | None:
    source = NumpySource(options.seed, zlib.crc32(f"{op.name} {number}".encode()))
    symbolic = number >= options.count - options.count // SYMBOLIC
    try:
        case = (_symbolic_case(op, source) if symbolic else None) or _small_case(op, source, number)
    except Exception as error:  # a row that is wrong is one thing to know, the other rows' keys are another
        unfit[op.name] = f"{type(error).__name__}: {error}"
        return None
    if case is None:
        unfit.setdefault(op.name, "fits no small graph")
    return case


def _questions(turn: int, *, decomposed: bool, dynamo: bool = False) -> list[Question]:
    """The TorchScript exporter's opsets take turns."""
    opset = TORCHSCRIPT_OPSETS[turn % len(TORCHSCRIPT_OPSETS)]
    asked = [Question(Way.EXPORT, 0), Question(Way.FX, 0), Question(Way.ONNX, opset)]
    if decomposed:
        asked.append(Question(Way.DECOMPOSED, 0))
    if dynamo:
        asked.append(Question(Way.DYNAMO, DYNAMO_OPSET))
    return asked


def _small_case(op: Op, source: ChoiceSource, number: int) -> Case | None:
    """A call of `op` and what it needs. Forms take turns."""
    forms = (Form.PLAIN, *op.forms)
    wanted = forms[number % len(forms)]
    best = None
    for _ in range(ATTEMPTS):
        builder = Builder(source)
        if wanted is Form.INPLACE:  # changes what a node made: let there be one
            builder.grow(source.choice((op, TABLE["neg"])))
        if builder.grow(op, connected=bool(builder.nodes)):
            best = builder
            if builder.nodes[-1].form is wanted:
                break
    return with_values(best) if best else None


def _symbolic_case(op: Op, source: ChoiceSource) -> Case | None:
    with suppress(Invalid):
        return generate(source, Limits(max_nodes=1), (op,), symbolic=True)
    return None
