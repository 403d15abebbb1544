"""Python's parser, in several threads."""

from __future__ import annotations

import ast
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from generators import syntax_tree

pytestmark = pytest.mark.slow

PROGRAM = "\n".join(f"x{number} = f(a[{number}], (b, [c, {{'d': -e.g}}]))" for number in range(200))


def test_threads_parse_at_the_same_time() -> None:
    """The collector runs code of Python while a tree is made, so that another thread goes on. On CPython 3.11.7 some of
    these calls fail with `ast.parse`."""
    before, interval = gc.get_threshold(), sys.getswitchinterval()
    calls = [lambda *_: None]
    gc.callbacks.extend(calls)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: ast.dump(syntax_tree.parse(PROGRAM)), range(40)))
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*before)
        gc.callbacks.remove(calls[0])
    assert len(set(found)) == 1


def test_an_expression() -> None:
    assert ast.unparse(syntax_tree.parse_expression("a + 1")) == "a + 1"
    with pytest.raises(SyntaxError):
        syntax_tree.parse_expression("a = 1")
