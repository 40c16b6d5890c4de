"""Where the workflow's files are, and which cells a command line asks for.

The rule files hold the path patterns; what needs a decision is here, where it can be tested.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, get_args

from probe.config import (
    HEURISTIC,
    NAME_PATTERN,
    SERIES_PREFIX,
    VARIANT_MARK,
    Benchmark,
    Cell,
    Repository,
    SarifRun,
)
from probe.errors import ConfigError
from probe.records import Brief, Pass, Variant, iter_jsonl

BLOCK_PATTERN = r"[0-9]+"
"""A block's name: its 0-based number in the window, four digits or more."""

PART_PATTERN = r"[a-z0-9][a-z0-9-]*"
"""A pass's name."""

WHOLE = "all"
"""Name of the one pass of finders that read a whole snapshot at once."""

VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""What a session can be given."""

_ASKING_NOTHING = frozenset({"prepare", "results/estimate.csv"})
_SHARED_TARGETS = _ASKING_NOTHING | {"all", "reference", "results/metrics.csv"}
_PREPARED = re.compile(
    r"results/[^/]+/(snapshot/|environment/|history\.json$|series\.|reference/(commits\.jsonl|blocks\.tsv)$)"
)
_CONTEXT = re.compile(r"results/[^/]+/snapshot/(context\.|panel_context\.|briefs/full\.)")
_RESULT = re.compile(r"^(\./)?results/[^/]+/")


class Request(NamedTuple):
    """What one command line needs."""

    repositories: list[str]
    """Repositories whose history is read."""
    cells: list[Cell]
    """Cells that are built."""
    asks: bool = True
    """Whether anything in it can ask a model; mirrors, snapshots, plans and estimates cannot."""


def cell_file(cell: Cell) -> str:
    """Where a cell's row stands."""
    return f"results/{cell.repo}/{cell.run}.metrics.csv"


def alternatives(names: Iterable[str]) -> str:
    """A regular expression that matches exactly these names; one that matches nothing for none."""
    listed = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(re.escape(name) for name in listed) or r"(?!)"


def repository_pattern(benchmark: Benchmark) -> str:
    """A regular expression of the inventory's names and of all names that variants can have.

    Snakemake reads no braces in it, so that it has no bounded repetition.
    """
    return f"(?:{alternatives(benchmark.repositories.rows)})(?:{VARIANT_MARK}{NAME_PATTERN})?"


def base_name(repo: str) -> str:
    """The inventory's name of a repository or variant."""
    return repo.partition(VARIANT_MARK)[0]


def series_folder(repository: Repository, root: Path) -> Path | None:
    """Folder of the bundled patch series, None for a repository that is fetched."""
    if not repository.url.startswith(SERIES_PREFIX):
        return None
    return root / repository.url.removeprefix(SERIES_PREFIX)


def source_url(repository: Repository, root: Path) -> str:
    """The URL to fetch, or an absolute path for a local one; relative ones start at ``root``."""
    url = repository.url
    if re.match(r"^[a-z][a-z0-9+.-]*://", url) or re.match(r"^[\w.-]+@[\w.-]+:", url):
        return url
    return str((root / Path(url).expanduser()).resolve())


def environment_overrides(root: Path, repo: str) -> list[str]:
    """What a person wrote about a repository's environment; a proposal counts once it is renamed."""
    folder = root / "envs" / base_name(repo)
    found = folder.glob("*.yaml") if folder.is_dir() else ()
    return sorted(str(file) for file in found if not file.name.endswith(".proposed.yaml"))


def dockerfiles(root: Path) -> list[str]:
    """The files that snapshot images are built from."""
    return sorted(str(file) for file in (root / "envs").glob("*.Dockerfile"))


def audit_prompt(variant: Variant) -> str:
    """Name of the template of a session's prompt."""
    return f"audit_{variant.replace('-', '_')}"


ESTIMATED_PROMPTS = ("classify", "extract", "find", *map(audit_prompt, VARIANTS))
"""Templates that an estimate renders."""


def briefs_file(repo: str, variant: Variant) -> str:
    """Where the briefs of a variant stand."""
    return f"results/{repo}/snapshot/briefs/{variant}.jsonl"


def prepared_sessions(benchmark: Benchmark) -> list[str]:
    """What the sessions of a build need and nobody is paid for: `snakemake prepare` builds it."""
    free = benchmark.settings.context.engine == HEURISTIC
    wanted = {(repo, benchmark.variant(run)) for repo, run in benchmark.cells()}
    return sorted(
        briefs_file(repo, variant)
        if free or variant != "full"
        else f"results/{repo}/snapshot/leaks.json"
        for repo, variant in wanted
        if variant is not None
    )


def sarif_file(run: SarifRun, repo: str, root: Path) -> Path:
    """The SARIF file of a run for a repository; relative patterns start at ``root``."""
    return root / Path(run.path.replace("{repo}", repo)).expanduser()


def mirror_beside(history: str | Path) -> Path:
    """The mirror that a repository's ``history.json`` pins: it lies beside it."""
    return Path(history).parent / "history.git"


def neighbour_mirrors(history: str | Path) -> list[Path]:
    """Mirrors of the same inventory line beside that of a ``history.json``: its other variants."""
    folder = Path(history).parent
    base = base_name(folder.name)
    found = (path.parent for path in folder.parent.glob(f"{base}*/history.git/HEAD"))
    return sorted(
        mirror
        for mirror in found
        if mirror.parent != folder and base_name(mirror.parent.name) == base
    )


def block_name(number: int) -> str:
    """Name of the block with this 0-based number."""
    return f"{number:04d}"


def read_blocks(path: str | Path) -> dict[str, str]:
    """Block names and content hashes, in window order, from ``blocks.tsv``."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t")[:2] for line in lines)


def block_sha256(blocks: Mapping[str, str], repo: str, block: str) -> str:
    """The content hash of a block.

    Raises:
        ConfigError: the window has no such block.
    """
    if block not in blocks:
        known = f"it has {', '.join(blocks)}" if blocks else "it has none"
        raise ConfigError(
            f"results/{repo}/reference/blocks/{block}: no block of the window; {known}"
        )
    return blocks[block]


def read_passes(path: str | Path) -> dict[str, str]:
    """Pass names and content hashes, in the plan's order, from ``passes.jsonl``."""
    return _passes_as_of(str(path), Path(path).stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _passes_as_of(path: str, mtime_ns: int) -> dict[str, str]:
    # asked once for every pass of every run of a repository
    return {one.id: one.content_sha256 for one in iter_jsonl(path, Pass)}


def read_briefs(path: str | Path) -> dict[str, str]:
    """Pass names and content hashes, in the plan's order, from ``briefs/{variant}.jsonl``."""
    return _briefs_as_of(str(path), Path(path).stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _briefs_as_of(path: str, mtime_ns: int) -> dict[str, str]:
    return {one.pass_id: one.content_sha256 for one in iter_jsonl(path, Brief)}


def pass_sha256(passes: Mapping[str, str], repo: str, name: str) -> str:
    """The content hash of a pass.

    Raises:
        ConfigError: the plan has no such pass.
    """
    if name not in passes:
        known = f"it has {', '.join(list(passes)[:20])}" if passes else "it has none"
        raise ConfigError(f"results/{repo}: pass {name!r}: not in the plan; {known}")
    return passes[name]


def read_request(arguments: Sequence[str], benchmark: Benchmark) -> Request:
    """What a command line asks for; everything configured where it names no result.

    Args:
        arguments: words of the command line; only those under ``results/{repo}/`` are read.
        benchmark: the validated configuration.

    Raises:
        ConfigError: a target names an unknown repository or run.
    """
    words = [word.removeprefix("./") for word in arguments]
    targets = [word for word in words if _RESULT.match(word)]
    shared = [word for word in words if word in _SHARED_TARGETS]
    free = benchmark.settings.context.engine == HEURISTIC
    asks = not (targets or shared) or not all(_asks_nothing(t, free) for t in targets + shared)
    if not targets:
        cells = benchmark.cells() if asks else []
        return Request(list(benchmark.settings.repositories), cells, asks)
    named = [benchmark.check_target(target) for target in targets]
    cells = [Cell(repo, run) for repo, run in named if run is not None]
    return Request(list(dict.fromkeys(repo for repo, _ in named)), cells, asks)


def _asks_nothing(target: str, free_context: bool) -> bool:
    if _CONTEXT.match(target) and not free_context:
        return False
    return target in _ASKING_NOTHING or bool(_PREPARED.match(target))


def prompt_file(root: Path, name: str) -> Path:
    """The template of a stage or finder; ``root`` is the workflow's folder."""
    return root / "prompts" / f"{name}.j2"


def prepared_files(repo: str) -> list[str]:
    """What an estimate reads of a repository: `snakemake prepare` builds it."""
    names = ("history.json", "reference/commits.jsonl")
    snapshot = ("source.tar", "files.jsonl", "passes.jsonl")
    return [f"results/{repo}/{name}" for name in (*names, *(f"snapshot/{n}" for n in snapshot))]


def size_of(path: str | Path) -> int:
    """Bytes of a file, 0 for none."""
    file = Path(path)
    return file.stat().st_size if file.exists() else 0


def agreement_tables(benchmark: Benchmark) -> list[str]:
    """The agreement tables of the configured repositories whose bugs are labelled."""
    return [
        f"results/{repo}/reference/agreement.csv"
        for repo in benchmark.settings.repositories
        if benchmark.repositories[repo].truth
    ]
