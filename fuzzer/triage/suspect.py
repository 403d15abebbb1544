"""What a failure is suspected of, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from oracles.finding import Kind


class Certainty(StrEnum):
    """How sure a suspicion is."""

    SEEN = "seen"  # the evidence names the call
    ONE_OF = "one of these"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Suspect:
    """What a failure is suspected of.

    operators  rows of the suspected calls, in graph order, each once
    call       the suspected call, where it is the only one: the dtypes and the ranks of its operands, and the
               classes of its attributes, such as `matmul of float16, float16; rank 2, 1`, or `cumsum of int8; rank 2;
               dim: int zero`
    certainty  how sure it is that an operator of `operators` is at fault
    part       the part of TVM that raised, such as `legalization: _split in manipulate.py`; "" where nothing raised
    shows_as   how the suspect alone would show: its converter gave a wrong dtype or shape, and something after it has
               raised. None where it is the failure itself
    called     what reports call the operators, in their order: torch.add, Conv. () if an earlier version saved it
    """

    operators: tuple[str, ...] = ()
    call: str = ""
    certainty: Certainty = Certainty.UNKNOWN
    part: str = ""
    shows_as: Kind | None = None
    called: tuple[str, ...] = ()

    @property
    def typed_call(self) -> str:
        """The operator and the dtypes of its operands; "" where no call is suspected alone."""
        return self.call.partition("; ")[0]

    @property
    def is_known(self) -> bool:
        """Whether an operator or a part of TVM is suspected."""
        return self.certainty is not Certainty.UNKNOWN or bool(self.part)

    @property
    def words(self) -> str:
        """For example `suspect: one of conv2d, relu; codegen: CreateAdd in codegen_llvm.cc`."""
        names = self.called or self.operators  # a row may have another name than the function that people call
        match self.certainty:
            case Certainty.SEEN:
                call = _shortened(self.call, names[0]) or names[0]
            case Certainty.ONE_OF:
                call = f"one of {', '.join(names)}"
            case Certainty.UNKNOWN:
                call = ""
        own = f"it gives a {self.shows_as.replace('-', ' ')}, and a later call fails" if self.shows_as else ""
        return f"suspect: {'; '.join(filter(None, (call, own, self.part)))}" if self.is_known else "no suspect"


def _shortened(call: str, name: str) -> str:
    """The call for a line of a list: what all operands share once, and no attribute that is not given."""
    typed, *parts = [part for part in call.split("; ") if not part.endswith(": None")]
    dtypes = typed.partition(" of ")[2]
    first = " of ".join(filter(None, (name, _once(dtypes))))
    return "; ".join((first, *(f"rank {_once(part[5:])}" if part.startswith("rank ") else part for part in parts)))


def _once(words: str) -> str:
    """bfloat16, bfloat16, bfloat16: bfloat16."""
    return ", ".join(dict.fromkeys(words.split(", "))) if len(set(words.split(", "))) == 1 else words


NO_SUSPECT = Suspect()
