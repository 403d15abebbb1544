"""File findings as issues of a tracker, each exactly once, and follow up the issues.

No module here reads the text of a failure. Only `github.py` uses the network.
"""
