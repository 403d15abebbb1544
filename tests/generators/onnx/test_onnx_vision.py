"""Images sampled at points, regions and boxes."""

from __future__ import annotations

import numpy as np

from fuzzer.lanes.onnx.definitions.vision import MaxRoiPool
from generators.onnx.rows import ROWS


def test_onnxruntime_has_no_kernels_of_these_versions() -> None:
    assert not {"MaxRoiPool-22", "RoiAlign-22"} & ROWS.keys()


def test_windows_of_a_region_may_overlap() -> None:
    """Three columns in two windows: columns 0 and 1, and columns 1 and 2. Row 1 alone."""
    image = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    region = np.array([[0, 0, 1, 2, 1]], np.float32)
    (found,) = MaxRoiPool._run(MaxRoiPool.__new__(MaxRoiPool), image, region, (1, 2), 1.0)
    assert found.tolist() == [[[[4, 5]]]]
