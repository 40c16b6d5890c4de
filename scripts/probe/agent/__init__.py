"""The one agent loop: a model outside, its commands inside a sandbox."""

from probe.agent.loop import run_agent
from probe.agent.passes import NOBODY, made_by, run_in_sandbox, unreached
from probe.agent.replay import replay
from probe.agent.types import AgentLimits, AgentResult, AgentTask

__all__ = [
    "NOBODY",
    "AgentLimits",
    "AgentResult",
    "AgentTask",
    "made_by",
    "replay",
    "run_agent",
    "run_in_sandbox",
    "unreached",
]
