"""Measures which keys of the converter tables are reached by small programs with every operator, in every form."""

from __future__ import annotations

import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from fuzzer.coverage.question import Answer, Question, Table, Way
from fuzzer.coverage.worker import Worker
from generators.builder import Builder, Limits
from generators.choice import ChoiceSource, NumpySource
from generators.graph import Case, Form, Invalid
from generators.op import Op
from generators.random_graph import with_values
from generators.table import TABLE
from generators.torch.random_graph import generate

TORCHSCRIPT_OPSETS = range(7, 21)
DYNAMO_OPSET = 23  # the newest has most operators
ATTEMPTS = 40
DECOMPOSED = 2
"""Every n-th case of an operator is decomposed, and all symbolic ones. Decomposing takes three times as long as
exporting."""
ENOUGH = 2
"""After this number of cases in a row without a new key, an operator is not decomposed any more. This leaves a quarter
of the decompositions, which reach the same keys. Other ways are too cheap, or differ too much between cases (nn.ReLU is
one form of one row), to leave cases out."""
SYMBOLIC = 4
"""The last n-th part of an operator's cases has symbolic sizes."""


@dataclass(frozen=True, slots=True)
class CoverageOptions:
    """What to measure. With `dynamo`, the first case of each operator is also exported by the dynamo exporter, which is
    slow."""

    ops: tuple[Op, ...]
    count: int = 12
    seed: int = 0
    dynamo: bool = True
    workers: int = 1


@dataclass(frozen=True, slots=True)
class Trial:
    """A case of the operator `op`, and the questions that are asked of it. `place` is its place in the order of
    trials."""

    place: int
    op: str
    case: Case
    questions: list[Question]


class Failure(msgspec.Struct, rename={"message": "told"}):
    """How many cases of `op` failed on a way, and the message of the first error. `fuzz ops --coverage --json` prints
    it with the field names of earlier versions."""

    op: str
    way: Way
    died: bool
    message: str
    count: int = 0


@dataclass(slots=True)
class Coverage:
    """The result: by table and key, the operator of the first trial that reached it."""

    tables: dict[Table, frozenset[str]]
    reached: dict[Table, dict[str, str]] = field(default_factory=lambda: {table: {} for table in Table})
    failures: dict[tuple[str, Way, bool], Failure] = field(default_factory=dict)
    unfit: dict[str, str] = field(default_factory=dict)
    trials: int = 0
    _places: dict[tuple[Table, str], int] = field(default_factory=dict)

    def add(self, trial: Trial, question: Question, answer: Answer | str) -> None:
        """Take in the answer to a question. Keys that are in no table are left out."""
        died = isinstance(answer, str)
        error = answer if isinstance(answer, str) else answer.error
        if error:
            place = trial.op, question.way, died
            self.failures.setdefault(place, Failure(*place, error)).count += 1
        table = question.way.table
        for key in () if isinstance(answer, str) else answer.keys:
            if key in self.tables[table] and trial.place < self._places.get((table, key), 1 << 62):
                self._places[table, key] = trial.place
                self.reached[table][key] = trial.op

    def unreached(self, table: Table) -> list[str]:
        return sorted(self.tables[table] - self.reached[table].keys())


def measure(options: CoverageOptions, on_case: Callable[[Coverage], None]) -> Coverage:
    """Measure the coverage. `on_case` is called after each case. An interrupt ends it with the results so far."""
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
                        on_case(coverage)

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
    """The largest number of trials. There are fewer where an operator does not fit into a small graph."""
    return len(options.ops) * options.count + _graphs(options)


def _graphs(options: CoverageOptions) -> int:
    return -(-len(options.ops) // 4)


class Decompositions:
    """The decompositions of one operator so far. Cases with symbolic sizes are counted apart, because arithmetic on
    sizes gives them other keys."""

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
    """The trials of each operator, then random graphs with all operators. `unfit` gets the operators without a case."""
    for row, op in enumerate(options.ops):
        yield list(_trials(options, row, op, unfit))
    for number in range(_graphs(options)):
        with suppress(Exception):  # the error is in `unfit` already
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
    except Exception as error:  # the error of one row must not end the measurement
        unfit[op.name] = f"{type(error).__name__}: {error}"
        return None
    if case is None:
        unfit.setdefault(op.name, "fits no small graph")
    return case


def _questions(turn: int, *, decomposed: bool, dynamo: bool = False) -> list[Question]:
    """The TorchScript exporter's opsets take turns."""
    opset = TORCHSCRIPT_OPSETS[turn % len(TORCHSCRIPT_OPSETS)]
    questions = [Question(Way.EXPORT, 0), Question(Way.FX, 0), Question(Way.ONNX, opset)]
    if decomposed:
        questions.append(Question(Way.DECOMPOSED, 0))
    if dynamo:
        questions.append(Question(Way.DYNAMO, DYNAMO_OPSET))
    return questions


def _small_case(op: Op, source: ChoiceSource, number: int) -> Case | None:
    """A case with a call of `op`, and the operators that it needs. The forms of writing take turns."""
    forms = (Form.PLAIN, *op.forms)
    wanted = forms[number % len(forms)]
    best = None
    for _ in range(ATTEMPTS):
        builder = Builder(source)
        if wanted is Form.INPLACE:  # an in-place call changes the result of another node
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
