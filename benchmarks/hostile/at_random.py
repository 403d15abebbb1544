"""Files that are changed at random, each through one command that reads it."""

from __future__ import annotations

import json
import os
import select
import signal
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from mutations import mutated

from fuzzer.isolate.running_job import POLL_SECONDS
from fuzzer.system.process_clock import ProcessClock
from hostile.commands import KINDS, VERBS, is_chosen
from hostile.copies import fresh, restore
from hostile.in_this_process import bound_memory, run_here, watch_here
from hostile.judging import MOST_WALL, Report, faults_of, report_of
from hostile.row import resign

IMPORTS_OF_1000 = 3
"""How many of a thousand mutations are of models: each starts two readers."""

A_WORKER = 400
"""A worker runs `A_WORKER` mutations, and is then replaced."""


@dataclass(frozen=True)
class Mutation:
    """Mutation number so-and-so of a seed: the kind of file, the command, and the source of its changes."""

    kind: str
    verb: str
    source: Random


def mutation(seed: int, number: int, verbs: str) -> Mutation:
    source = Random(f"{seed} {number}")
    readers = {kind: [name for name, verb in VERBS.items() if kind in verb.reads] for kind in KINDS}
    readers = {kind: [name for name in names if is_chosen(name, verbs)] for kind, names in readers.items()}
    models = {kind for kind in ("m.onnx", "m.pt2") if readers[kind]}
    others = [kind for kind, names in readers.items() if names and kind not in models]
    few = models and (not others or source.randrange(1000) < IMPORTS_OF_1000)
    kind = source.choice(sorted(models) if few else others)
    return Mutation(kind, source.choice(readers[kind]), source)


def at_random(template: Path, seed: int, numbers: range, verbs: str) -> Iterator[Report]:
    """Each mutation through one command. Workers do many of them, one after the other."""
    first = numbers.start
    while first < numbers.stop:
        part = range(first, min(first + A_WORKER, numbers.stop))
        done = 0
        for report in _worker(template, seed, part, verbs):
            done += 1
            yield report
        first += done


def _worker(template: Path, seed: int, numbers: range, verbs: str) -> Iterator[Report]:
    """The reports of a worker, up to the first mutation that ends it or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            _work(template, seed, numbers, verbs, writing)
        finally:
            os._exit(0)
    os.close(writing)
    done, status = 0, 0
    try:
        for line in _lines_of(reading, child):
            done += 1
            yield Report(**json.loads(line))
            if done == len(numbers):
                break
    finally:  # also where the user interrupts it
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if done < len(numbers):
        number = numbers[done]
        tried = mutation(seed, number, verbs)
        why = f"it hung, or ended its process (status {status})"
        yield Report(tried.verb, tried.kind, -9, [why], _again(seed, number, verbs), 0.0, MOST_WALL, 0.0)


def _lines_of(reading: int, worker: int) -> Iterator[bytes]:
    """The lines that a worker writes, until it ends or is silent for too long, but for its waits for a processor."""
    with open(reading, "rb", buffering=0) as answers:
        buffer, clock = b"", ProcessClock(worker)
        while not clock.is_over(MOST_WALL):
            if not select.select([answers], [], [], POLL_SECONDS)[0]:
                continue
            if not (piece := answers.read(1 << 16)):
                break
            *lines, buffer = (buffer + piece).split(b"\n")
            yield from lines
            clock = ProcessClock(worker)


def _again(seed: int, number: int, verbs: str) -> str:
    chosen = f" --verbs {verbs!r}" if verbs != "*" else ""
    return f"--mutations 1 --seed {seed} --first {number}{chosen}"


def _work(template: Path, seed: int, numbers: range, verbs: str, answers: int) -> None:
    bound_memory()
    place = fresh(template, template.with_name("worker"))
    watch_here(place)
    for number in numbers:
        tried = mutation(seed, number, verbs)
        kind = KINDS[tried.kind]
        path = kind.path(place)
        path.write_bytes(mutated(path.read_bytes(), kind.form, tried.source))
        if path.name in ("case.json", "tensors.safetensors") and tried.source.random() < 0.8:
            resign(place)
        ended = run_here(VERBS[tried.verb].words(place), place)
        faults = faults_of(ended, place)
        report = report_of(tried.verb, tried.kind, ended, faults, _again(seed, number, verbs))
        os.write(answers, json.dumps(asdict(report)).encode() + b"\n")
        restore(template, place)
