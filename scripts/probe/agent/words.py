"""What the loop itself tells the model: few words, always the same for the same cause."""

from typing import Literal

from probe.records.transcript import LimitName

Reason = Literal["last_chance", "no_action", "refused", "invalid_submission"]

TIME_IS_UP = "not carried out: the time is up"

_LIMITS: dict[LimitName, str] = {
    "time": "time",
    "turns": "turns",
    "output_tokens": "output tokens",
    "total_tokens": "tokens",
    "usd": "cost",
    "context": "the length of this conversation",
}


def last_chance(name: LimitName, turns: int) -> str:
    """A limit is near. It names no amount: times differ from run to run, and keys would with them."""
    answers = "one answer" if turns == 1 else f"{turns} answers"
    return (
        f"Last chance: the limit on {_LIMITS[name]} is near, and at most {answers} of yours will "
        "be read. No more commands are run. Submit now what you have established so far; without "
        "a submission all of it is lost."
    )


def no_action(*, native: bool, cut: bool, final: bool) -> str:
    """The answer asked for nothing."""
    start = "Your answer was cut off at its maximum length before it asked for anything"
    if not cut:
        start = "Your answer called no tool" if native else "Your answer was no JSON object"
    return f"{start}. " + ("Submit now." if final else "Go on with bash, or finish with submit.")


def invalid(problems: str) -> str:
    """The submission does not fit the schema."""
    return f"Not accepted, the submission does not fit its schema:\n{problems}\nCorrect it and submit again."
