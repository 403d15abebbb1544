"""Lanes that misbehave on purpose: the self-test proves with them that every kind of failure is recognised."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np

from fuzzer.lanes.abuses import ABUSES
from fuzzer.lanes.base.prepared_case import PreparedCase
from fuzzer.lanes.base.step import Step
from fuzzer.lanes.torch.prepared import model_of, tensors_of
from generators.graph import Case
from oracles.lane import LaneSpec
from oracles.outcome import Ran, Stage
from oracles.trace import Trace


class Unprintable(Exception):
    def __str__(self) -> str:
        raise SystemExit("no message")


class FaultyLane:
    ran = False

    def supports(self, case: Case, spec: LaneSpec) -> str | None:
        return None

    def run(self, prepared: PreparedCase, spec: LaneSpec, step: Step) -> Ran:
        step(Stage.COMPILE)
        step.note(compile_seconds=1.5)
        step.note(checked=("import", spec.variant))
        match spec.variant:
            case "raise":
                raise RuntimeError("raised on purpose")
            case "hang":
                while True:
                    time.sleep(60)
            case "spin":
                while True:
                    continue
            case "segfault":
                ctypes.string_at(0)
            case "exit":
                os._exit(3)
            case "once":
                if self.ran:
                    os._exit(3)
                self.ran = True
            case "pid":
                return Ran((np.array(os.getpid()),))
            case "unprintable":
                raise Unprintable
            case "surrogate":
                step.note(trace=Trace(outside="\ud800"))
                raise ValueError("a lone \ud800")
            case "system-exit":
                raise SystemExit(3)
            case name if name in ABUSES:
                if (result := ABUSES[name]()) is not None:
                    return Ran((result,))
        model = model_of(prepared)
        step(Stage.RUN)
        outputs = tuple(output.detach().numpy() for output in model(*tensors_of(prepared)))
        return Ran(tuple(output + 1 for output in outputs) if spec.variant == "lie" else outputs)
