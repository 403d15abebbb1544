"""The code that runs the references of cases of PyTorch."""

from __future__ import annotations

from fuzzer.lanes.base.lane import Lane


def lane(gradients: bool) -> Lane:
    if gradients:
        from fuzzer.lanes.torch.gradient import TorchGradientLane

        return TorchGradientLane()
    from fuzzer.lanes.torch.eager import TorchLane

    return TorchLane()
