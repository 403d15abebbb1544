"""The stages of a lane, and the order in which a lane enters them."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """The step of a lane in which something happened, in the order in which a lane enters them."""

    START = "start"  # before the lane's first step
    RENDER = "render"
    EXPORT = "export"
    VERIFY = "verify"  # an exported ONNX file is verified before it is imported
    IMPORT = "import"
    TRANSFORM = "transform"
    COMPILE = "compile"
    LOAD = "load"
    RUN = "run"

    def is_after(self, other: Stage) -> bool:
        """Whether a lane enters this stage later."""
        stages = list(Stage)
        return stages.index(self) > stages.index(other)
