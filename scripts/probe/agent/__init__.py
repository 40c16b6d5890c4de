"""The one agent loop: a model outside, its commands inside a sandbox."""

from probe.agent.loop import run_agent
from probe.agent.replay import replay
from probe.agent.types import AgentLimits, AgentResult, AgentTask

__all__ = ["AgentLimits", "AgentResult", "AgentTask", "replay", "run_agent"]
