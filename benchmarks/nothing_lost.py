"""Which planted bugs and founding cases another version finds and this one does not, in the same cases.

    python benchmarks/nothing_lost.py [--against PATH] [--cases 2000] [--most 10] [--before 30] [--only WORD]
                                      [--missed 200] [--no-founding] [--json FILE]

The bugs are those of `tests/fuzzer/triage/blame/planted.py`: of every stage, silent and loud, in passes and in targets.
Sixty campaigns of 2,000 tests would take days, so each bug gets only cases that can show it: those of the first
`--cases` random cases that hold its operator with a result in float32 and without symbolic sizes, the smallest first,
`--most` of them. A bug that this version misses there gets `--missed` of them, in a new campaign. A bug of all
operators, such as a pass that raises for each module, shows in cases of any. Before these come the first `--before`
cases that cannot show it: what a lane of tier 2 is worth depends on what was compiled earlier. These cases are the
corpus of a new campaign, which runs each of them unchanged (`fuzz run --tests N --preload`, with the faults of the
checkout that runs). The other version gets the very same cases of the bugs that this version misses.

Campaigns run the default mix of lanes, so a version may also miss a bug because it did not choose the lane. A bug is
found if a finding, a waiting or a parked sighting of TVM shows its failure with the fault planted and does not show it
without: other findings are TVM's own bugs.

The founding cases are those of `fuzz corpus --founding --run`. Prints a line for each bug and each founding case that
fails, and then a summary. Exits with 1 if only the other version finds something (without --against: if this version
misses something), or if a campaign or the founding cases could not be run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from campaign_files import Folders, case_in, coarse, counted_in, of_tvm, read
from child_campaign import ROOT, fuzz_to_its_end, last_line, raise_on_signals, require_checkout, running

sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "fuzzer" / "triage" / "blame")]

from planted import PLANTED, Planted  # noqa: E402 - a module of the tests

from fuzzer.campaign.cases.cases import random_cases  # noqa: E402
from fuzzer.campaign.plan.settings import Settings  # noqa: E402
from fuzzer.findings.finding_doc import FindingDoc  # noqa: E402
from fuzzer.isolate.executor import Executor  # noqa: E402
from fuzzer.seeds import corpus  # noqa: E402
from fuzzer.signature import Signature  # noqa: E402
from fuzzer.system.exit_codes import Exit  # noqa: E402
from fuzzer.toolchains import preload  # noqa: E402
from fuzzer.toolchains.toolchain import HOST  # noqa: E402
from fuzzer.triage.reproduce import reproduces  # noqa: E402
from generators.graph import Case, DType  # noqa: E402

SEED = 1
FAULTS = Path("tests/fuzzer/triage/blame/faults.py")
PLANT = "planted"
"""The file beside faults.py that says which fault a child plants."""
THIS, AGAINST = "this", "against"


class Campaign(msgspec.Struct, frozen=True):
    """What a campaign with a planted bug gave. `finding` shows the bug; "" where none does. `failed` says why the
    campaign could not be run."""

    tests: int
    cpu_seconds: float
    findings: int
    finding: str
    failed: str = ""

    @property
    def verdict(self) -> str:
        return "FAILED" if self.failed else "found" if self.finding else "missed"


class Bug(msgspec.Struct, frozen=True):
    """`cases` is the number of cases that can show it. `campaigns` has one for each version that was asked: the other
    one only where this one finds nothing."""

    fault: str
    lane: str
    cases: int
    campaigns: dict[str, Campaign]


class FoundingCase(msgspec.Struct, frozen=True):
    """The part of `fuzz corpus --json` that is compared."""

    case: str
    sizes: dict[str, int]
    lane: str
    toolchain: str
    ok: bool

    @property
    def name(self) -> str:
        sizes = "".join(f" {name}={size}" for name, size in self.sizes.items())
        return f"{self.case}{sizes}, {self.lane} in {self.toolchain}"


# What runs


def can_show(case: Case, operator: str) -> bool:
    """Whether a case can show a bug of the operator; of any operator, where it is ""."""
    if case.graph.symbols:
        return False
    nodes = [node for node in case.graph.nodes if operator in ("", node.op)]
    return any(node.results[0].type.dtype is DType.FLOAT32 for node in nodes)


def chosen(cases: Mapping[int, Case], operator: str, most: int) -> dict[int, Case]:
    """The cases that can show a bug of the operator, by number: the smallest first, at most `most`."""
    able = [number for number, case in cases.items() if can_show(case, operator)]
    smallest = sorted(able, key=lambda number: (len(cases[number].graph.nodes), number))[:most]
    return {number: cases[number] for number in smallest}


def before_them(cases: Mapping[int, Case], operator: str, count: int) -> dict[int, Case]:
    """The first cases that cannot show a bug of the operator, by number, at most `count`."""
    unable = [number for number, case in cases.items() if not can_show(case, operator)]
    return {number: cases[number] for number in unable[:count]}


def drawn(count: int) -> dict[int, Case]:
    """The first random cases of the seed, by number."""
    with tempfile.TemporaryDirectory(prefix="difftvm-") as empty:
        draw = random_cases(Settings(Path(empty), SEED), SEED)
        return {number: case for number in range(count) if (case := draw(number)) is not None}


def words_of(checkout: Path, fault: str, cases: Sequence[Case], folder: Path) -> tuple[object, ...]:
    """Make the new directory `folder`, and return the words for `fuzz` that run the cases there, in this order, with
    the bug planted."""
    faults = planted_faults(checkout, folder.with_name(f"{folder.name}-faults"), fault)
    for place, case in enumerate(cases):  # a campaign runs its corpus in the order of the names
        corpus.add(folder, f"case-{place:06}", case)
    options = {"campaign": folder, "seed": SEED, "tests": len(cases), "workers": 2, "preload": faults}
    if b"--triage-share" in fuzz_to_its_end(checkout, "run", "--help").stdout:  # what waits counts as found
        options |= {"triage-share": 0, "drain": 0}
    return "run", *(word for name, value in options.items() for word in (f"--{name}", value))


def run_campaign(checkout: Path, planted: Planted, cases: Sequence[Case], folder: Path) -> str:
    """Run the cases in the new directory `folder` with the bug planted. Return why that failed, or ""."""
    words = words_of(checkout, planted.fault, cases, folder)
    log = folder.with_suffix(".log")
    with running(checkout, words, folder.parent, log) as process:
        code = process.wait()
    return f"exit code {code}: {last_line(log)}" if code else ""


def planted_faults(checkout: Path, folder: Path, fault: str) -> Path:
    """A copy of the checkout's faults.py that plants this fault."""
    folder.mkdir(parents=True)
    (folder / PLANT).write_text(fault)
    return Path(shutil.copy(checkout / FAULTS, folder))


class Judge:
    """Says which findings show a planted bug. It runs their cases in this version. A failure with a message that shows
    without a fault is TVM's own, and is not run again for the next bug."""

    def __init__(self, executor: Executor, faults: Path) -> None:
        self._executor, self._planted = executor, faults.with_name(PLANT)
        self._tvms_own: list[Signature] = []

    def shown(self, folders: Folders, campaign: Path, fault: str) -> str:
        """The folder of the first finding or sighting that shows the bug; "" where none does."""
        for docs in (folders.saved, folders.waiting, folders.parked):
            for doc in of_tvm(docs):
                name = next(name for name, each in docs.items() if each is doc)
                if self._is_due_to(fault, case_in(campaign, name), doc):
                    return name
        return ""

    def _is_due_to(self, fault: str, case: Case, doc: FindingDoc) -> bool:
        if any(own.same_failure(coarse(doc)) for own in self._tvms_own):
            return False
        if not self._shows("", case, doc):
            return self._shows(fault, case, doc)
        if not coarse(doc).needs_ops:
            self._tvms_own.append(coarse(doc))
        return False

    def _shows(self, fault: str, case: Case, doc: FindingDoc) -> bool:
        self._planted.write_text(fault)
        return reproduces(self._executor.run_fresh, case, doc.lane, doc.identity.coarse)


def founding_cases(checkout: Path) -> dict[str, bool] | str:
    """Whether each founding case gives what it must; or why they cannot be run."""
    done = fuzz_to_its_end(checkout, "corpus", "--corpus", ROOT / "corpus", "--founding", "--run", "--json")
    if done.returncode not in (Exit.GONE, Exit.DIFFERENT):
        return done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    return {each.name: each.ok for each in msgspec.json.decode(done.stdout, type=list[FoundingCase])}


# What is printed


def line(bug: Bug) -> str:
    verdicts = "  ".join(campaign.verdict.ljust(6) for campaign in bug.campaigns.values())
    cpu = " and ".join(f"{campaign.cpu_seconds:.0f}" for campaign in bug.campaigns.values())
    failed = "".join(f"; {name}: {each.failed}" for name, each in bug.campaigns.items() if each.failed)
    return f"{verdicts}  {bug.fault}, {bug.lane}: {bug.cases} cases, {cpu} CPU s{failed}"


def only_against(bugs: Iterable[Bug]) -> list[Bug]:
    """The bugs that only the other version finds."""
    return [bug for bug in bugs if AGAINST in bug.campaigns and _found(bug, AGAINST) and not _found(bug, THIS)]


def _found(bug: Bug, version: str) -> bool:
    return bool(bug.campaigns[version].finding)


def summary(bugs: Sequence[Bug]) -> list[str]:
    found = sum(_found(bug, THIS) for bug in bugs)
    lost, missed = only_against(bugs), sum(AGAINST in bug.campaigns for bug in bugs)
    lines = [f"{len(bugs)} planted bugs: this version finds {found}"]
    if missed:
        lines = [f"{lines[0]}; the other version was asked for {missed} and finds {len(lost)} of them"]
    return [*lines, *(f"only {AGAINST}: {bug.fault}, {bug.lane}" for bug in lost)]


def founding_lines(founding: Mapping[str, dict[str, bool] | str]) -> list[str]:
    lines = []
    for version, checks in founding.items():
        if isinstance(checks, str):
            lines.append(f"founding cases, {version}: not run: {checks}")
            continue
        lines += [f"founding cases, {version}: BAD {name}" for name, ok in checks.items() if not ok]
        lines.append(f"founding cases, {version}: {sum(checks.values())} of {len(checks)} give what they must")
    return lines


def founding_lost(founding: Mapping[str, dict[str, bool] | str]) -> bool:
    """Whether the founding cases could not be run, or one gives what it must in the other version only. Without another
    version, whether one does not give what it must."""
    ours, theirs = founding[THIS], founding.get(AGAINST)
    if isinstance(ours, str) or isinstance(theirs, str):
        return True
    if theirs is None:
        return not all(ours.values())
    return any(ok and not ours.get(name, False) for name, ok in theirs.items())


def bugs_lost(bugs: Sequence[Bug]) -> bool:
    """Whether a campaign failed, or only the other version finds a bug. Where the other version was not asked, whether
    this one misses a bug."""
    failed = any(campaign.failed for bug in bugs for campaign in bug.campaigns.values())
    missed = any(AGAINST not in bug.campaigns and not _found(bug, THIS) for bug in bugs)
    return failed or missed or bool(only_against(bugs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout")
    parser.add_argument("--cases", type=int, default=2000, help="random cases to choose from")
    parser.add_argument("--most", type=int, default=10, help="cases for each bug")
    parser.add_argument("--missed", type=int, default=200, help="cases for each bug that is missed in these")
    parser.add_argument("--before", type=int, default=30, help="cases before these that cannot show the bug")
    parser.add_argument("--only", default="", metavar="WORD", help="bugs whose name contains this")
    parser.add_argument("--no-founding", action="store_true", help="leave out the founding cases")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    raise_on_signals()
    checkouts = {THIS: ROOT, **({AGAINST: options.against.resolve()} if options.against else {})}
    for checkout in checkouts.values():
        require_checkout(checkout)
    folder, cases = Path(tempfile.mkdtemp(prefix="difftvm-nothing-lost-")), drawn(options.cases)
    print(f"campaigns in {folder}; the columns are: {', '.join(checkouts)}", flush=True)
    faults = planted_faults(ROOT, folder / "judge", "")
    bugs: list[Bug] = []
    with Executor(folder / "scratch", replace(HOST, preload=preload.read(faults))) as executor:
        judge = Judge(executor, faults)
        try:
            for number, planted in enumerate(each for each in PLANTED if options.only in each.fault):
                bugs.append(planted_bug(planted, cases, checkouts, folder / f"bug-{number}", judge, options))
                print(line(bugs[-1]), flush=True)
                if options.json:
                    options.json.write_bytes(msgspec.json.format(msgspec.json.encode(bugs), indent=1))
        except KeyboardInterrupt:
            print("interrupted")
    founding = {} if options.no_founding else {name: founding_cases(path) for name, path in checkouts.items()}
    print(*founding_lines(founding), *summary(bugs), sep="\n")
    sys.exit(1 if bugs_lost(bugs) or (founding and founding_lost(founding)) else 0)


def planted_bug(
    planted: Planted,
    cases: Mapping[int, Case],
    checkouts: Mapping[str, Path],
    folder: Path,
    judge: Judge,
    options: argparse.Namespace,
) -> Bug:
    campaigns: dict[str, Campaign] = {}
    before = before_them(cases, planted.operator, options.before)
    for version, most in rounds(checkouts, options.most, options.missed):
        able = chosen(cases, planted.operator, most)
        where = folder / f"{version}-{most}"
        failed = run_campaign(checkouts[version], planted, [*before.values(), *able.values()], where)
        found, tally = read(where), counted_in(where).tally
        finding = judge.shown(found, where, planted.fault)
        count = len(found.saved) + len(found.waiting) + len(found.parked)
        campaigns[version] = Campaign(tally.tests, round(tally.cpu_seconds, 1), count, finding, failed)
        if finding:
            break
    return Bug(planted.fault, planted.lane, len(able), campaigns)


def rounds(versions: Iterable[str], most: int, missed: int) -> list[tuple[str, int]]:
    """The version and the number of cases of one campaign after the other, until one finds the bug."""
    return [(THIS, most), *((version, missed) for version in versions if missed > most or version != THIS)]


if __name__ == "__main__":
    main()
