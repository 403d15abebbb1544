"""From a finding to an issue of a tracker, exactly once: what must hold before, what is sent, what becomes of it.

Nothing here reads the text of a failure, and nothing but `github.py` talks to a network.
"""
