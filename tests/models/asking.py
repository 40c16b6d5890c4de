"""What the client's tests share: a model on the test server, questions, and an answer's type."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from modelserver import ModelServer
from pydantic import BaseModel, ConfigDict, Field

from probe.config import ModelEntry, Price
from probe.models.base import Model, Question, Request
from probe.models.client import Client

PRICE = Price.model_validate({"input": 1.0, "output": 2.0, "as_of": "2026-12-01"})


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    is_fix: bool
    confidence: float = Field(ge=0, le=1)


RIGHT = {"is_fix": True, "confidence": 0.5}


def stub(server: ModelServer, **settings: object) -> Model:
    """A model on the server: free, quick to give up, unless told otherwise."""
    given = {"price": "free", "max_attempts": 2, "timeout_s": 20.0, **settings}
    return Model("stub", ModelEntry(litellm_id="openai/stub", api_base=server.openai, **given))


def paid(server: ModelServer, **settings: object) -> Model:
    """As :func:`stub`, at 1 and 2 dollars for a million tokens of prompt and answer."""
    return stub(server, price=PRICE, **settings)


def said(text: str = "is it a fix?") -> tuple[dict[str, str], ...]:
    return ({"role": "user", "content": text},)


def questions(number: int, text: str = "is it a fix?") -> list[Question[Verdict]]:
    return [Question(f"q{n}", said(f"{text} {n}")) for n in range(number)]


def request(model: Model, text: str = "hello", **fields: object) -> Request:
    return Request(model, said(text), **fields)


@contextmanager
def client(folder: Path, usd: float = 0.0, **settings: object) -> Iterator[Client]:
    with Client(folder, usd, **settings) as made:
        yield made


def kept(folder: Path) -> list[str]:
    """Keys of the answers in a cache folder."""
    return sorted(path.stem for path in (folder / "calls").glob("*/*.json"))
