"""`fuzz run`: a campaign on this machine, or on the nodes of a cluster (`--cluster`)."""

from __future__ import annotations

from contextlib import suppress
from threading import Event

from fuzzer.campaign.plan import aim, last_run
from fuzzer.campaign.plan.known_options import require_known_options
from fuzzer.campaign.plan.selection import dialects_named
from fuzzer.campaign.plan.settings import Settings
from fuzzer.campaign.run.loop import Campaign
from fuzzer.campaign.run.start import WARM_UP, obey_signals, to_stop, warm_up
from fuzzer.campaign.store.store import Store
from fuzzer.commands.aim import model_around
from fuzzer.commands.model_options import open_sizes
from fuzzer.commands.progress import working
from fuzzer.commands.run_cluster import cluster_options, run_on_cluster
from fuzzer.commands.run_options import EXAMPLES as EXAMPLES
from fuzzer.commands.run_options import OPTION_GROUPS as OPTION_GROUPS
from fuzzer.commands.run_options import RunOptions
from fuzzer.commands.run_plan import Plan, plan_of
from fuzzer.commands.run_summary import summarise
from fuzzer.commands.with_options import with_options
from fuzzer.isolate.child_process import Bounds, GaveUp, never
from fuzzer.isolate.fleet import Fleet
from fuzzer.seeds.sample import samples_of
from fuzzer.system.processes import keep_memory_tight
from fuzzer.system.terminal import say
from fuzzer.watching.watch import watched


@with_options(RunOptions)
def run(options: RunOptions) -> None:
    """Fuzz: start the campaign in DIR, or continue it. Findings go to DIR/crashes."""
    plan = plan_of(options)
    if options.cluster:
        run_on_cluster(cluster_options(options, options.cluster), options.campaign, options.seed, options.json)
    else:
        _run_here(plan)


def _run_here(plan: Plan) -> None:
    options = plan.options
    samples = samples_of(options.inputs or (), open_sizes(options.sizes)) if options.around else ()
    around = model_around(options.around, options.campaign, dialects_named(plan.dialects), samples)
    with Store(options.campaign, options.seed) as store:
        settings = plan.settings(store.state.seed, around)
        _say_what_begins(settings, store)
        stop_requested = to_stop()
        say(WARM_UP)
        keep_memory_tight()
        bounds = Bounds(disk_reserve=options.disk.reserve)
        with Fleet(store.scratch, plan.find, bounds, tell=say) as executor:
            executor.give_up = stop_requested.is_set
            with working("warm-up", lambda: ""):
                warm_up(executor, plan.releases, stop_requested, plan.own)
                if plan.listed and not stop_requested.is_set():
                    with suppress(GaveUp):
                        require_known_options(executor.run, plan.listed.options)
            task = Campaign(settings, store, executor)
            executor.give_up = never if options.auto_file else lambda: task.is_stopped
            if not stop_requested.is_set():
                _fuzz(task, plan, executor, stop_requested)
        summarise(task, store, executor.quarantined, options.preload, options.own_pass or ())


def _fuzz(task: Campaign, plan: Plan, executor: Fleet, stop_requested: Event) -> None:
    options = plan.options
    with (
        watched(task, options.metrics, stats=options.stats),
        plan.filer(task.triage.new, task.store.crashes, executor, say) as filed,
    ):
        obey_signals(task, stop_requested, filed.drop)
        task.run()


def _say_what_begins(settings: Settings, store: Store) -> None:
    aim.write(settings.campaign, settings.aim)
    last_run.begin(settings.campaign)
    campaign, state = settings.campaign.resolve(), store.state
    say(f"difftvm: campaign {campaign}, seed {state.seed}, from test {state.next_test}")
    if line := settings.aim.line(()):
        say(f"aim: {line}")
