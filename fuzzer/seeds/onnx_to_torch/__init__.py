"""ONNX operators as calls of PyTorch."""

from collections.abc import Mapping

from fuzzer.seeds.onnx_to_torch import layers, simple
from fuzzer.seeds.onnx_to_torch.api import Rule
from fuzzer.seeds.onnx_to_torch.api import Translation as Translation
from fuzzer.seeds.onnx_to_torch.api import Untranslatable as Untranslatable

RULES: Mapping[str, Rule] = {**simple.RULES, **layers.RULES}
"""By the name of the ONNX operator."""
