"""The stages of a lane, and the order in which a lane enters them."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """The step of a lane in which something happened."""

    START = "start"  # before the lane's first step
    RENDER = "render"
    EXPORT = "export"
    IMPORT = "import"
    VERIFY = "verify"
    TRANSFORM = "transform"
    COMPILE = "compile"
    LOAD = "load"
    RUN = "run"

    def is_after(self, other: Stage) -> bool:
        """Whether a lane enters this stage later. An exported ONNX file is verified before it is imported."""
        return _IN_ORDER.index(self) > _IN_ORDER.index(other)


_IN_ORDER = (
    Stage.START,
    Stage.RENDER,
    Stage.EXPORT,
    Stage.VERIFY,
    Stage.IMPORT,
    Stage.TRANSFORM,
    Stage.COMPILE,
    Stage.LOAD,
    Stage.RUN,
)
