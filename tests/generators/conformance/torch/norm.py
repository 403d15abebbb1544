"""Rows of `norm` and `softmax`."""

from __future__ import annotations

from conformance import Table

RAISED = (RuntimeError, IndexError, ValueError, ZeroDivisionError)
REFUSED: Table = [
    ("batch_norm", "float32[2,3] float32[2] float32[2]", {}, "takes parameters of [3]"),
    ("batch_norm", "float32[3] float32[3] float32[3]", {}, "takes rank 2 or more"),
    ("batch_norm", "float32[2,3] float16[3] float16[3]", {}, "dtypes do not go with float32[2,3]"),
    ("batch_norm", "float16[2,3] float32[3] float32[3] float16[3]", {}, "dtypes do not go with"),
    ("batch_norm", "float32[2,0] float32[0] float32[0] float32[0]", {}, "no weight fits float32[2,0]"),
    ("batch_norm_batch_stats", "float32[1,3,1]", {}, "more than 1 value per channel"),
    ("batch_norm_batch_stats", "float32[2,3]", {"eps": 0}, "eps must be positive"),
    ("instance_norm", "float32[2,3]", {}, "more than 1 value per channel"),
    ("instance_norm", "float32[2,3,1]", {}, "more than 1 value per channel"),
    ("instance_norm", "float32[0,3,4] float32[3]", {}, "no weight fits"),
    ("layer_norm", "float32[2,3]", {"normalized_shape": (2,)}, "does not fit"),
    ("layer_norm", "float32[2,3]", {"normalized_shape": ()}, "does not fit"),
    ("layer_norm", "float32[2,3] float32[2] float32[2]", {"normalized_shape": (3,)}, "takes parameters of [3]"),
    ("group_norm", "float32[2,3,4]", {"num_groups": 2}, "3 channels do not split into 2 groups"),
    ("group_norm", "float32[1,2]", {"num_groups": 2}, "more than 1 value"),
    ("group_norm", "float32[2,0]", {"num_groups": 0}, "do not split into 0 groups"),
    ("rms_norm", "int64[2]", {"normalized_shape": (2,), "eps": 0.1}, "is not defined for int64"),
    ("local_response_norm", "float32[2,3]", {"size": 1}, "takes rank 3 or 4"),
    ("local_response_norm", "float32[2,3,4]", {"size": 0}, "a size above 0"),
    ("local_response_norm", "float16[2,3,4,5]", {"size": 2}, "is not defined for float16"),
    ("normalize", "float32[2,0]", {"p": "inf"}, "no largest element"),
    ("normalize", "float32[2,3]", {"dim": (0, -2)}, "repeat an axis"),
    ("normalize", "float16[2,3]", {"eps": 1e6}, "1000000.0 is too large for float16"),
    ("softmax", "float32[2,3]", {"dim": 2}, "dim 2 is out of range for rank 2"),
    ("softmax", "int64[2,3]", {"dim": 0}, "is not defined for int64"),
    ("softmax", "float32[]", {"dim": 1}, "dim 1 is out of range for rank 0"),
    ("softmin", "bool[2]", {"dim": 0, "dtype": "float32"}, "is not defined for bool"),
]

STRICTER: Table = [
    ("layer_norm", "float32[2,3]", {"normalized_shape": (3,), "eps": -1.0}, "eps must not be negative"),
    ("rms_norm", "float32[2,3]", {"normalized_shape": (3,)}, "takes an eps, for all but float64"),
    ("rms_norm", "float32[3] int64[3]", {"normalized_shape": (3,), "eps": 0.1}, "is not defined for int64"),
    ("normalize", "float16[2,3]", {}, "eps must not be below"),  # 1e-12 is 0 in float16
    ("normalize", "float32[2,3]", {"p": -1.0}, "p must not be negative"),
    # PyTorch accepts contiguous inputs only
    ("local_response_norm", "float32[1,1,1,2,2]", {"size": 1}, "takes rank 3 or 4"),
    ("instance_norm_running_stats", "float32[2,3,4] float64[3] float64[3]", {}, "dtypes do not go with"),
]

RESULTS: Table = [
    ("batch_norm", "bfloat16[2,3] float32[3] float32[3]", {}, "bfloat16[2,3]"),
    ("batch_norm", "float32[1,2,1,2,1,2] float32[2] float32[2]", {"momentum": 1}, "float32[1,2,1,2,1,2]"),
    ("batch_norm_batch_stats", "float32[0,3] float32[3]", {}, "float32[0,3]"),
    ("instance_norm_running_stats", "float32[2,3] float32[3] float32[3]", {}, "float32[2,3]"),
    ("layer_norm", "float16[2,3] float32[3] float32[3]", {"normalized_shape": (3,)}, "float16[2,3]"),
    ("layer_norm", "float32[2,0]", {"normalized_shape": (2, 0)}, "float32[2,0]"),
    ("group_norm", "float32[2,2]", {"num_groups": 2}, "float32[2,2]"),
    ("group_norm", "float32[2,0]", {"num_groups": 5}, "float32[2,0]"),
    ("rms_norm", "float64[2,3]", {"normalized_shape": (3,)}, "float64[2,3]"),
    ("rms_norm", "float32[2] bfloat16[2]", {"normalized_shape": (2,), "eps": 0}, "float32[2]"),
    ("local_response_norm", "int64[2,3,4]", {"size": 5}, "float32[2,3,4]"),
    ("local_response_norm", "int64[2,3,0]", {"size": 5}, "int64[2,3,0]"),
    ("normalize", "float32[]", {"dim": -1}, "float32[]"),
    ("normalize", "float32[2,3]", {"dim": (), "p": 0}, "float32[2,3]"),
    ("softmax", "float32[]", {"dim": -1}, "float32[]"),
    ("softmax", "bool[2,3]", {"dim": -2, "dtype": "float16"}, "float16[2,3]"),
    ("log_softmax", "float64[0,3]", {"dim": 0, "dtype": "bfloat16"}, "bfloat16[0,3]"),
]
