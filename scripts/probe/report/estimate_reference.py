"""What the later stages of a reference set would cost, as far as their inputs tell.

Each stage asks about what the one before leaves, so most of it is not known before anything is
spent. What exists is counted; the rest follows from assumed shares
(:mod:`probe.report.reference_stock`), and each row says so.
"""

from collections.abc import Callable, Iterable, Mapping

from probe.code.paths import SourceScope
from probe.config import HEURISTIC, Benchmark
from probe.git.objects import ObjectReader
from probe.models.base import Question
from probe.models.client import get_model
from probe.models.estimate import NOTHING, ONCE, PlannedCalls, Spread
from probe.models.prompts import Prompt
from probe.paths import mirror_beside
from probe.records import (
    Classification,
    Commit,
    History,
    iter_jsonl,
    read_json,
)
from probe.reference.candidates import fixes_with_diffs
from probe.reference.extract_model import Budgets, ExtractAnswer, extract_questions
from probe.report.reference_stock import Built, Stock, add_up

EXTRACT_PROMPT = Spread(2_000, 4_400, 9_000)
"""Assumed tokens of a question: tenth percentile, mean and ninetieth of 215 fixes of four
repositories, at budgets of 12,000 and 16,000 tokens."""

EXTRACT_OUTPUT = Spread(150, 400, 3_000)
"""Assumed tokens of the bugs of a commit, with as much reasoning as efforts differ in."""

PRESENCE_PROMPT = Spread(2_000, 4_000, 8_000)
"""Assumed tokens of an agent's task: candidate, fix and rules."""

PRESENCE_TURNS = Spread(4, 10, 25)
"""Assumed turns of an agent for a candidate; never more than the setting allows."""

PRESENCE_ADDED = Spread(200, 900, 2_000)
"""Assumed tokens that the commands of a turn print."""

PRESENCE_OUTPUT = Spread(80, 250, 800)
"""Assumed tokens of one turn's answer."""

SYNTHESIZE_PROMPT = Spread(1_800, 4_000, 10_000)
"""Assumed tokens of a question: the rules, the fix and the snapshot's code."""

SYNTHESIZE_OUTPUT = Spread(200, 450, 2_500)
"""Assumed tokens of a report."""

DEDUPLICATE_PROMPT = Spread(900, 1_600, 4_000)
"""Assumed tokens of a question: the rules and two reports."""

DEDUPLICATE_OUTPUT = Spread(60, 150, 1_500)
"""Assumed tokens of a verdict."""

Planner = Callable[[list[Question[ExtractAnswer]]], PlannedCalls]
"""Makes the row of questions that are known to the token."""


def reference_stages(
    benchmark: Benchmark, repo: str, prompts: Mapping[str, Prompt], exact: Planner
) -> list[PlannedCalls]:
    """Planned calls of extract, presence, synthesize and deduplicate, as far as a model has them.

    Args:
        benchmark: the validated configuration.
        repo: key of the repository; what ``prepare`` builds of it must be there.
        prompts: templates by name, ``extract`` among them.
        exact: counts questions of stage extract to the token.

    Raises:
        RecordError: a file cannot be read.
        GitError: the mirror cannot be read.
    """
    built = Built(benchmark, repo)
    return [
        *_extractions(benchmark, repo, built, prompts["extract"], exact),
        *_presences(benchmark, repo, built),
        *_reports(benchmark, repo, built),
        *_duplicates(benchmark, repo, built),
    ]


def _extractions(
    benchmark: Benchmark, repo: str, built: Built, prompt: Prompt, exact: Planner
) -> Iterable[PlannedCalls]:
    settings = benchmark.settings.reference.extract
    if settings.engine == HEURISTIC:
        return
    ready = [block for block in built.blocks if built.classified(block)]
    if ready or not built.blocks:
        row = benchmark.repositories[repo]
        scope = SourceScope(source=row.source, tests=row.tests, exclude=row.exclude)
        budgets = Budgets(settings.diff_tokens, settings.file_tokens)
        yield exact(_questions(repo, built, ready, scope, prompt, budgets))
    open_ = [built.fixes(block) for block in built.blocks if block not in ready]
    if open_:
        yield _assumed(
            benchmark, "extract", repo, settings.engine, add_up(open_), "fixes among window commits",
            prompt=EXTRACT_PROMPT, output=EXTRACT_OUTPUT,
        )  # fmt: skip


def _questions(
    repo: str,
    built: Built,
    blocks: Iterable[str],
    scope: SourceScope,
    prompt: Prompt,
    budgets: Budgets,
) -> list[Question[ExtractAnswer]]:
    path = f"results/{repo}/history.json"
    history, mirror = read_json(path, History), mirror_beside(path)
    files = [built.file(block, "classifications") for block in blocks]
    wanted = {
        one.commit for file in files for one in iter_jsonl(file, Classification) if one.is_fix
    }
    commits = iter_jsonl(f"results/{repo}/reference/commits.jsonl", Commit)
    fixes = [commit for commit in commits if commit.sha in wanted]
    with ObjectReader(mirror) as reader:
        pairs = fixes_with_diffs(mirror, history.t0, history.t1, fixes)
        return list(extract_questions(pairs, reader.read, scope, prompt, budgets))


def _presences(benchmark: Benchmark, repo: str, built: Built) -> Iterable[PlannedCalls]:
    settings = benchmark.settings.reference.presence
    if settings.engine == HEURISTIC:
        return
    done = [block for block in built.blocks if built.judged(block)]
    low, expected, high = (min(turns, settings.turns) for turns in PRESENCE_TURNS)
    yield _assumed(
        benchmark, "presence", repo, settings.engine,
        add_up(built.candidates(block) for block in built.blocks if block not in done),
        "candidates of fixes",
        recorded=add_up(map(built.candidates, done)).known,
        prompt=PRESENCE_PROMPT, output=PRESENCE_OUTPUT,
        turns=Spread(low, expected, high), added=PRESENCE_ADDED,
    )  # fmt: skip


def _reports(benchmark: Benchmark, repo: str, built: Built) -> Iterable[PlannedCalls]:
    settings = benchmark.settings.reference.synthesize
    if settings.engine == HEURISTIC:
        return
    done = [block for block in built.blocks if built.written(block)]
    yield _assumed(
        benchmark, "synthesize", repo, settings.engine,
        add_up(built.kept(block) for block in built.blocks if block not in done),
        "kept candidates",
        recorded=add_up(map(built.kept, done)).known,
        prompt=SYNTHESIZE_PROMPT, output=SYNTHESIZE_OUTPUT,
    )  # fmt: skip


def _duplicates(benchmark: Benchmark, repo: str, built: Built) -> Iterable[PlannedCalls]:
    settings = benchmark.settings.reference.deduplicate
    if settings.engine == HEURISTIC:
        return
    pairs = built.pairs()
    done = built.paired()
    yield _assumed(
        benchmark, "deduplicate", repo, settings.engine,
        Stock(0) if done else pairs,
        "pairs of reports that look alike",
        recorded=pairs.known if done else 0,
        prompt=DEDUPLICATE_PROMPT, output=DEDUPLICATE_OUTPUT,
    )  # fmt: skip


def _assumed(
    benchmark: Benchmark,
    stage: str,
    repo: str,
    engine: str,
    stock: Stock,
    of_what: str,
    *,
    prompt: Spread,
    output: Spread,
    recorded: int = 0,
    turns: Spread = ONCE,
    added: Spread = NOTHING,
) -> PlannedCalls:
    counted = stock.assumed == NOTHING
    return PlannedCalls(
        stage=stage,
        repo=repo,
        run=None,
        model=get_model(benchmark.models, engine),
        calls=round(stock.total.expected),
        recorded=recorded,
        output=output,
        prompt=prompt,
        turns=turns,
        added=added,
        items=None if counted else stock.total,
        of_what=of_what,
    )
