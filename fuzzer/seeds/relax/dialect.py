"""The record of how files become cases of Relax: none does."""

from __future__ import annotations

from fuzzer.seeds.dialect import DialectSeeds
from generators.domain import ANY, Domain
from generators.graph import Node
from generators.op import Types
from generators.table import TABLE


def needed(node: Node, place: int, types: Types) -> Domain:
    """Cases that are drawn have the domains of their inputs, and no file is read."""
    return ANY


def copies(node: Node, place: int) -> bool:
    return place == 0 and TABLE[node.op].only_moves


SEEDS = DialectSeeds(resolve={}, needed=needed, copies=copies)
