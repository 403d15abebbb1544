"""`repro.py`, `issue.md` with its title (`wording.py`), and pages, from what is saved."""
