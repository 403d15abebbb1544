"""Python imports this at its start where the folder is on PYTHONPATH: the CPU time of its threads is sampled
(`sampling.py`)."""

import os

if "DIFFTVM_SAMPLED" in os.environ:
    import sampling

    sampling.begin(os.environ.pop(sampling.FILE))
