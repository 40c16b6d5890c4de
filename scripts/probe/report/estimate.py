"""What a build would cost: the calls of each stage, repository and run, before any is made."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from pydantic import BaseModel

from probe.config import HEURISTIC, Benchmark, Cell, ModelRun
from probe.errors import RecordError
from probe.finders.locate import SnapshotTree
from probe.finders.model import FindAnswer, find_parts
from probe.finders.questions import WindowError
from probe.git.log import iter_diffs
from probe.models.base import Model, Question
from probe.models.cache import CallStore
from probe.models.client import get_model
from probe.models.estimate import (
    EstimateRow,
    PlannedCalls,
    Spread,
    estimate,
    observed,
    total,
)
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.models.structured import Dialogue
from probe.paths import mirror_beside, prepared_files
from probe.records import Commit, Pass, SnapshotFile, iter_jsonl, read_jsonl
from probe.reference.classify_model import ClassifyAnswer, classify_questions
from probe.reference.extract_model import ExtractAnswer
from probe.report.estimate_reference import EXTRACT_OUTPUT, reference_stages
from probe.report.estimate_sessions import session_stages
from probe.report.tables import text_table
from probe.snapshot.files import unpack

A = TypeVar("A", bound=BaseModel)

CLASSIFY_OUTPUT = Spread(60, 150, 1_500)
"""Assumed tokens of a verdict: three sentences, and as much reasoning as efforts differ in."""

FIND_OUTPUT = Spread(300, 4_000, 20_000)
"""Assumed tokens of a pass's answer: from an empty list to dozens of reports after long reasoning."""

_OUTPUT = {"classify": CLASSIFY_OUTPUT, "extract": EXTRACT_OUTPUT, "find": FIND_OUTPUT}


def estimate_build(
    benchmark: Benchmark,
    cells: Sequence[Cell],
    store: CallStore,
    prompts: Mapping[str, Prompt],
) -> list[EstimateRow]:
    """Rows of ``estimate.csv``: the reference stages of each repository, then its runs.

    Prompts are rendered and counted to the token; what has been recorded already costs nothing.

    Args:
        benchmark: the validated configuration.
        cells: what would be built.
        store: the recorded calls.
        prompts: templates by name: those of :data:`probe.paths.ESTIMATED_PROMPTS`.

    Raises:
        ModelError: a model that would be asked has no price.
        RecordError: a prepared file is missing or cannot be read.
    """
    planned: list[PlannedCalls] = []
    for repo in dict.fromkeys(cell.repo for cell in cells):
        for path in prepared_files(repo):
            if not Path(path).exists():
                raise RecordError(f"{path}: not there yet; run `snakemake prepare` first")
        planned += _classification(benchmark, repo, store, prompts["classify"])
        planned += _reference(benchmark, repo, store, prompts)
        runs = [cell.run for cell in cells if cell.repo == repo]
        planned += _findings(benchmark, repo, runs, store, prompts["find"])
        planned += session_stages(benchmark, repo, runs, prompts)
    return estimate(planned)


def estimate_text(rows: Sequence[EstimateRow], budget_usd: float) -> str:
    """The rows as a table for people, their sum, and how it compares with the budget."""
    columns = ("stage", "repo", "run", "model", "calls", "recorded", "input", "output", "usd")
    cells = [
        [
            row.stage,
            row.repo,
            row.run or "–",
            row.model,
            str(row.calls),
            str(row.recorded),
            str(row.input_tokens),
            str(row.output_tokens),
            f"{row.usd:.2f}",
        ]
        for row in rows
    ]
    if not rows:
        return "no model is asked: nothing to pay"
    low, expected, high = total(rows)
    return (
        f"{text_table(columns, cells)}\n\n{expected:.2f} dollars expected, {low:.2f} at the low end, "
        f"{high:.2f} at the high one; budget.usd is {budget_usd:g}"
    )


def _classification(
    benchmark: Benchmark, repo: str, store: CallStore, prompt: Prompt
) -> Iterator[PlannedCalls]:
    settings = benchmark.settings.reference.classify
    if settings.engine == HEURISTIC:
        return
    commits = read_jsonl(f"results/{repo}/reference/commits.jsonl", Commit)
    mirror = mirror_beside(f"results/{repo}/history.json")
    questions = classify_questions(
        commits,
        iter_diffs(mirror, [commit.sha for commit in commits]),
        prompt,
        diff_tokens=settings.diff_tokens,
    )
    model = get_model(benchmark.models, settings.engine)
    yield _planned("classify", repo, None, model, questions, ClassifyAnswer, store, 1)


def _reference(
    benchmark: Benchmark, repo: str, store: CallStore, prompts: Mapping[str, Prompt]
) -> list[PlannedCalls]:
    def exact(questions: list[Question[ExtractAnswer]]) -> PlannedCalls:
        model = get_model(benchmark.models, benchmark.settings.reference.extract.engine)
        return _planned("extract", repo, None, model, questions, ExtractAnswer, store, 1)

    return reference_stages(benchmark, repo, prompts, exact)


def _findings(
    benchmark: Benchmark,
    repo: str,
    runs: Sequence[str],
    store: CallStore,
    prompt: Prompt,
) -> Iterator[PlannedCalls]:
    asking = {run: one for run in runs if isinstance(one := benchmark.runs[run], ModelRun)}
    if not asking:
        return
    questions: dict[int, list[Question[FindAnswer]]] = {}
    for run, settings in asking.items():
        model = get_model(benchmark.models, settings.model)
        room = model.entry.prompt_room
        if room not in questions:
            questions[room] = list(_pass_questions(repo, prompt, model))
        sample = settings.repeat
        yield _planned("find", repo, run, model, questions[room], FindAnswer, store, sample)


def _pass_questions(repo: str, prompt: Prompt, model: Model) -> Iterator[Question[FindAnswer]]:
    """One question a pass, more where the model's window is small, none where it holds no part."""
    files = read_jsonl(f"results/{repo}/snapshot/files.jsonl", SnapshotFile)
    with TemporaryDirectory(prefix="probe-snapshot-") as folder:
        root = Path(folder)
        unpack(Path(f"results/{repo}/snapshot/source.tar"), root)
        tree = SnapshotTree(root, files)
        for one in iter_jsonl(f"results/{repo}/snapshot/passes.jsonl", Pass):
            with suppress(WindowError):
                for part in find_parts(repo, one, tree, prompt, model):
                    yield Question(part.id, part.messages)


def _planned(
    stage: str,
    repo: str,
    run: str | None,
    model: Model,
    questions: Sequence[Question[A]],
    answer: type[A],
    store: CallStore,
    sample: int,
) -> PlannedCalls:
    dialogues = [
        Dialogue(model, question, answer, purpose="estimate", sample=sample, repair_turns=0)
        for question in questions
    ]
    new = [one.request for one in dialogues if not store.path(one.request.key).exists()]
    known = [call for one in dialogues if (call := store.get(one.request.key)) is not None]
    said = [float(call.usage.output_tokens or 0) for call in known]
    return PlannedCalls(
        stage=stage,
        repo=repo,
        run=run,
        model=model,
        calls=len(new),
        recorded=len(dialogues) - len(new),
        output=observed(said) or _OUTPUT[stage],
        prompt_tokens=sum(prompt_tokens(one.messages, one.schema, one.tools) for one in new),
    )
