"""Run tests against mutants: which tests of a run fail when one file is changed.

A process imports the tests once. For each mutant it forks. The child puts the changed functions in the place of the
original ones, runs the tests that reach the changed lines, and ends at the first failure. The changed file is on disk
meanwhile, for the interpreters that a test starts. A change outside of functions takes effect in an import only, so the
child of such a mutant is forked before the import.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeVar

import coverage
import msgspec
import psutil
import pytest

LEAST_SECONDS = 10.0
FACTOR = 5.0
"""A mutant may take `FACTOR` times the seconds that its tests take without it, and `LEAST_SECONDS` in addition."""

MOST_SECONDS = 10.0
"""A mutant survives if the tests that take `MOST_SECONDS` without it do not fail."""

MOST_BYTES = 8 << 30
# `fuzzer/system/process_tree.py` has this number too, and what `kill_below` does. It cannot be imported here: children
# that import a changed copy of `fuzzer` are forked from this process
PR_SET_CHILD_SUBREAPER = 36

T = TypeVar("T")

SURVIVED, KILLED, NEEDS_IMPORT = 0, 1, 70
"""How a child that runs tests ends. Any other end is that of a mutant that is killed."""


class Change(NamedTuple):
    """A changed file: its path relative to the root, the lines of the changed statement, and the new text."""

    path: str
    lines: range
    text: str


@dataclass(slots=True)
class Reach:
    """Which tests execute which lines of the mutated files, and how many seconds each test takes."""

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[str, dict[int, list[str]]] = field(default_factory=dict)

    def of(self, path: str, lines: Sequence[int]) -> list[str]:
        """Return tests that execute one of these lines, within `MOST_SECONDS`.

        Those of the mirrored file come first, then those of the mirrored folder, then others, the quick ones first.
        Half of all tests execute some lines.
        """
        by_line = self.tests.get(path, {})
        return self._in_order(path, {test for line in lines for test in by_line.get(line, ())})

    def of_file(self, path: str) -> list[str]:
        """Return tests that execute a function of the file, as `of` does."""
        return self.of(path, list(self.tests.get(path, {})))

    def of_folder(self, path: str) -> list[str]:
        """Return tests of the mirrored folder, which may use what an import of the file gives, as `of` does."""
        folder = f"{Path('tests', path).parent.as_posix()}/"
        return self._in_order(path, [test for test in self.seconds if test.startswith(folder)])

    def _in_order(self, path: str, reaching: Iterable[str]) -> list[str]:
        file = Path("tests", path).with_name(f"test_{Path(path).name}").as_posix()
        folder = f"{Path(file).parent.as_posix()}/"
        ordered = sorted(
            reaching,
            key=lambda test: (not test.startswith(f"{file}::"), not test.startswith(folder), self.seconds[test], test),
        )
        within = accumulate(self.seconds[test] for test in ordered)
        return [test for test, seconds in zip(ordered, within, strict=True) if seconds <= MOST_SECONDS]


class Trials:
    """The tests of some folders, in a copy of the project that may be changed. The working directory is the copy.

    folders   folders or files of tests, relative to the copy
    marks     an expression for `pytest -m`
    paths     the files that are mutated
    """

    def __init__(self, copy: Path, folders: Sequence[str], marks: str, paths: Sequence[str]) -> None:
        self._copy, self._folders, self._marks, self._paths = copy, folders, marks, paths
        self._scratch = copy.parent / "scratch"
        os.chdir(copy)
        os.environ |= {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "TMPDIR": str(self._scratch)}
        tempfile.tempdir = None  # the tests ask for it again
        sys.path.insert(0, str(copy))
        self._import_libraries()
        sys.dont_write_bytecode = True  # what is there now is that of the unchanged files
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

    def reach(self) -> Reach:
        """Run all tests once, unchanged. Raise where one fails."""
        return self._answer(
            lambda answer: self._pytest(self._folders, _Map(self._copy, self._paths, answer)), Reach, 1800.0
        )

    def run(self, changes: Sequence[Change], reach: Reach) -> Iterator[tuple[int, str]]:
        """Yield the index of each change with "killed", "survived" or "timed out", as soon as it is known."""
        import_later = []
        for index, verdict in self._in_functions(changes, reach):
            if verdict == "needs import":
                import_later.append(index)
            else:
                yield index, verdict
        for index in import_later:
            yield index, self._imported(changes[index], reach)

    def _in_functions(self, changes: Sequence[Change], reach: Reach) -> Iterator[tuple[int, str]]:
        """The same, from a process that has imported the tests; "needs import" where it cannot know."""
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w") as lines:
                self._quietly(lambda: self._pytest(self._folders, _Changes(self, changes, reach, lines)))
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                index, verdict = json.loads(line)
                yield index, verdict
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError("the tests could not be collected")

    def _imported(self, change: Change, reach: Reach) -> str:
        """Run the tests of the mirrored folder; then, if they pass, those that execute a function of the file."""
        near = reach.of_folder(change.path)
        with self.changed(change):
            for tests in (near, [test for test in reach.of_file(change.path) if test not in near]):
                files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
                seconds = LEAST_SECONDS + FACTOR * sum(reach.seconds[test] for test in tests)
                run = partial(self._pytest, files, _Selected(set(tests)))
                if tests and (verdict := self.verdict(run, seconds)) != "survived":
                    return verdict
        return "survived"

    def changed(self, change: Change) -> _OnDisk:
        return _OnDisk(self._copy / change.path, change.text)

    def verdict(self, run: Callable[[], int], seconds: float) -> str:
        """Fork a child that runs tests; return "killed" where it does not end with 0."""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # what a test leaves is found below this process
        child = os.fork()
        if not child:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            self._quietly(run)
        end = time.monotonic() + seconds
        pause = 0.002
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        timed_out = ended == (0, 0)
        kill_below()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir()
        if timed_out:
            return "timed out"
        code = os.waitstatus_to_exitcode(ended[1])
        return {SURVIVED: "survived", NEEDS_IMPORT: "needs import"}.get(code, "killed")

    def _import_libraries(self) -> None:
        """Import here what the tests import of other projects, so that children need not."""
        listed = self._answer(
            lambda answer: self._pytest(self._folders, _Modules(self._copy, answer), "--collect-only"), list[str], 300.0
        )
        for name in listed:
            with suppress(ImportError):  # some modules make others, which have no file
                importlib.import_module(name)
        if own := [name for name in sys.modules if name.startswith(("fuzzer", "generators", "oracles"))]:
            raise RuntimeError(f"{own[0]} is imported too early: its mutants would not be loaded")

    def _pytest(self, folders: Sequence[str], plugin: object, *options: str) -> int:
        self._scratch.mkdir(exist_ok=True)
        plugins = ("cacheprovider", "terminal", "xdist", "difftvm")  # the last would import what is mutated
        given = ["-o", "addopts=", *(f"-pno:{name}" for name in plugins), "-m", self._marks]
        temporary = [f"--basetemp={self._scratch / 'pytest-of-mutants'}"]
        return int(pytest.main([*given, *temporary, *options, *folders], plugins=[plugin]))

    def _answer(self, run: Callable[[Path], int], kind: type[T], seconds: float) -> T:
        """Run in a child; return what it has written as JSON into the file that it gets."""
        answer = self._copy.parent / "answer"
        answer.unlink(missing_ok=True)
        if (verdict := self.verdict(lambda: run(answer), seconds)) != "survived":
            log = (self._copy.parent / "log").read_text(errors="replace")
            raise RuntimeError(f"the tests fail without a mutant ({verdict}):\n{log[-2000:]}")
        return msgspec.json.decode(answer.read_bytes(), type=kind)

    def _quietly(self, run: Callable[[], int]) -> None:
        """Run, with the output in a file, and end this process."""
        code = 1
        try:
            log = os.open(self._copy.parent / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(log, 1)
            os.dup2(log, 2)
            code = run()
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            with suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)


class _OnDisk:
    """A file has another text meanwhile, and another time, so that no bytecode of the other text is loaded."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text

    def __enter__(self) -> None:
        self._before, self._time = self._path.read_text(), self._path.stat().st_mtime
        self._path.write_text(self._text)
        os.utime(self._path, (self._time + 3600, self._time + 3600))

    def __exit__(self, *_: object) -> None:
        self._path.write_text(self._before)
        os.utime(self._path, (self._time, self._time))


class _Failures:
    """Part of a plugin: ends the run at the first failure."""

    failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = True
            sys.stderr.write(f"{report.nodeid}\n{report.longreprtext}\n")

    def run(self, items: Sequence[pytest.Item]) -> int:
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return KILLED
        return SURVIVED


class _Modules:
    """Collects the tests, and lists the modules of other projects that were imported for it."""

    def __init__(self, copy: Path, answer: Path) -> None:
        self._copy, self._answer = copy, answer

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        files = {name: str(getattr(module, "__file__", None)) for name, module in list(sys.modules.items())}
        libraries = sorted(name for name, file in files.items() if not file.startswith(f"{self._copy}{os.sep}"))
        self._answer.write_bytes(msgspec.json.encode(libraries))


class _Map(_Failures):
    """Runs all tests, and records which lines each executes."""

    def __init__(self, copy: Path, paths: Sequence[str], answer: Path) -> None:
        self._copy, self._paths, self._answer = copy, paths, answer

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        files = {path: str(self._copy / path) for path in self._paths}
        lines = coverage.Coverage(data_file=None, config_file=False, include=list(files.values()))
        reach = Reach()
        lines.start()
        for item in session.items:
            lines.switch_context(item.nodeid)
            start = time.perf_counter()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            reach.seconds[item.nodeid] = time.perf_counter() - start
            if self.failed:
                session.exitstatus = 1
                session.shouldfail = f"{item.nodeid} fails"
                raise session.Failed(session.shouldfail)
        lines.stop()
        data = lines.get_data()
        for path, file in files.items():
            by_line = data.contexts_by_lineno(file)
            reach.tests[path] = {line: [test for test in tests if test] for line, tests in by_line.items()}
        self._answer.write_bytes(msgspec.json.encode(reach))
        return True


class _Selected(_Failures):
    """Runs some of the tests, and ends at the first failure. A mutant may change the ids of tests: then all run."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:  # a module could not be imported
            os._exit(KILLED)
        items = [item for item in session.items if item.nodeid in self._names]
        os._exit(self.run(items if len(items) == len(self._names) else session.items))


class _Changes(_Failures):
    """Tries changes, each in a child of the process that has imported the tests."""

    def __init__(self, trials: Trials, changes: Sequence[Change], reach: Reach, lines: Any) -> None:
        self._trials, self._changes, self._reach, self._lines = trials, changes, reach, lines

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        gc.unfreeze()
        functions = _functions()
        gc.freeze()
        for index, change in enumerate(self._changes):
            verdict = self._verdict(change, items, functions)
            print(json.dumps([index, verdict]), file=self._lines, flush=True)
        return True

    def _verdict(
        self, change: Change, items: Mapping[str, pytest.Item], functions: Mapping[_Place, list[FunctionType]]
    ) -> str:
        file = Path.cwd() / change.path
        swaps = changed_functions(file.read_text(), change.text, str(file))
        tests = self._reach.of(change.path, change.lines)
        if swaps is None or not tests or any(place not in functions for place, _ in swaps):
            return "needs import"
        if not swaps:
            return "same code"

        def run() -> int:
            try:
                for place, code in swaps:
                    for function in functions[place]:
                        function.__code__ = code
            except ValueError:  # it needs another number of variables of the function around it
                return NEEDS_IMPORT
            return self.run([items[test] for test in tests])

        seconds = sum(self._reach.seconds[test] for test in tests)
        with self._trials.changed(change):
            return self._trials.verdict(run, LEAST_SECONDS + FACTOR * seconds)


class _Place(NamedTuple):
    """Where a function is: its file, its name with those of its classes, and its first line."""

    file: str
    name: str
    line: int


def _functions() -> dict[_Place, list[FunctionType]]:
    found: dict[_Place, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            code = thing.__code__
            found.setdefault(_Place(code.co_filename, code.co_qualname, code.co_firstlineno), []).append(thing)
    return found


def changed_functions(before: str, after: str, file: str) -> list[tuple[_Place, CodeType]] | None:
    """Return the functions whose code differs, with their new code. Return None where code outside of functions
    differs, default values and decorators included."""
    old, new = (compile(text, file, "exec", dont_inherit=True) for text in (before, after))
    swaps: list[tuple[_Place, CodeType]] = []
    return swaps if _compare(old, new, swaps) else None


def _compare(old: CodeType, new: CodeType, swaps: list[tuple[_Place, CodeType]]) -> bool:
    """Add the functions of a module or class that differ; return whether nothing else differs."""
    if not _same(old, new, inside=False):
        return False
    for first, second in zip(_code_in(old), _code_in(new), strict=True):
        is_function = bool(first.co_flags & 1)  # CO_OPTIMIZED: the body of a class has it not
        if not is_function:
            if not _compare(first, second, swaps):
                return False
        elif not _same(first, second, inside=True):
            if first.co_name.startswith("<"):  # a lambda or comprehension: it may have run already
                return False
            swaps.append((_Place(first.co_filename, first.co_qualname, first.co_firstlineno), second))
    return True


def _code_in(code: CodeType) -> list[CodeType]:
    return [const for const in code.co_consts if isinstance(const, CodeType)]


def _same(old: CodeType, new: CodeType, *, inside: bool) -> bool:
    """Whether two pieces of code differ in nothing but line numbers, with or without the code inside of them."""
    return (
        _summary(old) == _summary(new)
        and len(_code_in(old)) == len(_code_in(new))
        and (not inside or all(_same(*pair, inside=True) for pair in zip(_code_in(old), _code_in(new), strict=True)))
    )


def _summary(code: CodeType) -> tuple[object, ...]:
    consts = [(type(const), repr(const)) for const in code.co_consts if not isinstance(const, CodeType)]
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_name, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, consts, counts, names, code.co_exceptiontable)


def kill_below() -> None:
    """Kill every process below this one, and wait for those that are its children."""
    for _ in range(5):
        below = psutil.Process().children(recursive=True)
        if not below:
            return
        for process in below:
            with suppress(psutil.Error):
                os.kill(process.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        time.sleep(0.01)
