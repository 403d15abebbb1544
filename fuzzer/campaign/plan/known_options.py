"""Whether TVM knows the options of configurations: an unknown one would be a failure of each lane that has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuzzer.campaign.plan.configuration_file import PLAIN
from fuzzer.isolate.fleet import RunLanes
from fuzzer.isolate.sine_case import sine_case
from generators.graph import Invalid
from oracles.outcome import Raised

REFUSED = "AttributeError"
"""The type of exception of PassContext (TVM 0.27) where an option is unknown, or where it is no switch."""


def require_known_options(run: RunLanes, options: Sequence[str]) -> None:
    """Compile one sine with each option. A file to preload may define options, so TVM itself is asked. Raise `Invalid`
    at the first option that it refuses."""
    for name in options:
        lane = replace(PLAIN, options=(name,))
        outcome = run(sine_case(), (lane,)).outcomes[lane]
        if isinstance(outcome, Raised) and outcome.type.rpartition(".")[2] == REFUSED:
            message = outcome.message.partition("\n")[0].partition(" candidates are")[0]
            raise Invalid(f"TVM does not take the option {name} as a switch, not even for a sine: {message}")
