"""What a check of a model says where it finds nothing wrong."""

from __future__ import annotations

from dataclasses import dataclass

from fuzzer.api.found_failure import FoundFailure
from generators.graph import Invalid


class NotWhole(AssertionError):
    """A strict check found no failure, but no lane compiled some operators of the model. `checked` says what ran."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        listed = "".join(f"\n  {each}" for each in checked.not_covered)
        super().__init__(f"not all of the model was compiled; strict=False allows that:{listed}")

    def __reduce__(self) -> tuple[type[NotWhole], tuple[Checked]]:
        return type(self), (self.checked,)


class NothingJudged(AssertionError):
    """A strict check found no failure, but judged no value of the model. `checked` says what ran."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        listed = "".join(f"\n  {each}" for each in checked.not_judged)
        super().__init__(f"no value of the model was judged; strict=False allows that:{listed}")

    def __reduce__(self) -> tuple[type[NothingJudged], tuple[Checked]]:
        return type(self), (self.checked,)


class NothingRan(Invalid):
    """No lane can run the model: there is nothing to compare. `checked` says why, lane by lane."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        lanes = (f"{name}: {why}" for name, why in checked.not_run)
        super().__init__(f"no lane ran: {'; '.join((*lanes, *checked.not_judged))}")

    def __reduce__(self) -> tuple[type[NothingRan], tuple[Checked]]:
        return type(self), (self.checked,)


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check ran.

    ran            names of the lanes that gave a result in at least one case
    not_run        names of the lanes that gave no result in a case, each with the reason. `onnx` is among them where
                   onnxruntime does not support a file: the reference evaluator of the onnx package judges it alone
    not_confirmed  failures that three more runs did not all show, or that TVM documents: they are not raised
    not_covered    operators of the model that no lane compiled, each with the reason
    cases          the number of cases: 1 where nothing of the model is cut out and its sizes are fixed
    seconds        wall time
    aliased        lanes that return an output which shares memory with an input, where PyTorch's does not. That is no
                   failure unless `aliasing` is given
    judged         how many elements of the results were judged, in all cases
    unjudged       why others were not, each with how many
    not_judged     what was compiled and whose values nothing was compared with, each with the reason; of a Relax
                   module, the operators without a definition: its values were compared with those of the program
                   without optional passes
    elsewhere      failures of exporters, of onnxruntime and of PyTorch: TVM is not at fault, and they are not raised
    not_given      why lanes ran a model that difftvm wrote from the graph of the given one; "" where they ran the given
                   one as it is
    in_form        failures of that model, saved as others are: the given one may be right, and they are not raised
    """

    ran: tuple[str, ...]
    not_run: tuple[tuple[str, str], ...]
    not_confirmed: tuple[str, ...]
    not_covered: tuple[str, ...]
    cases: int
    seconds: float
    aliased: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    not_given: str = ""
    in_form: tuple[FoundFailure, ...] = ()
    judged: int = 0
    unjudged: tuple[tuple[str, int], ...] = ()

    @property
    def whole(self) -> bool:
        """Whether each operator of the model is in a case that at least one lane compiled."""
        return not self.not_covered

    @property
    def none_judged(self) -> bool:
        """Whether lanes gave numbers, and none of them was judged: then nobody knows whether the model is right."""
        return bool(self.unjudged) and not self.judged
