"""How tests are assigned to nodes, and how rounds are stored."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fuzzer.cluster import assignment
from fuzzer.cluster.assignment import Assignment, Round, current_round, fitting, shapes_of
from generators.graph import Invalid


def test_the_first_round(tmp_path: Path) -> None:
    assert current_round(tmp_path, None, 3, None) == Round(0, None, [0, 1, 2])
    assert current_round(tmp_path, 2, 3, 10) == Round(0, 10, [0, 1])


def test_a_round_that_is_not_done_continues(tmp_path: Path) -> None:
    begun = Round(0, None, [4, 9])
    assignment.write(tmp_path, begun)
    assert current_round(tmp_path, None, 7, None) == begun
    assert current_round(tmp_path, 2, 7, None) == begun


def test_another_number_of_shares_begins_a_round_after_all_assigned_tests(tmp_path: Path) -> None:
    assignment.write(tmp_path, Round(0, None, [4, 9]))
    assert current_round(tmp_path, 3, 2, None) == Round(9, None, [9, 10, 11])
    assert current_round(tmp_path, None, 2, 5) == Round(9, 14, [10, 9])


def test_tests_that_are_done_are_not_assigned_again(tmp_path: Path) -> None:
    done = Round(0, 10, [10, 11])
    assert [done.is_done(0), done.is_done(1), done.done] == [True, True, True]
    assignment.write(tmp_path, done)
    assert current_round(tmp_path, None, 2, 5) == Round(10, 15, [10, 11])


def test_an_older_update_does_not_move_a_share_back() -> None:
    stored = Round(0, 10, [0, 1])
    stored.advance(1, 7)
    stored.advance(1, 5)
    assert (stored.next_tests, stored.done) == ([0, 7], False)


def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / assignment.NAME).write_text('{"first": 0,')
    with pytest.raises(Invalid, match="without it the tests are assigned anew"):
        assignment.read(tmp_path)


def test_a_share_for_each_node_that_computes() -> None:
    nodes = [{"memory": 1.0}, {"CPU": 2.0}, {"CPU": 16.0, "GPU": 8.0}]
    assert shapes_of(nodes, None) == [(16, 8), (2, 0)]
    assert shapes_of(nodes, 1) == [(16, 8)]
    assert shapes_of(nodes, 4) == [(16, 8), (2, 0), (16, 8), (16, 8)]
    with pytest.raises(Invalid, match="no node"):
        shapes_of([{"memory": 1.0}], 3)


def test_a_share_shrinks_to_the_largest_node() -> None:
    nodes = [{"memory": 1.0}, {"CPU": 4.0, "GPU": 1.0}, {"CPU": 8.0}]
    assert fitting((8, 0), nodes) == (8, 0)
    assert fitting((2, 1), nodes) == (2, 1)
    assert fitting((16, 8), nodes) == (8, 0)
    assert fitting((4, 2), nodes) == (4, 0)
    assert fitting((16, 8), [{"memory": 1.0}]) == (16, 8), "a node may still come"


def test_the_command_of_a_node(tmp_path: Path) -> None:
    share = Assignment(1, 4, 7, 100, None, 8, ("--lanes=relax-*",))
    words = ["--campaign", str(tmp_path), "--seed", "7", "--share", "2/4", "--first", "100", "--workers", "8"]
    python = [sys.executable, "-P", "-m", "fuzzer.children.node", str(os.getpid()), "run"]
    assert share.command(tmp_path) == [*python, *words, "--lanes=relax-*"]
    bounded = Assignment(1, 4, 7, 100, 200, 8, (), ("x",))
    assert bounded.command(tmp_path) == ["x", str(os.getpid()), "run", *words, "--end", "200"]
