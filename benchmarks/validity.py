"""Check generated graphs in eager PyTorch: do they run, have the inferred types, and give finite results?

    python benchmarks/validity.py --count 20000             random graphs
    python benchmarks/validity.py --rows --count 2000       each row alone: how often a draw fits, and the same checks
                                                            (20 minutes)
    python benchmarks/validity.py --rows --ops 'conv*'

Runs in this process, without isolation: a crash of PyTorch ends it. The last printed line tells where.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from fnmatch import fnmatchcase

from fuzzer.children.validity import NOT_FINITE, OK, prepare
from fuzzer.children.validity import verdict as judge
from generators.builder import Builder, Limits
from generators.choice import NumpySource
from generators.graph import Case, Invalid, Profile
from generators.random_graph import with_values
from generators.torch.ops import OPS
from generators.torch.random_graph import generate
from generators.torch.source import render


def verdict(case: Case) -> str:
    """Return `ok`, `not finite`, or what is wrong."""
    word, why = judge(case)
    return word if word in (OK, NOT_FINITE) else f"{word.upper()} {why}"


def graphs(args: argparse.Namespace) -> int:
    counts: Counter[str] = Counter()
    examples: dict[str, int] = {}
    since, profile = time.process_time(), Profile(args.profile) if args.profile else None
    chosen = [op for op in OPS if fnmatchcase(op.name, args.ops)]
    for index in range(args.count):
        case = generate(NumpySource(args.seed, index), Limits(args.nodes), chosen, profile=profile)
        for each in case.instances():
            found = verdict(each)
            counts[found] += 1
            if found not in ("ok", "not finite") and found not in examples:
                examples[found] = index
                print(f"seed {args.seed} index {index} {case.graph.ops}: {found}\n{render(each.bound)}", flush=True)
    total, bad = sum(counts.values()), sum(n for found, n in counts.items() if found not in ("ok", "not finite"))
    print(f"{args.count} graphs ({total} with their bindings) in {time.process_time() - since:.0f} CPU s")
    print(f"valid {100 * (1 - bad / total):.3f} %, finite {100 * counts['ok'] / max(1, total - bad):.2f} %")
    return 1 if bad else 0


def rows(args: argparse.Namespace) -> int:
    bad = drawn = 0
    chosen = [op for op in OPS if fnmatchcase(op.name, args.ops)]
    for op in chosen:
        counts: Counter[str] = Counter()
        forms: Counter[str] = Counter()
        for index in range(args.count):
            profile = Profile(args.profile or "normal")
            builder = Builder(NumpySource(args.seed, index), Limits(max_numel=1024), profile)
            if not builder.grow(op):
                counts["refused"] += 1
                continue
            case = with_values(builder)
            forms[builder.nodes[-1].form] += 1
            found = verdict(case)
            if found not in ("ok", "not finite") and found not in counts:
                print(f"{op.name} seed {args.seed} index {index}: {found}\n{render(case.bound)}", flush=True)
            counts[found] += 1
        wrong = args.count - counts["ok"] - counts["not finite"] - counts["refused"]
        bad, drawn = bad + wrong, drawn + args.count - counts["refused"]
        fits = 100 * (args.count - counts["refused"]) / args.count
        finite = 100 * counts["ok"] / max(1, counts["ok"] + counts["not finite"])
        drawn_forms = " ".join(f"{form}:{count}" for form, count in forms.items())
        flag = "BAD" if wrong or fits < 40 or finite < 99 else "ok"
        print(
            f"{flag:4}{op.name:28} fits {fits:4.0f} %  wrong {wrong:3}  finite {finite:5.1f} %  {drawn_forms}",
            flush=True,
        )
    print(f"{len(chosen)} rows, {drawn} draws that fit, {bad} wrong")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--ops", default="*")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--profile", choices=list(Profile))
    args = parser.parse_args()
    prepare()
    try:
        return rows(args) if args.rows else graphs(args)
    except Invalid as error:
        sys.exit(f"validity: {error}")


if __name__ == "__main__":
    sys.exit(main())
