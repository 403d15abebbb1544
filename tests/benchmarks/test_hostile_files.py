"""The benchmark of hostile files in short: some files by hand, some mutations, and that faults are noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import watching
from hostile.at_random import mutation
from hostile.commands import KINDS, VERBS
from hostile.judging import Ended, faults_of
from hostile.place import SECRET, Place
from hostile.rows import rows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROWS = {row.name: row for row in rows()}


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 150
    assert all(row.commands for row in ROWS.values())


@pytest.mark.long
def test_some_files_by_hand_and_some_mutations_do_no_harm() -> None:
    """In a process of their own, because the memory of a fork is that of its parent."""
    command = [sys.executable, str(ROOT / "benchmarks" / "hostile_files.py")]
    command += ["--by-hand", "--every", "397", "--mutations", "40"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " runs, 0 faults" in done.stdout


def test_a_mutation_is_made_again() -> None:
    once, again = (mutation(1, 7, "*") for _ in range(2))
    assert (once.kind, once.verb, once.source.random()) == (again.kind, again.verb, again.source.random())


GOOD = Ended(64, "", "fuzz: /a: no such folder\n", 0.1, 0.1, 100.0)


@pytest.mark.parametrize(
    ("ended", "fault"),
    [
        (replace(GOOD, code=1), "exit code 1"),
        (replace(GOOD, err=f"Traceback (most recent call last):\n{GOOD.err}"), "a traceback"),
        (replace(GOOD, err=""), "refused with 0 sentences"),
        (replace(GOOD, err=GOOD.err * 2), "refused with 2 sentences"),
        (replace(GOOD, err=f"fuzz: {'x' * 300}"), "a line of 306 characters"),
        (replace(GOOD, out="\x1b[2J"), "stdout has the character"),
        (replace(GOOD, out=f"<{SECRET}>"), "what is in a file outside"),
        (replace(GOOD, cpu=10.5), "10.5 s of CPU"),
        (replace(GOOD, wall=31.0), "31.0 s in all"),
        (replace(GOOD, megabytes=501.0), "501 MB"),
        (replace(GOOD, events=["reads /etc/passwd"]), "it reads /etc/passwd"),
    ],
)
def test_a_fault_is_noticed(tmp_path: Path, ended: Ended, fault: str) -> None:
    place = Place(tmp_path / "a")
    place.outside.mkdir()
    (place.outside / "secret").write_text(SECRET)
    assert faults_of(GOOD, place) == []
    (found,) = faults_of(ended, place)
    assert fault in found


def test_a_change_outside_is_noticed(tmp_path: Path) -> None:
    place = Place(tmp_path / "a")
    place.out.mkdir(parents=True)
    place.outside.mkdir()
    (place.outside / "secret").write_text("another")
    (place.out / "page.html").write_text(f"<{SECRET}>")
    assert faults_of(GOOD, place) == [
        "it changed a file outside",
        "page.html has what is in a file outside",
    ]


HARM = {
    "open('/etc/hostname').read()": "reads /etc/hostname",
    "open('/tmp/difftvm-never', 'w')": "writes /tmp/difftvm-never",
    "os.unlink('/tmp/difftvm-never')": "os.remove of /tmp/difftvm-never",
    "os.system('true')": "os.system",
    "__import__('subprocess').run(['true'])": "runs true",
    "__import__('pickle').loads(b'cos\\nsystem\\n.')": "pickle.find_class",
    "exec('1')": "compile of '<string>'",
    "os.listdir('/root')": "lists /root",
    "__import__('socket').create_connection(('127.0.0.1', 9), 0.1)": "socket.",
    "__import__('sqlite3').connect('/etc/x.sqlite')": "opens the database /etc/x.sqlite",
    "open('link').read()": "reads /etc/hostname",
}


def test_the_watcher_notices_each_kind_of_harm(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    program = (
        f"import os\nfor harm in {list(HARM)!r}:\n    try: eval(harm)\n    except Exception: pass\nopen('own').close()"
    )
    (tmp_path / "own").touch()
    log = tmp_path / "log"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "benchmarks" / "watched"),
        watching.FOLDERS: str(tmp_path),
        watching.LOG: str(log),
    }
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, check=True)
    lines = log.read_text().splitlines()
    assert [expected for expected in HARM.values() if not any(expected in line for line in lines)] == []
    assert not any(str(tmp_path) in line for line in lines)


def test_the_watcher_ends_a_process_that_would_start_a_compiler(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "benchmarks" / "watched"),
        watching.FOLDERS: str(tmp_path),
        watching.LOG: str(tmp_path / "log"),
    }
    program = "import subprocess, sys; subprocess.run([sys.executable, '-P', '-m', 'fuzzer.children.zygote'])"
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, check=False)
    assert done.returncode == watching.STARTED


def test_every_kind_of_file_is_read_by_a_command() -> None:
    read = frozenset().union(*(verb.reads for verb in VERBS.values()))
    assert read == frozenset(KINDS)
