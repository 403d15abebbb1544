"""Hypothesis strategies of cases: `@given(difftvm.strategies.cases("conv*"))`. Needs the package hypothesis."""

from fuzzer.api.strategies import cases as cases

__all__ = ["cases"]
