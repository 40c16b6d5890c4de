"""The ecosystems that PROBE knows; another is one plugin and one line here."""

from probe.environment.base import Ecosystem
from probe.environment.node import NodeEcosystem
from probe.environment.python import PythonEcosystem

ECOSYSTEMS: tuple[Ecosystem, ...] = (PythonEcosystem(), NodeEcosystem())
"""In the order in which they are installed."""
