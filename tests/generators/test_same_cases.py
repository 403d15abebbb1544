"""Rows and motifs that were added later change which one an index draws, and nothing else: without them, the first 200
cases of seed 1 are those that were drawn before."""

from __future__ import annotations

import hashlib

import pytest

from generators.case_file import digest
from generators.choice import NumpySource
from generators.random_graph import generate
from generators.torch.motifs import PLAIN_MOTIFS
from generators.torch.ops import OPS, native, size_uses

ADDED_ROWS = frozenset(op.name for op in (*native.OPS, *size_uses.OPS))

BEFORE = "c898757d10bddc145e1c5794cac1ec81ff67a66699ae03abaaf8cb528c9db293"
"""The SHA-256 of the digests of the 200 cases without these rows and motifs. It was made anew when the
values of a graph that does not suit the extreme profile were no longer drawn."""


@pytest.mark.slow
def test_the_rows_that_were_there_before_draw_the_same_cases() -> None:
    ops = tuple(op for op in OPS if op.name not in ADDED_ROWS)
    found = hashlib.sha256()
    for number in range(200):
        found.update(digest(generate(NumpySource(1, number), ops=ops, motifs=PLAIN_MOTIFS)).encode())
    assert found.hexdigest() == BEFORE
