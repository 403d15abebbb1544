"""`repro.py`, `issue.md` with its title (`title.py`), and pages, from what is saved."""
