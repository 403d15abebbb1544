"""Formats numbers for people, short enough for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzzer.system.terminal import campaign_option, command
from fuzzer.system.terminal import number_of as number_of

BARS = "▁▂▃▄▅▆▇█"


def duration(seconds: float) -> str:
    """The two largest units: 42 s, 3 min 20 s, 5 h 03 min, 12 d 4 h."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def size(count: float) -> str:
    """Bytes, in powers of 1000."""
    for unit in ("B", "kB", "MB"):
        if count < 999.5:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def sparkline(values: Sequence[float], width: int) -> str:
    """The last `width` values as bars, scaled from the lowest to the highest. Equal values give the lowest bar."""
    shown = values[-width:]
    low, high = min(shown, default=0), max(shown, default=0)
    span = (high - low) or 1
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in shown)


def bar(part: float, width: int) -> str:
    """A bar of `width` characters, of which a part from 0 to 1 is full."""
    full = min(width, int(part * width))
    return "█" * full + "░" * (width - full)


def shares(parts: Mapping[str, float], most: int) -> str:
    """The `most` largest parts, each with its percentage of the sum."""
    total = sum(parts.values()) or 1.0
    largest = sorted(parts.items(), key=lambda part: (-part[1], part[0]))[:most]
    return ", ".join(f"{name} {amount / total:.0%}" for name, amount in largest)


def counted(counts: Mapping[str, int]) -> str:
    """Counts, the highest first: 52 tvm, 7 exporter."""
    return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def waiting_line(waiting: int, parked: int, campaign: Path) -> str:
    """What waits for triage, for people; "" where nothing does."""
    some = [f"{number_of(waiting, 'sighting')} waiting for triage"] if waiting else []
    some += [f"{number_of(parked, 'sighting')} parked"] if parked else []
    work = command("triage", "--work", *campaign_option(campaign))
    return f"{', '.join(some)}; `{work}` investigates them" if some else ""


def lacking_line(lacking: Mapping[str, int]) -> str:
    """How many sightings this machine cannot investigate, for people; "" where there are none."""
    reasons = ", ".join(f"{why} ({count})" for why, count in sorted(lacking.items()))
    return f"{number_of(sum(lacking.values()), 'sighting')} cannot be investigated here: {reasons}" if lacking else ""


def evaluated_wrongly(modules: int) -> str:
    return f"{number_of(modules, 'imported module')} evaluated wrongly by difftvm itself"


def failed_by_itself(lanes: int) -> str:
    return f"{number_of(lanes, 'lane result')} lost by an error of difftvm itself"


def could_not_be_done(errors: int) -> str:
    return f"{number_of(errors, 'test')} could not be done by difftvm itself"
