"""What a pass has used, and which of its limits is reached or near.

Time is the model's and the commands': a remembered answer counts what it took when it was bought,
and waiting for rate limits not at all, so that a pass that is run again ends as it did.
"""

from typing import NamedTuple

from probe.agent.types import AgentLimits
from probe.code.tokens import count_tokens
from probe.records import Answer, Usage
from probe.records.transcript import AnswerLine, LimitName


class Reached(NamedTuple):
    """A limit that is used up."""

    name: LimitName
    detail: str
    """Used of allowed, with the unit."""


_UNITS: dict[LimitName, str] = {
    "turns": "turns",
    "time": "s",
    "output_tokens": "output tokens",
    "total_tokens": "tokens",
    "usd": "USD",
}


class Meter:
    """Sums over the answers and commands of a pass."""

    def __init__(self, limits: AgentLimits) -> None:
        self._kept = limits.final_turns
        self._allowed: dict[LimitName, float | None] = {
            "turns": limits.turns,
            "time": limits.working_s,
            "output_tokens": limits.output_tokens,
            "total_tokens": limits.total_tokens,
            "usd": limits.usd,
        }
        self.used: dict[LimitName, float] = dict.fromkeys(_UNITS, 0.0)
        """By limit."""
        self.usage = Usage()
        """As the provider counts, None where it does not."""
        self.served_model: str | None = None
        """As served with the last answer."""
        self._largest: dict[LimitName, float] = {**self.used, "turns": 1.0}

    def answered(self, line: AnswerLine, answer: Answer, prompt_estimate: int) -> None:
        """Count an answer; tokens that the provider does not count are estimated."""
        usage = line.usage
        prompt = usage.prompt_tokens or prompt_estimate
        output = usage.output_tokens
        if output is None:
            output = count_tokens(answer.model_dump_json())
        amounts: dict[LimitName, float] = {
            "turns": 1,
            "time": line.latency_s,
            "output_tokens": output,
            "total_tokens": prompt + output,
            "usd": usage.usd or 0.0,
        }
        for name, amount in amounts.items():
            self.used[name] += amount
            self._largest[name] = max(self._largest[name], amount)
        self.usage += usage
        self.served_model = line.served_model

    def worked(self, seconds: float) -> None:
        """Count the seconds of a command."""
        self.used["time"] += seconds

    def reached(self) -> Reached | None:
        """A limit that is used up."""
        for name, allowed in self._allowed.items():
            if allowed is not None and self.used[name] >= allowed:
                return Reached(name, f"{self.used[name]:.6g} of {allowed:g} {_UNITS[name]}")
        return None

    def near(self) -> LimitName | None:
        """A limit that the last turns could use up, each taken to be as large as the largest yet."""
        for name, allowed in self._allowed.items():
            margin = self._kept * self._largest[name]
            if allowed is not None and self.used[name] + margin >= allowed:
                return name
        return None

    def seconds_left(self) -> float:
        """Until the limit on time; infinite without one."""
        allowed = self._allowed["time"]
        return float("inf") if allowed is None else allowed - self.used["time"]
