"""One file for each command of `fuzz`; `run_plan.py` turns the options of `fuzz run` into settings (`Plan.settings`),
and refuses options that exclude each other."""
