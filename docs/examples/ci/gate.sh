#!/usr/bin/env bash
# Compares two builds of TVM with `fuzz diff`, writes the reports, and ends with the verdict: 0 nothing is worse,
# 1 something is, 2 no case reached the changed code. The Action and the GitLab job run it; so can you.
#
#   BASE, PATCHED      interpreters that import the two builds; `host`, or not set: the TVM that difftvm is installed
#                      with. An empty one ends with 64: the build that should have printed it did not
#   PATCHED_PRELOAD    a Python file that the processes of the patched build execute first; empty: none
#   CHANGED            the files of TVM that the change touches, one on each line; empty: not known
#   BUDGET_SECONDS     how long cases run: 600
#   SEED               the seed of the cases; the number of the pull request makes runs of it repeat each other
#   OPTIONS            more options of `fuzz diff`, separated by spaces
#   NOT_REACHED        `pass` or `fail`: what it means that no case reached the change
#   REPORTS            the folder of the reports and findings: difftvm-reports
set -euo pipefail

reports=${REPORTS:-difftvm-reports}
mkdir -p "$reports"

build() { # NAME VARIABLE INTERPRETER: registers a build, and prints its name
    if [ -z "$3" ]; then
        echo "gate.sh: $2 is empty: name the interpreter that imports the build, or host" >&2
        return 64
    fi
    if [ "$3" = host ]; then
        echo host
        return
    fi
    fuzz toolchain remove "$1" >&2 2>/dev/null || true # one that a cache has kept
    fuzz toolchain add "$1" --python "$3" >&2 || return
    echo "$1"
}

base=$(build base-build BASE "${BASE-host}")
patched=$(build patched-build PATCHED "${PATCHED-host}")
arguments=(--base "$base" --patched "$patched" --seconds "${BUDGET_SECONDS:-600}" --seed "${SEED:-0}")
arguments+=(--campaign "$reports/runs" --markdown "$reports/difftvm.md" --junit "$reports/difftvm.xml")
arguments+=(--sarif "$reports/difftvm.sarif")
[ -z "${PATCHED_PRELOAD:-}" ] || arguments+=(--patched-preload "$PATCHED_PRELOAD")
while IFS= read -r file; do
    [ -z "$file" ] || arguments+=(--changed "$file")
done <<<"${CHANGED:-}"
read -r -a more <<<"${OPTIONS:-}"

status=0
fuzz diff "${arguments[@]}" ${more[@]+"${more[@]}"} || status=$?

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -e "$reports/difftvm.md" ]; then
    cat "$reports/difftvm.md" >>"$GITHUB_STEP_SUMMARY"
fi
if [ "$status" = 2 ] && [ "${NOT_REACHED:-pass}" = pass ]; then
    echo "::warning::difftvm: no case reached the changed code"
    status=0
fi
exit "$status"
