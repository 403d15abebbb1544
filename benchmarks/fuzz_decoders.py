"""Fuzz the decoders of files and messages with the coverage of their lines as a guide.

    pip install difftvm[fuzzing]
    python benchmarks/fuzz_decoders.py findings|protocol|import|index|scripts [--seconds 3600] [--work DIR]
    python benchmarks/fuzz_decoders.py --minimise DIR

Atheris (libFuzzer for Python) runs one target of `decoder_targets.py` for N CPU seconds. It begins with
`tests/decoder_corpus/` and with what an earlier run left in DIR/corpus-TARGET. Each new fault is printed, and its
input is kept in DIR/faults-TARGET; the run continues. At the end the CPU seconds, the inputs and the faults are
printed. Exits with 1 where there was a fault.

`--minimise DIR` replaces tests/decoder_corpus/ by the smallest inputs of DIR that reach the same lines. A test runs
them (`tests/benchmarks/test_decoders.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

MOST_INPUT = 16_384
"""The most bytes of an input. The largest seed has 13,000."""

MOST_MEMORY_MB = 2048
MOST_OF_CORPUS = 290_000
OWN_PACKAGES = ("fuzzer", "generators", "oracles")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=("findings", "protocol", "import", "index", "scripts"))
    parser.add_argument("--seconds", type=float, default=3600.0, help="CPU seconds")
    parser.add_argument("--work", type=Path, default=Path("decoder-fuzzing"))
    parser.add_argument("--minimise", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.minimise:
        minimise(arguments.minimise)
    elif arguments.target:
        sys.exit(1 if fuzz(arguments.target, arguments.seconds, arguments.work) else 0)
    else:
        parser.error("name a target, or give --minimise")


def fuzz(name: str, seconds: float, work: Path) -> int:
    """Fuzz a target in a child, because libFuzzer ends its process. Return the number of faults."""
    faults = work / f"faults-{name}"
    faults.mkdir(parents=True, exist_ok=True)
    before = {path.name for path in faults.iterdir()}
    child = os.fork()
    if not child:
        try:
            _run(name, seconds, work)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(70)
    _, status, usage = os.wait4(child, 0)
    new = sorted({path.name for path in faults.iterdir()} - before)
    inputs = (work / f"inputs-{name}").read_text()
    spent = usage.ru_utime + usage.ru_stime
    memory = usage.ru_maxrss / 1024
    print(f"{name}: {spent:.0f} CPU seconds, {inputs} inputs, {memory:.0f} MB at most, {len(new)} new faults")
    if code := os.waitstatus_to_exitcode(status):
        print(f"{name}: the fuzzer ended with status {code}: the last input crashed it, or took too long")
    return len(new) + (code != 0)


def _run(name: str, seconds: float, work: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=list(OWN_PACKAGES)):
        import decoder_targets
        from decoders.base import CORPUS
    target = decoder_targets.TARGETS[name]
    corpus, faults = work / f"corpus-{name}", work / f"faults-{name}"
    corpus.mkdir(exist_ok=True)
    kept = [path.read_bytes() for path in _files(CORPUS / name)]
    for source in (*kept, *(data for _, data in target.seeds())):
        (corpus / hashlib.sha256(source).hexdigest()[:16]).write_bytes(source)
    known: set[str] = set()
    count = 0

    def one(data: bytes) -> None:
        nonlocal count
        count += 1
        if (fault := target.fault(data)) and fault.key not in known:
            known.add(fault.key)
            path = faults / hashlib.sha256(fault.key.encode()).hexdigest()[:16]
            path.write_bytes(data)
            print(f"FAULT {path}\n{fault.text}", flush=True)
        if count % 100 == 0 and time.process_time() > seconds:
            end()

    def end(*_: object) -> None:
        (work / f"inputs-{name}").write_text(f"{count:,}")
        sys.stdout.flush()
        os._exit(0)

    def mutator(data: bytes, most: int, seed: int) -> bytes:
        """Half of the changes keep the form of the document. libFuzzer makes the other half."""
        if seed % 2 and data:
            return target.mutated(data, seed)[:most]
        return bytes(atheris.Mutate(data, most))

    options = [
        f"-max_len={MOST_INPUT}",
        f"-rss_limit_mb={MOST_MEMORY_MB}",
        "-timeout=10",
        "-verbosity=0",
        "-handle_term=0",
        f"-artifact_prefix={faults}/",
    ]
    signal.signal(signal.SIGTERM, end)
    (work / f"inputs-{name}").write_text("an unknown number of")
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=mutator)
    atheris.Fuzz()


# --- the corpus that stays


def minimise(found: Path) -> None:
    """Keep, of the inputs of earlier runs and of the corpus that stays, the smallest that reach all lines."""
    from decoder_targets import TARGETS
    from decoders.base import CORPUS

    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    share = MOST_OF_CORPUS // len(TARGETS)
    for name, target in TARGETS.items():
        inputs = {path.read_bytes() for folder in (found / f"corpus-{name}", CORPUS / name) for path in _files(folder)}
        inputs |= {data for _, data in target.seeds()}
        inputs |= {path.read_bytes() for path in _files(found / f"faults-{name}")}
        chosen = _covering(target, sorted(inputs, key=lambda data: (len(data), data)), share)
        shutil.rmtree(CORPUS / name, ignore_errors=True)
        (CORPUS / name).mkdir(parents=True)
        for data in chosen:
            (CORPUS / name / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        print(f"{name}: {len(chosen)} of {len(inputs)} inputs, {sum(map(len, chosen)):,} bytes")


def _files(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.iterdir()) if folder.is_dir() else ()


def _covering(target: Any, inputs: list[bytes], most: int) -> list[bytes]:
    """The inputs that reach something that no smaller one reaches, up to `most` bytes together."""
    reached: set[tuple[int, str, int, int]] = set()
    chosen, left = [], most
    for data in inputs:
        new = _steps_of(target, data) - reached
        if new and len(data) <= left:
            chosen.append(data)
            reached |= new
            left -= len(data)
    return chosen


def _steps_of(target: Any, data: bytes) -> set[tuple[int, str, int, int]]:
    """The steps from line to line of our own code that an input takes, with its document."""
    steps: set[tuple[int, str, int, int]] = set()
    document = data[0] % len(target.documents) if data else 0

    def watch(frame: FrameType, event: str, argument: object) -> Any:
        file = frame.f_code.co_filename
        if not any(f"/{package}/" in file for package in OWN_PACKAGES):
            return None
        last = 0

        def line(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal last
            steps.add((document, file, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line

    sys.settrace(watch)
    try:
        target.fault(data)
    finally:
        sys.settrace(None)
    return steps


if __name__ == "__main__":
    main()
