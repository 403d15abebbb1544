"""`fuzz run --cluster`: what nodes get of the options."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from fuzzer.cli import command_of
from fuzzer.commands.run_cluster import OF_NODES, cluster_options
from fuzzer.commands.run_options import RunOptions

OF_THE_DRIVER = {
    *("seconds", "tests", "until_new", "seed", "workers", "campaign", "share", "first", "end"),
    *("around", "inputs", "sizes", "configurations", "cluster", "nodes", "node_dir"),
    *("auto_file", "repo", "token_file", "base_url", "ledger", "metrics", "stats", "json"),
}
"""Options that nodes do not get: the driver assigns or keeps them, or they exclude `--cluster`."""


def test_each_option_is_for_nodes_or_for_the_driver() -> None:
    assert {*OF_NODES, "own_pass", "guided"} ^ OF_THE_DRIVER == {field.name for field in fields(RunOptions)}


def test_nodes_get_the_options_that_the_user_gave() -> None:
    options = RunOptions(
        lanes="relax-*",
        guided=False,
        own_pass=["a", "b:idempotent"],
        preload=Path("p.py"),
        disk_limit=2.5,
        releases="0.1",
        seconds=60.0,
    )
    cluster = cluster_options(options, "local")
    given = command_of("run").make_context("run", list(cluster.arguments)).params
    assert given == {
        **{field.name: getattr(RunOptions(), field.name) for field in fields(RunOptions)},
        "inputs": (),  # a list that nobody gave
        "lanes": "relax-*",
        "guided": False,
        "own_pass": ["a", "b:idempotent"],
        "preload": Path("p.py").resolve(),
        "disk_limit": 2.5,
        "releases": "0.1",
    }
    assert cluster.limits.seconds == 60.0
    assert cluster.node_folder == Path("nodes").resolve()
