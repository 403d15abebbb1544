"""What reports call the model of a dialect, and those whose results are right for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DialectWords:
    """Words for texts.

    model      what a user has: "ONNX model"
    reference  whose result is expected, in short
    run        a sentence without its end: who runs the model
    results    "The result agrees with " these
    """

    model: str
    reference: str
    run: str
    results: str


WORDS = {
    "torch": DialectWords("PyTorch model", "PyTorch", "Eager PyTorch runs this model", "PyTorch's"),
    "onnx": DialectWords(
        "ONNX model",
        "onnxruntime",
        "onnxruntime and the reference evaluator of the onnx package run this model",
        "that of onnxruntime, and of the reference evaluator of the onnx package",
    ),
}


def words_of(dialect: str) -> DialectWords:
    return WORDS[dialect]
