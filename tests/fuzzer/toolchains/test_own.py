"""A build of one's own: this very interpreter, with a real zygote that is no host's. And the commands about it."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fuzzer.cli import main
from fuzzer.evaluation import toolchain_check
from fuzzer.findings.replay import LaneReplay
from fuzzer.isolate.executor import Executor
from fuzzer.isolate.fleet import BackendKey, Fleet
from fuzzer.lanes import SAMPLED_LANES, TORCH, TORCH_ENVELOPE, TORCH_F64, TVM_LANES
from fuzzer.system.environment import EnvironmentMissing
from fuzzer.system.exit_codes import Exit
from fuzzer.system.terminal import next_line
from fuzzer.toolchains import registry
from fuzzer.toolchains.lanes import in_toolchain, in_toolchains, named
from fuzzer.toolchains.toolchain import HOST, GraphLanguage, Toolchain
from fuzzer.triage.reproduce import judged_run
from generators.graph import Invalid
from oracles.judge import judge_all
from oracles.outcome import Ran

Fuzz = Callable[..., tuple[int, str, str]]

DONE, BAD_INPUT, ENVIRONMENT = 0, 64, 69


@pytest.fixture
def fuzz(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Fuzz:
    """`fuzz ...` in this process: its exit code, and what it writes to stdout and to stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["cli.py", *map(str, arguments)])
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, out.getvalue(), err.getvalue()

    return run


def test_a_toolchains_python_gets_what_follows_its_name(fuzz: Fuzz, capfd: pytest.CaptureFixture[str]) -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(3)"
    code, _, _ = fuzz("toolchain", "python", "host", "-c", program, "--json", "-h")
    assert (code, capfd.readouterr().out) == (3, "['--json', '-h']\n")


def test_a_toolchains_python_as_json(fuzz: Fuzz) -> None:
    program = "import sys; print(1); print(2, file=sys.stderr); sys.exit(3)"
    code, out, _ = fuzz("toolchain", "python", "--json", "host", "-c", program)
    assert code == 3
    assert json.loads(out) == {"toolchain": "host", "exit": 3, "stdout": "1\n", "stderr": "2\n"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("toolchain", "Missing command"),
        ("toolchain nonsense", "No such command 'nonsense'"),
        ("toolchain add", "Missing argument 'NAME'"),
        ("toolchain add nonsense", "'nonsense' is neither a release of apache-tvm (0.26.0, say) nor relay"),
        ("toolchain add host", "'host' is neither a release"),
        ("toolchain add host --python /bin/true", "'host' is the toolchain that difftvm itself runs in"),
        ("toolchain add 0.26.0 --env K=V", "--env needs --python"),
        ("toolchain add mine --python /bin/true --env K", "--env 'K' is not of the form K=V"),
        ("toolchain add mine --python /bin/true --env =V", "--env '=V' is not of the form K=V"),
        ("toolchain add mine --python /nonexistent/python", "/nonexistent/python is not a program"),
        ("toolchain add a/b --python /bin/true", "'a/b' is not a name for a toolchain"),
        ("toolchain remove mine", "there is no toolchain 'mine'; `fuzz toolchain list` lists them"),
        ("toolchain check mine", "there is no toolchain 'mine'; `fuzz toolchain list` lists them"),
    ],
)
def test_bad_input(fuzz: Fuzz, cache: Path, arguments: str, says: str) -> None:
    code, out, err = fuzz(*arguments.split())
    assert (code, out) == (BAD_INPUT, "")
    assert err.startswith("fuzz: ")
    assert says in err
    assert err.count("\n") == 1
    assert not list(cache.glob("*/*"))


def test_a_run_in_a_toolchain_that_is_not_there(fuzz: Fuzz, tmp_path: Path) -> None:
    message = "fuzz: there is no toolchain 'mine' here; `fuzz toolchain add mine` may install it\n"
    assert fuzz("--toolchain", "host,mine", "--campaign", tmp_path / "c") == (ENVIRONMENT, "", message)
    assert not (tmp_path / "c").exists()


def test_an_empty_list_says_what_to_do(fuzz: Fuzz) -> None:
    code, out, _ = fuzz("toolchain", "list")
    assert (code, out.splitlines()[1:]) == (DONE, [next_line("toolchain", "add", "0.26.0")])
    assert out.startswith(f"host: TVM {registry.host_release()}, ")
    assert fuzz("toolchain", "list", "--json")[:2] == (DONE, "[]\n")


def test_a_broken_record_is_listed_as_such(fuzz: Fuzz, cache: Path) -> None:
    (cache / "bad").mkdir(parents=True)
    (cache / "bad" / registry.NAME).write_text("{}")
    code, out, _ = fuzz("toolchain", "list")
    assert code == DONE
    assert out.splitlines()[1].startswith(f"BROKEN {cache / 'bad' / registry.NAME}: ")
    assert fuzz("toolchain", "check", "bad")[0] == BAD_INPUT
    assert fuzz("toolchain", "remove", "bad") == (DONE, f"removed bad; {next_line('toolchain', 'list')}\n", "")


@pytest.mark.tvm
def test_add_list_remove(fuzz: Fuzz) -> None:
    code, out, err = fuzz("toolchain", "add", "mine", "--python", sys.executable, "--env", "K=V=W", "--env", "L=")
    assert (code, err) == (DONE, "asking it for its versions ...\n")
    assert out.startswith(f"mine: TVM {registry.host_release()} (relax), in ")
    code, out, _ = fuzz("toolchain", "list", "--json")
    (listed,) = json.loads(out)
    assert listed.pop("versions")["tvm"] == registry.host_release()
    assert listed == {
        "format": 1,
        "name": "mine",
        "kind": "relax",
        "python": sys.executable,
        "environment": {"K": "V=W", "L": ""},
        "size": 0,
    }
    assert "mine: TVM" in fuzz("toolchain", "list")[1]
    assert fuzz("toolchain", "add", "mine", "--python", sys.executable)[0] == BAD_INPUT
    assert fuzz("toolchain", "remove", "mine")[0] == DONE
    assert fuzz("toolchain", "list", "--json")[1] == "[]\n"


def record_mine(**environment: str) -> None:
    """The toolchain `mine`, as `fuzz toolchain add` saves it once it has asked the interpreter for its versions."""
    with registry.new_folder("mine"):
        registry.save(Toolchain("mine", sys.executable, environment), {"tvm": str(registry.host_release())})


@pytest.fixture
def mine(executor: Executor, cache: Path, tmp_path: Path) -> Iterator[Fleet]:
    """The host's zygote, which all tests share, and one of `mine`."""
    record_mine()
    with Fleet(tmp_path / "scratch", registry.find) as started:
        started._backends[BackendKey("host")] = executor
        yield started
        del started._backends[BackendKey("host")]


@pytest.mark.tvm
@pytest.mark.long
def test_lanes_in_another_toolchain_are_judged_by_references_of_the_host(mine: Fleet) -> None:
    """And its child finds our packages by links, in another process than the host's."""
    lanes = in_toolchains(TVM_LANES, named("mine"))
    assert {lane.toolchain for lane in lanes} == {"mine"}
    case = toolchain_check.case()
    result = judged_run(mine.run, case, (TORCH, TORCH_F64, TORCH_ENVELOPE, *lanes))
    assert all(isinstance(outcome, Ran) for outcome in result.outcomes.values())
    assert list(judge_all(case, result.outcomes)) == []
    assert sorted(map(str, mine._backends)) == ["host", "mine"]
    assert mine.versions["tvm"] == registry.host_release()


@pytest.mark.tvm
@pytest.mark.long
def test_every_lane_works_on_the_case_of_the_check(fleet: Fleet) -> None:
    report = toolchain_check.check(named("host")[0], fleet)
    assert [lane for lane in report.lanes if not lane.passed] == []
    assert [lane.lane for lane in report.lanes] == [lane.name for lane in (*TVM_LANES, *SAMPLED_LANES)]
    assert "no size of the case is symbolic" in [lane.reason for lane in report.lanes]


@pytest.mark.tvm
@pytest.mark.long
def test_a_toolchain_that_fails_the_check(fuzz: Fuzz, tmp_path: Path) -> None:
    """Its TVM loses the operator relu."""
    (tmp_path / "sitecustomize.py").write_text(SABOTAGE)
    record_mine(PYTHONPATH=str(tmp_path))
    code, out, err = fuzz("toolchain", "check", "mine")
    assert code == ENVIRONMENT
    assert "  FAILED relax-export-llvm: relax-export-llvm refuses a valid PyTorch model" in out
    assert err == "fuzz: toolchain 'mine' fails on a case that every TVM should compile\n"


SABOTAGE = """
import sys
if "fuzzer.children.zygote" in sys.orig_argv:
    from tvm import relax
    def broken(*args): raise RuntimeError("sabotaged")
    relax.VirtualMachine.__init__ = broken
"""


@pytest.mark.tvm
@pytest.mark.long
def test_a_replay_says_where_a_finding_fails_and_where_not(fuzz: Fuzz, tmp_path: Path, saved: Path) -> None:
    """The toolchain is sabotaged, so that it fails, but not as the finding says; the host does not fail."""
    (tmp_path / "sitecustomize.py").write_text(SABOTAGE)
    record_mine(PYTHONPATH=str(tmp_path))
    code, out, _ = fuzz("--replay", saved, "--toolchain", f"mine,{registry.host_release()}", "--json")
    runs = json.loads(out)["runs"]
    assert code == Exit.DIFFERENT
    assert [(run["lane"], run["toolchain"], run["verdict"]) for run in runs] == [
        ("relax-export-llvm", "mine", "different"),
        ("relax-export-llvm", "host", "gone"),
    ]
    assert "sabotaged" in runs[0]["told"]
    assert runs[1]["told"] == "relax-export-llvm: Ran, no failure"


@pytest.mark.parametrize(
    ("verdict", "ran", "word"),
    [
        (Exit.SAME, True, "fails"),
        (Exit.GONE, True, "passes"),
        (Exit.GONE, False, "is not run"),
        (Exit.DIFFERENT, True, "fails otherwise"),
        (Exit.TIMED_OUT, True, "timed out"),
        (Exit.OUT_OF_MEMORY, True, "out of memory"),
    ],
)
def test_words_of_the_table(verdict: Exit, ran: bool, word: str) -> None:
    assert LaneReplay(TVM_LANES[0], verdict, "", ran).verdict_text == word


# --- which lanes run where


OLD, RELAY = Toolchain("old", "/opt/python"), Toolchain("relay", "/opt/python", kind=GraphLanguage.RELAY)


def test_a_lane_keeps_its_name() -> None:
    lane = TVM_LANES[0]
    assert in_toolchain(lane, "old") == replace(lane, toolchain="old")
    assert in_toolchain(in_toolchain(lane, "old"), "host") == lane


def test_references_stay_in_the_host() -> None:
    lanes = (TORCH, TVM_LANES[0])
    assert in_toolchains(lanes, (HOST, OLD)) == (*lanes, in_toolchain(TVM_LANES[0], "old"))


def test_a_toolchain_without_lanes_is_refused() -> None:
    message = r"^toolchain 'relay' runs lanes of relay, and none of these: relax-export-llvm$"
    with pytest.raises(Invalid, match=message):
        in_toolchains(TVM_LANES[:1], (OLD, RELAY))
    with pytest.raises(Invalid, match=r"^toolchain 'old' runs lanes of relax, and none of these: torch$"):
        in_toolchains((TORCH,), (OLD,))
    assert in_toolchains((), (OLD, RELAY)) == ()


def test_toolchains_of_a_list_each_once(cache: Path) -> None:
    assert named(f"host, {registry.host_release()},host") == (HOST,)
    with pytest.raises(EnvironmentMissing, match=r"^there is no toolchain 'old' here"):
        named("host,old")
