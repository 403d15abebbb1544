"""The tests of the small project: `pytest small_checks.py`. With CHANGE=small_change.py, TVM has that change."""

from __future__ import annotations

import os
from typing import Any

import pytest
from small_model import model
from small_pass import merge_relu


def test_the_model(difftvm: Any) -> None:
    difftvm.check(*model(), lanes="relax-export-llvm", preload=os.environ.get("CHANGE"), reduce=False)


@pytest.mark.difftvm(tests=2, seconds=3600)
def test_models_of_random_operators(difftvm: Any) -> None:
    for case in difftvm.cases("neg", max_ops=2):
        difftvm.check(case, lanes="relax-export-llvm")


@pytest.mark.difftvm(tests=20, seconds=3600)
def test_the_pass(difftvm: Any) -> None:
    difftvm.check_pass(merge_relu, ops="relu,neg", idempotent=True)
