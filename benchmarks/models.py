"""What our model client costs: against the ideal, against bare litellm, and against bare httpx.

    python benchmarks/models.py                       1,000 calls, 1 s latency, 64 at a time
    python benchmarks/models.py --calls 200 --latency 0.2 --repeat 3

All contenders ask the same questions of the same local server, which is a process of its own, in the
same run; figures are the best of ``--repeat`` runs, taken in turn. The ideal is the number of rounds
that the concurrency allows, each as long as the latency. Processor seconds are those of the asking
process with all its threads; imports and the first call come before the clock starts. Ours validates
each answer, prices it, books it in the ledger and keeps it on disk, which the others don't.
Goals: at most 1.2 times the ideal, at least 2,000 calls a second from the cache.
"""

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel

from probe.config import ModelEntry
from probe.models.base import Model, Question
from probe.models.client import Client
from probe.records import write_text

TESTS = Path(__file__).resolve().parent.parent / "tests"
NAME = "stub-model"
REPLAYS = 5


class Verdict(BaseModel):
    """What is asked for: small, so that the client's own work shows."""

    rationale: str
    is_fix: bool
    confidence: float


def main() -> None:
    """Measure and print a table; ``--output`` also writes it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds before every answer")
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    figures = {
        "calls": float(options.calls),
        "ideal": math.ceil(options.calls / options.concurrency) * options.latency,
    }
    with serve(options.latency) as address:
        for number in range(options.repeat):
            measure(figures, address, options.calls, options.concurrency, number)
    print(table(figures))
    if options.output:
        write_text(options.output, json.dumps(figures, indent=2) + "\n")


@contextmanager
def serve(latency: float) -> Iterator[str]:
    """Run the tests' model server; yield the base address of OpenAI's protocol."""
    command = [sys.executable, "-m", "modelserver", "--port", "0", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def measure(
    figures: dict[str, float], address: str, calls: int, concurrency: int, number: int
) -> None:
    """Take every contender once; the questions of a round are new to all."""
    prompts = [f"Round {number}: is commit {call} a fix?" for call in range(calls)]
    contenders: dict[str, Callable[[list[str]], int]] = {
        "httpx": lambda texts: asyncio.run(with_httpx(address, texts, concurrency)),
        "litellm": lambda texts: asyncio.run(with_litellm(address, texts, concurrency)),
    }
    for name, contender in contenders.items():
        contender([f"Warm up {name} {number}"])
        keep_best(figures, name, timed(lambda run=contender: run(prompts), calls))
    with tempfile.TemporaryDirectory(prefix="probe-models-") as folder:
        model = ours(address, concurrency)
        with Client(Path(folder), 0.0) as client:
            with_client(client, model, [f"Warm up ours {number}"])
            keep_best(figures, "ours", timed(lambda: with_client(client, model, prompts), calls))
        for _ in range(REPLAYS):
            with Client(Path(folder), 0.0) as client:
                keep_best(
                    figures, "replay", timed(lambda c=client: with_client(c, model, prompts), calls)
                )


def keep_best(figures: dict[str, float], name: str, found: tuple[float, float]) -> None:
    """Keep the shorter time and the fewer processor seconds of a contender."""
    for key, value in zip((name, f"{name}_cpu"), found, strict=True):
        figures[key] = min(figures.get(key, math.inf), value)


def timed(contender: Callable[[], int], expected: int) -> tuple[float, float]:
    """Seconds and processor seconds of a contender; it must get all answers."""
    busy, start = time.process_time(), time.perf_counter()
    count = contender()
    elapsed = time.perf_counter() - start
    if count != expected:
        sys.exit(f"expected {expected} answers, got {count}")
    return elapsed, time.process_time() - busy


def ours(address: str, concurrency: int) -> Model:
    """The server as a line of ``models.yaml``."""
    facts = {"litellm_id": f"openai/{NAME}", "api_base": address, "price": "free"}
    return Model(NAME, ModelEntry.model_validate(facts | {"concurrency": concurrency}))


def with_client(client: Client, model: Model, texts: list[str]) -> int:
    """Ask through our client, or replay."""
    questions = [Question[Verdict](str(n), messages(text)) for n, text in enumerate(texts)]
    replies = client.ask(model, questions, Verdict, purpose="benchmark")
    return sum(reply.value is not None for reply in replies)


async def with_httpx(address: str, texts: list[str], concurrency: int) -> int:
    """Post the same requests and parse the answers' JSON."""
    import httpx

    limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    async with httpx.AsyncClient(limits=limits, timeout=600) as client:

        async def one(text: str) -> bool:
            body = {"model": NAME, "messages": messages(text), "response_format": response_format()}
            answer = await client.post(f"{address}/chat/completions", json=body)
            return bool(json.loads(answer.json()["choices"][0]["message"]["content"]))

        return await gather(one, texts, concurrency)


async def with_litellm(address: str, texts: list[str], concurrency: int) -> int:
    """Make the same calls by litellm and parse the answers' JSON."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    async def one(text: str) -> bool:
        answer = await litellm.acompletion(
            model=f"openai/{NAME}",
            messages=messages(text),
            response_format=response_format(),
            api_base=address,
            api_key="none",
            max_retries=0,
            timeout=600,
        )
        return bool(json.loads(answer.choices[0].message.content))

    return await gather(one, texts, concurrency)


async def gather(one: Callable[[str], object], texts: list[str], concurrency: int) -> int:
    """Ask all, so many at a time; how many were answered."""
    gate = asyncio.Semaphore(concurrency)

    async def bounded(text: str) -> bool:
        async with gate:
            return await one(text)  # type: ignore[misc]

    return sum(await asyncio.gather(*(bounded(text) for text in texts)))


def messages(text: str) -> list[dict[str, str]]:
    """The conversation of a question."""
    return [
        {"role": "system", "content": "You classify commits."},
        {"role": "user", "content": text},
    ]


def response_format() -> dict[str, object]:
    """The answer's schema in OpenAI's form."""
    schema = {"name": "Verdict", "schema": Verdict.model_json_schema()}
    return {"type": "json_schema", "json_schema": schema}


def table(figures: dict[str, float]) -> str:
    """The figures as Markdown, with ratios."""
    calls, ideal = figures["calls"], figures["ideal"]
    names = {
        "httpx": "bare httpx",
        "litellm": "bare litellm",
        "ours": "ours",
        "replay": "ours, cached",
    }
    rows = [
        f"{calls:.0f} calls, ideal {ideal:.1f} s",
        "",
        "| client | seconds | × ideal | calls/s | processor ms a call | × bare litellm |",
        "|---|---|---|---|---|---|",
    ]
    for key, name in names.items():
        seconds, busy = figures[key], figures[f"{key}_cpu"]
        rows.append(
            f"| {name} | {seconds:.2f} | {seconds / ideal:.3f} | {calls / seconds:.0f} | "
            f"{1000 * busy / calls:.2f} | {busy / figures['litellm_cpu']:.2f} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
