"""What `fuzz run` will do. Options that exclude each other are refused before anything is written or started: here, in
`aim.py` and in `run_lanes.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from fuzzer.campaign.plan.configuration_file import Listed
from fuzzer.campaign.plan.configurations import Configurations
from fuzzer.campaign.plan.selection import ops_of_dialects
from fuzzer.campaign.plan.settings import LaneMix, Settings
from fuzzer.campaign.plan.test_numbers import Share, parsed
from fuzzer.commands.aim import listed_configurations, require_a_model, require_no_other_aim
from fuzzer.commands.run_lanes import dialects_of_run, lanes_of_run, with_own_passes
from fuzzer.commands.run_options import RunOptions
from fuzzer.filing.auto import Start, auto_filing
from fuzzer.seeds.around import Around
from fuzzer.toolchains.lanes import named
from fuzzer.toolchains.registry import finder
from fuzzer.toolchains.toolchain import HOST_NAME, Toolchain
from generators.graph import Invalid
from generators.op import Op
from oracles.lane import LaneSpec


@dataclass(frozen=True, slots=True)
class Plan:
    """The options, and what their names and globs stand for.

    lanes     the lanes of each test, without the configurations
    listed    the compile options whose combinations are tested
    own       the lanes of the user's own passes
    dialects  those of the cases, with commas
    ops       by dialect, the operators that are drawn
    releases  toolchains in which new findings are run too
    find      finds a toolchain by its name
    filer     makes what files the findings
    """

    options: RunOptions
    lanes: LaneMix
    listed: Listed | None
    own: tuple[LaneSpec, ...]
    dialects: str
    ops: Mapping[str, tuple[Op, ...]]
    releases: tuple[str, ...]
    find: Callable[[str], Toolchain]
    filer: Start
    share: Share

    def settings(self, seed: int, around: Around | None) -> Settings:
        """The settings of the campaign with this seed, whose cases are made of the model `around` if there is one."""
        configurations = Configurations(self.listed, seed) if self.listed else None
        return Settings(
            self.options.campaign,
            seed,
            replace(self.lanes, configurations=configurations),
            self.options.limits,
            self.options.disk,
            self.options.triage,
            self.options.workers,
            {name: rows for name, rows in self.ops.items() if around is None or name in around.dialects},
            around=around,
            share=self.share,
            guided=self.options.guided,
            releases=self.releases,
            json=self.options.json,
        )


def plan_of(options: RunOptions) -> Plan:
    """Raise `Invalid` where options contradict each other, or name what does not exist."""
    _require_an_end(options)
    require_no_other_aim(options.around, options.ops, options.cluster)
    require_a_model(options.around, inputs=bool(options.inputs or options.sizes))
    listed = listed_configurations(options.configurations, options.lanes, options.toolchain, HOST_NAME, options.cluster)
    where, others = named(options.toolchain), named(options.releases) if options.releases else ()
    own = with_own_passes(options.own_pass or (), where, options.preload)
    if listed and own:
        raise Invalid("--configurations excludes --own-pass")
    lanes = LaneMix() if listed else lanes_of_run(options.lanes, where, own)
    dialects = dialects_of_run(options.dialect, lanes.always, listed is not None)
    plan = Plan(
        options,
        lanes,
        listed,
        own,
        dialects,
        ops_of_dialects(options.ops, dialects),
        tuple(other.name for other in others),
        finder(options.preload),
        auto_filing(options.auto_file, options.tracker, options.token_file, options.preload),
        Share(*parsed(options.share), options.first, options.end),
    )
    _require_shares_of_cluster(plan)
    return plan


def _require_an_end(options: RunOptions) -> None:
    no_finding_is_new = options.until_new is not None and not options.triage_share
    if no_finding_is_new and options.seconds is None and options.tests is None:
        raise Invalid("--until-new with --triage-share 0 needs --seconds or --tests: no finding is new without triage")


def _require_shares_of_cluster(plan: Plan) -> None:
    options = plan.options
    if options.cluster and (plan.share.of > 1 or options.auto_file or options.metrics is not None):
        raise Invalid("--cluster assigns the shares itself; it excludes --share, --auto-file and --metrics")
