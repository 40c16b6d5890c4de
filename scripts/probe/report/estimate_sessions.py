"""What the sessions of agents would cost: first prompts are counted, the work after them assumed.

How many turns a session takes nobody knows before; what is assumed stands in
:data:`probe.finders.agent.SPREADS`, with its reasons. Sessions that have a result cost nothing any
more. A session that was killed is counted whole, although the answers in its transcript stay.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from probe.config import HEURISTIC, Benchmark, SessionRun
from probe.finders import agent
from probe.finders.audit_prompt import NoRoomError, audit_texts
from probe.finders.locate import SnapshotTree
from probe.models.base import Model
from probe.models.client import get_model
from probe.models.estimate import PlannedCalls, Spread
from probe.models.prompts import Prompt
from probe.paths import audit_prompt
from probe.records import (
    Environment,
    Pass,
    PassResult,
    Provenance,
    SnapshotFile,
    Variant,
    iter_jsonl,
    read_json,
    read_jsonl,
)
from probe.snapshot.files import unpack
from probe.snapshot.plan import whole_pass

CONTEXT_PROMPT = Spread(2_000, 4_000, 8_000)
"""Assumed tokens of the context agent's task: the rules and the listing of files."""

CONTEXT_TURNS = Spread(10, 30, 80)
"""Assumed turns of the context agent; never more than the setting allows."""

CONTEXT_ADDED = Spread(500, 2_000, 6_000)
"""Assumed tokens that the commands of a turn print."""

CONTEXT_OUTPUT = Spread(100, 400, 2_000)
"""Assumed tokens of one turn's answer; the last one holds the document."""


def session_stages(
    benchmark: Benchmark, repo: str, runs: Sequence[str], prompts: Mapping[str, Prompt]
) -> list[PlannedCalls]:
    """Planned calls of the context document and of the runs that work in sessions.

    Args:
        benchmark: the validated configuration.
        repo: key of the repository; what ``prepare`` builds of it must be there.
        runs: keys of runs; those without sessions are left out.
        prompts: templates by name, those of the variants among them.

    Raises:
        RecordError: a file cannot be read.
    """
    wanted = [run for run in runs if isinstance(benchmark.runs[run], SessionRun)]
    rows = list(_context(benchmark, repo, wanted))
    if wanted:
        rows += _sessions(benchmark, repo, wanted, prompts)
    return rows


def _context(benchmark: Benchmark, repo: str, runs: Sequence[str]) -> Iterator[PlannedCalls]:
    settings = benchmark.settings.context
    if settings.engine == HEURISTIC or not benchmark.needs_context(runs):
        return
    built = Path(f"results/{repo}/snapshot/context.md").exists()
    low, expected, high = (min(turns, settings.turns) for turns in CONTEXT_TURNS)
    yield PlannedCalls(
        stage="context",
        repo=repo,
        run=None,
        model=get_model(benchmark.models, settings.engine),
        calls=int(not built),
        recorded=int(built),
        output=CONTEXT_OUTPUT,
        prompt=CONTEXT_PROMPT,
        turns=Spread(low, expected, high),
        added=CONTEXT_ADDED,
    )


def _sessions(
    benchmark: Benchmark, repo: str, runs: Sequence[str], prompts: Mapping[str, Prompt]
) -> Iterator[PlannedCalls]:
    snapshot = Path(f"results/{repo}/snapshot")
    files = read_jsonl(snapshot / "files.jsonl", SnapshotFile)
    passes = list(iter_jsonl(snapshot / "passes.jsonl", Pass))
    with TemporaryDirectory(prefix="probe-snapshot-") as folder:
        unpack(snapshot / "source.tar", Path(folder))
        counter = _Counter(benchmark, repo, SnapshotTree(Path(folder), files), prompts)
        for run in runs:
            settings = benchmark.runs[run]
            if isinstance(settings, SessionRun):
                parts = [whole_pass(files)] if settings.variant == "vanilla" else passes
                yield _run(counter, run, settings, parts)


def _run(
    counter: "_Counter", run: str, settings: SessionRun, parts: Sequence[Pass]
) -> PlannedCalls:
    open_ = [part for part in parts if not _ended(counter.repo, run, part.id)]
    model = get_model(counter.benchmark.models, settings.model)
    spread = agent.session_spread(settings.model_dump(mode="json"), settings.variant)
    return PlannedCalls(
        stage="audit",
        repo=counter.repo,
        run=run,
        model=model,
        calls=len(open_),
        recorded=len(parts) - len(open_),
        output=spread.output,
        prompt_tokens=sum(counter.first_prompt(settings.variant, model, one) for one in open_),
        turns=spread.turns,
        added=spread.added,
    )


def _ended(repo: str, run: str, part: str) -> bool:
    file = Path(f"results/{repo}/{run}/passes/{part}.json")
    return file.exists() and read_json(file, PassResult).status == "ok"


class _Counter:
    """Counts first prompts on one snapshot, each once: repeats of a run begin with the same."""

    def __init__(
        self, benchmark: Benchmark, repo: str, tree: SnapshotTree, prompts: Mapping[str, Prompt]
    ) -> None:
        self.benchmark, self.repo = benchmark, repo
        self._tree, self._prompts = tree, prompts
        self._environment = _environment(repo)
        document = Path(f"results/{repo}/snapshot/context.md")
        self._project = document.read_text(encoding="utf-8") if document.exists() else None
        self._counted: dict[tuple[Variant, int, str], int] = {}

    def first_prompt(self, variant: Variant, model: Model, part: Pass) -> int:
        """Tokens of a session's first request; 0 for one whose instructions do not fit: it asks nothing.

        A context document that is not written yet counts as long as it may be.
        """
        key = (variant, model.entry.prompt_room, part.id)
        if key not in self._counted:
            self._counted[key] = self._count(variant, model, part)
        return self._counted[key]

    def _count(self, variant: Variant, model: Model, part: Pass) -> int:
        full = variant == "full"
        try:
            texts = audit_texts(
                self._prompts[audit_prompt(variant)],
                variant,
                self.repo,
                part,
                self._tree,
                project=(self._project or "") if full else "",
                environment=self._environment,
                hand_in=agent.HAND_IN,
                room=model.entry.prompt_room,
                model=model.name,
            )
        except NoRoomError:
            return 0
        unwritten = full and self._project is None
        return agent.first_prompt_tokens(texts) + unwritten * self.benchmark.settings.context.tokens


def _environment(repo: str) -> Environment:
    """The environment, or one of bare sources where it is not built yet: it decides a few words."""
    file = Path(f"results/{repo}/snapshot/environment.json")
    if file.exists():
        return read_json(file, Environment)
    return Environment(
        repo=repo,
        status="sources_only",
        reason="not built yet",
        cutoff=datetime.fromtimestamp(0, UTC),
        sha256="",
        provenance=Provenance.of_heuristic("1"),
    )
