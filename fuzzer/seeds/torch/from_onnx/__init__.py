"""ONNX operators as calls of PyTorch."""

from collections.abc import Mapping

from fuzzer.seeds.torch.from_onnx import layers, simple
from fuzzer.seeds.torch.from_onnx.api import Rule
from fuzzer.seeds.torch.from_onnx.api import Translation as Translation
from fuzzer.seeds.torch.from_onnx.api import Untranslatable as Untranslatable

RULES: Mapping[str, Rule] = {**simple.RULES, **layers.RULES}
"""By the name of the ONNX operator."""
