"""What a killed run left goes at the next start; nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ending import ends

from fuzzer.api.check import FOLDER as OF_CHECKS
from fuzzer.campaign.plan import aim
from fuzzer.campaign.store import filing_progress, leftovers, state
from fuzzer.campaign.store.disk_space import PROBE_NAME
from fuzzer.campaign.store.layout import ASIDE, SCRATCH
from fuzzer.campaign.store.leftovers import FILES, FOLDERS
from fuzzer.cluster import assignment
from fuzzer.commands import diff_options, minimize
from fuzzer.commands.run_cluster import NODES
from fuzzer.findings import merge
from fuzzer.watching.stats_files import PLOT, STATS


def removed(folder: Path) -> None:
    leftovers.remove(folder, folder / SCRATCH)


@pytest.mark.parametrize("name", FOLDERS)
def test_incomplete_files_and_folders_go(tmp_path: Path, name: str) -> None:
    (tmp_path / name / ".tmp-a").mkdir(parents=True)
    (tmp_path / name / ".tmp-a" / "case.json").write_text("{")
    (tmp_path / name / "whole").mkdir()
    (tmp_path / name / "whole" / "finding.json").write_text("{}")
    (tmp_path / name / "whole" / ".tmp-finding.json-999999999").write_text("{")
    removed(tmp_path)
    left = {str(path.relative_to(tmp_path / name)) for path in (tmp_path / name).rglob("*")}
    assert left == {"whole", "whole/finding.json"}


def test_the_users_own_files_stay(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("mine")
    for name in FILES:
        (tmp_path / f".tmp-{name}-7").write_text("{")
    (tmp_path / PROBE_NAME).write_text("the trial of a run that was killed")
    mine = [tmp_path / ".tmp-notes", tmp_path / "src" / ".tmp-a", tmp_path / "crashes" / "x" / "deeper" / ".tmp-a"]
    for path in mine:
        path.mkdir(parents=True)
    (tmp_path / "crashes" / ".tmp-link").symlink_to(elsewhere)
    removed(tmp_path)
    assert all(path.exists() for path in mine)
    assert elsewhere.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == [".tmp-notes", "crashes", "elsewhere.txt", "src"]
    assert not (tmp_path / "crashes" / ".tmp-link").is_symlink()


def test_each_document_of_a_campaign_is_known() -> None:
    documents = {state.NAME, aim.NAME, filing_progress.NAME, assignment.NAME, merge.NAME, STATS, PLOT}
    assert documents <= set(FILES)


def test_git_ignores_what_a_campaign_leaves_in_a_checkout() -> None:
    """`make fuzz` and other commands run in the checkout. Findings are ignored one by one, and cases of the corpus are
    committed."""
    ignored = (Path(__file__).parents[3] / ".gitignore").read_text().split()
    own = {OF_CHECKS.name, minimize.FOLDER, diff_options.FOLDER.name, NODES}
    folders = {*FOLDERS, SCRATCH, ASIDE, *own} - {"crashes", "corpus"}
    assert {f"/{name}" for name in FILES} | {f"/{name}/" for name in folders} <= set(ignored)


def test_what_another_command_writes_stays(tmp_path: Path) -> None:
    folder = tmp_path / "crashes" / "x"
    folder.mkdir(parents=True)
    other = subprocess.Popen([sys.executable, "-c", "'fuzz'; input()"], stdin=subprocess.PIPE)
    unrelated = subprocess.Popen(["sleep", "60"])
    try:
        writing = folder / f".tmp-finding.json-{other.pid}"
        old = folder / f".tmp-finding.json-{unrelated.pid}"
        own = folder / f".tmp-finding.json-{os.getpid()}"
        later = tmp_path / f".tmp-{FILES[-1]}-999999999"
        for path in (writing, old, own, later):
            path.write_text("{")
        removed(tmp_path)
        assert list(folder.iterdir()) == [writing]
        assert list(tmp_path.iterdir()) == [tmp_path / "crashes"]
    finally:
        unrelated.kill()
        unrelated.wait()
        other.communicate(b"\n")


def test_processes_of_a_killed_run_end(tmp_path: Path) -> None:
    stray_program = "print(flush=True); import time; time.sleep(60)"  # its environment can be read when it prints
    double = (
        f"from subprocess import *; stray = Popen({[sys.executable, '-c', stray_program]}, start_new_session=True, "
        "stdout=PIPE); stray.stdout.readline(); print(stray.pid)"
    )
    environment = {**os.environ, "TMPDIR": f"{tmp_path}/{SCRATCH}/host/tmpabc"}
    done = subprocess.run([sys.executable, "-c", double], env=environment, stdout=subprocess.PIPE, text=True)
    stray = int(done.stdout)
    removed(tmp_path)
    assert ends(stray)


def test_nothing_is_deleted_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "outside" / ".tmp-of-the-user").mkdir(parents=True)
    (tmp_path / "crashes").mkdir()
    (tmp_path / "crashes" / "x").symlink_to(tmp_path / "outside")
    listed: list[object] = []
    sys.addaudithook(lambda event, found: listed.append(found[0]) if event == "os.scandir" else None)
    removed(tmp_path)
    assert (tmp_path / "outside" / ".tmp-of-the-user").is_dir()
    assert not any(str(path).endswith("crashes/x") for path in listed)


def test_a_pipe_in_the_place_of_the_scratch_folder_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / SCRATCH)
    removed(tmp_path)
    assert list(tmp_path.iterdir()) == []
