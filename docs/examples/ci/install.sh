#!/usr/bin/env bash
# Installs difftvm from its checkout into a virtual environment: install.sh CHECKOUT ENVIRONMENT
# torch comes first, in the pinned version: a version range may download several GB of CUDA packages.
set -euo pipefail

checkout=$1 environment=$2
python3 -m venv "$environment"
"$environment/bin/pip" install -c "$checkout/constraints.txt" "$(grep '^torch==' "$checkout/constraints.txt")"
"$environment/bin/pip" install -c "$checkout/constraints.txt" -e "$checkout"
