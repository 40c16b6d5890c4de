"""PROBE measures how well finders discover the bugs that maintainers go on to fix.

Dependencies inside the package point downward only; see ``CONTRIBUTING.md``.
"""

__version__ = "0.1.0"
