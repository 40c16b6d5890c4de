"""What can be known before any job: `snakemake -n` says it too."""

from collections.abc import Sequence
from pathlib import Path

from probe import paths, results
from probe.config import (
    HEURISTIC,
    AnalyzerRun,
    Benchmark,
    Cell,
    CliRun,
    SarifRun,
    SessionRun,
)
from probe.context.room import check_context_room
from probe.errors import BudgetError, ConfigError, SandboxError
from probe.finders.audit_prompt import check_room
from probe.finders.base import check_available
from probe.finders.cli_check import check_cli, check_cli_model, check_replay
from probe.finders.sarif import check_sarif
from probe.git.mirror import check_local, is_pinned
from probe.models.base import Model
from probe.models.client import check_model, get_model
from probe.models.prompts import Prompt, load_prompt
from probe.paths import cell_file
from probe.reference import classify_model, extract_model, synthesize_model
from probe.reference.presence_prompt import check_presence_room
from probe.sandbox import ENGINES


def check(benchmark: Benchmark, request: paths.Request, root: Path, folder: Path) -> None:
    """Look at everything that a request needs and that can be seen without work.

    Args:
        benchmark: the validated configuration.
        request: what the command line asks for.
        root: the workflow's folder, where relative paths of the configuration start.
        folder: the results folder.

    Raises:
        RecordError: another version wrote the results folder.
        GitError: a local repository is missing, empty or shallow, or lacks T0 or T1.
        FinderError: an analyser or command-line agent is missing, a SARIF file is missing or
            malformed, or a model's window holds no session.
        ConfigError: a bundled patch series is missing, or a command-line agent cannot work with its
            model.
        ModelError: a model that is to be asked has no price, its key is not set, or its window is
            too small.
        BudgetError: a paid model is to be asked, but no money may be spent.
        SandboxError: an agent is to work, and no sandbox works here.
    """
    results.check(folder)
    for name in request.repositories:
        _check_repository(benchmark, name, root, folder)
    for run in dict.fromkeys(cell.run for cell in request.cells):
        settings = benchmark.runs[run]
        if isinstance(settings, AnalyzerRun):
            check_available(settings.tool)
    for cell in request.cells:
        settings = benchmark.runs[cell.run]
        if isinstance(settings, SarifRun):
            check_sarif(paths.sarif_file(settings, cell.repo, root), settings.max_mb)
    _check_models(benchmark, request, root, folder)


def _check_models(benchmark: Benchmark, request: paths.Request, root: Path, folder: Path) -> None:
    """What is not built yet must be able to ask its models; a finished build needs no key."""
    if not request.asks:
        return
    bugs = (folder / repo / "reference" / "bugs.jsonl" for repo in request.repositories)
    reference = not all(file.exists() for file in bugs)
    pending = [cell for cell in request.cells if not (folder.parent / cell_file(cell)).exists()]
    agents = _agents(benchmark, pending, reference=reference)
    if agents:
        _check_sandbox(benchmark.settings.sandbox.engine, agents[0])
    _check_cli(benchmark, pending, root, folder)
    if benchmark.settings.calls.replay:
        return
    names = benchmark.models_of(pending, reference=reference)
    if reference:
        _check_rooms(benchmark, root)
    _check_session_rooms(benchmark, pending, root)
    for name in names:
        model = get_model(benchmark.models, name)
        check_model(model)
        if not model.entry.free and not benchmark.settings.budget.usd:
            raise BudgetError(
                f"budget.usd is 0, so the paid model {name!r} is not asked; `snakemake "
                "results/estimate.csv` says what the build would cost, and "
                "--config 'budget={usd: 5}' allows 5 dollars"
            )


def _check_rooms(benchmark: Benchmark, root: Path) -> None:
    """The largest prompts of the judged stages must fit their models' windows."""
    stages = benchmark.settings.reference

    def asked(stage: str) -> tuple[Model, Prompt]:
        model = get_model(benchmark.models, getattr(stages, stage).engine)
        return model, load_prompt(paths.prompt_file(root, stage))

    if stages.classify.engine != HEURISTIC:
        classify_model.check_room(*asked("classify"), stages.classify.diff_tokens)
    if (extract := stages.extract).engine != HEURISTIC:
        budgets = extract_model.Budgets(extract.diff_tokens, extract.file_tokens)
        extract_model.check_room(*asked("extract"), budgets)
    if stages.presence.engine != HEURISTIC:
        check_presence_room(*asked("presence"))
    if (written := stages.synthesize).engine != HEURISTIC:
        limits = synthesize_model.Budgets(written.diff_tokens, written.file_tokens)
        synthesize_model.check_room(*asked("synthesize"), limits)


def _check_cli(benchmark: Benchmark, cells: Sequence[Cell], root: Path, folder: Path) -> None:
    """Command-line agents must be there or installable, and speak their model's protocol."""
    state = folder.parent / benchmark.settings.calls.folder
    for run in dict.fromkeys(cell.run for cell in cells):
        settings = benchmark.runs[run]
        if isinstance(settings, CliRun):
            check_replay(benchmark.settings)
            check_cli_model(settings.tool, settings.model, benchmark.models[settings.model])
            check_cli(settings.tool, root / "envs/agents", state)


def _check_session_rooms(benchmark: Benchmark, cells: Sequence[Cell], root: Path) -> None:
    """The instructions of sessions, and of who writes the context document, must fit the windows."""
    for run in dict.fromkeys(cell.run for cell in cells):
        settings = benchmark.runs[run]
        if isinstance(settings, SessionRun):
            model = get_model(benchmark.models, settings.model)
            prompt = load_prompt(paths.prompt_file(root, paths.audit_prompt(settings.variant)))
            room = model.entry.prompt_room
            check_room(prompt, settings.variant, room=room, model=model.name)
    context = benchmark.settings.context
    if context.engine != HEURISTIC and benchmark.needs_context(cell.run for cell in cells):
        model = get_model(benchmark.models, context.engine)
        prompt = load_prompt(paths.prompt_file(root, "context"))
        check_context_room(model, prompt, context.tokens)


def _agents(benchmark: Benchmark, cells: Sequence[Cell], *, reference: bool) -> list[str]:
    """What works in a sandbox, in words: foreign code is never run elsewhere."""
    stages = benchmark.settings
    named = [f"run {cell.run!r}" for cell in cells if benchmark.variant(cell.run)]
    if benchmark.needs_context(cell.run for cell in cells) and stages.context.engine != HEURISTIC:
        named.append("context.engine")
    if reference and stages.reference.presence.engine != HEURISTIC:
        named.append("reference.presence.engine")
    return named


def _check_sandbox(engine: str, agent: str) -> None:
    """An agent needs a sandbox; the engine that is tried fastest comes first."""
    names = sorted(ENGINES, key=lambda name: name != "bubblewrap") if engine == "auto" else [engine]
    reasons = []
    for name in names:
        check = ENGINES[name]().check()
        if check.works:
            return
        reasons.append(f"{name}: {check.reason}")
    raise SandboxError(
        f"{agent} is an agent, and sandbox.engine {engine!r} gives it no sandbox "
        f"here ({'; '.join(reasons)}); `probe doctor` says what to do"
    )


def _check_repository(benchmark: Benchmark, name: str, root: Path, folder: Path) -> None:
    repository = benchmark.repositories[name]
    series = paths.series_folder(repository, root)
    if series is not None:
        if not (series / "series.tsv").is_file():
            raise ConfigError(f"{name}: {repository.url}: no patch series at {series}/series.tsv")
        return
    url = paths.source_url(repository, root)
    t0, t1, branch = repository.t0, repository.t1, repository.branch
    mirror = paths.mirror_beside(folder / name / "history.json")
    # pins hold even when the source has moved or gone
    if Path(url).is_absolute() and not is_pinned(url, mirror, t0=t0, t1=t1, branch=branch):
        check_local(url, t0=t0, t1=t1, branch=branch, repo=name)
