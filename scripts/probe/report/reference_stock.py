"""How many items each stage of a reference set has before it, counted or assumed.

Files that the configured engines made are counted, block by block; what they will leave of the rest
follows from shares read off heuristic reference sets of eleven repositories with 5,900 window
commits.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from probe.config import HEURISTIC, Benchmark
from probe.models.estimate import NOTHING, Spread
from probe.records import (
    Candidate,
    Classification,
    Dropped,
    Judgement,
    Pair,
    Presence,
    Provenance,
    Report,
    iter_jsonl,
)

FIX_SHARE = Spread(0.05, 0.25, 0.4)
"""Assumed share of window commits that are fixes."""

BUGS_A_FIX = Spread(0.8, 1.0, 1.3)
"""Assumed candidates of a fix commit: some are rejected, some hold several."""

KEPT_SHARE = Spread(0.65, 0.8, 0.95)
"""Assumed share of candidates whose defect the snapshot has."""

PAIR_SHARE = Spread(0.1, 0.2, 0.3)
"""Assumed share of all pairs of a repository's reports that look alike."""

_Made = Classification | Candidate | Dropped | Presence | Report | Judgement


@dataclass(frozen=True)
class Stock:
    """How many items of a kind there are, as far as files tell."""

    known: int
    """Counted in files that the configured engine made."""
    assumed: Spread = NOTHING
    """Further ones, of blocks whose file is not there yet."""

    @property
    def total(self) -> Spread:
        """All of them."""
        return Spread(self.known, self.known, self.known).plus(self.assumed)


class Built:
    """How far the reference set of a repository is built with the configured engines.

    Args:
        benchmark: the validated configuration.
        repo: key of the repository.
    """

    def __init__(self, benchmark: Benchmark, repo: str) -> None:
        self._folder = Path(f"results/{repo}/reference")
        self._engines = {
            path[-1]: stage.engine for path, stage in benchmark.settings.stages().items()
        }
        self.blocks: Mapping[str, int] = _block_sizes(self._folder / "blocks.tsv")

    def file(self, block: str, name: str) -> Path:
        """A block's file."""
        return self._folder / "blocks" / block / f"{name}.jsonl"

    def done(self, stage: str, *paths: Path) -> bool:
        """Whether files are there, and the configured engine made them.

        The heuristic leaves some records without a maker.
        """
        if not all(path.exists() for path in paths):
            return False
        engine = self._engines[stage]
        makers = {made and made.engine for path in paths for made in _makers(path)}
        return not makers or (makers <= {engine, None} and engine in {*makers, HEURISTIC})

    def classified(self, block: str) -> bool:
        """Whether the fixes of a block are known."""
        return self.done("classify", self.file(block, "classifications"))

    def extracted(self, block: str) -> bool:
        """Whether the candidates of a block are known."""
        files = (self.file(block, "candidates"), self.file(block, "left_out"))
        return self.classified(block) and self.done("extract", *files)

    def judged(self, block: str) -> bool:
        """Whether presence is known for the candidates of a block."""
        return self.extracted(block) and self.done("presence", self.file(block, "presence"))

    def written(self, block: str) -> bool:
        """Whether the reports of a block are known."""
        files = (self.file(block, "reports"), self.file(block, "unwritten"))
        return self.judged(block) and self.done("synthesize", *files)

    def fixes(self, block: str) -> Stock:
        """Fix commits of a block."""
        if self.classified(block):
            path = self.file(block, "classifications")
            return Stock(sum(item.is_fix is True for item in iter_jsonl(path, Classification)))
        return Stock(0, _same(self.blocks[block]).times(FIX_SHARE))

    def candidates(self, block: str) -> Stock:
        """Candidates of a block."""
        if self.extracted(block):
            return Stock(_count(self.file(block, "candidates"), Candidate))
        return Stock(0, self.fixes(block).total.times(BUGS_A_FIX))

    def kept(self, block: str) -> Stock:
        """Present candidates of a block, which are to be written up."""
        if self.judged(block):
            path = self.file(block, "presence")
            return Stock(sum(item.verdict == "keep" for item in iter_jsonl(path, Presence)))
        return Stock(0, self.candidates(block).total.times(KEPT_SHARE))

    def reports(self, block: str) -> Stock:
        """Reports of a block."""
        if self.written(block):
            return Stock(_count(self.file(block, "reports"), Report))
        return Stock(0, self.kept(block).total)

    def pairs(self) -> Stock:
        """Pairs of reports that look alike, over all blocks."""
        path = self._folder / "pairs.jsonl"
        if path.exists() and all(map(self.written, self.blocks)):
            return Stock(_count(path, Pair))
        count = add_up(self.reports(block) for block in self.blocks).total
        low, expected, high = (max(0.0, n * (n - 1) / 2) for n in count)
        return Stock(0, Spread(low, expected, high).times(PAIR_SHARE))

    def paired(self) -> bool:
        """Whether all pairs were judged."""
        return all(map(self.written, self.blocks)) and self.done(
            "deduplicate", self._folder / "duplicates.jsonl"
        )


def add_up(stocks: Iterable[Stock]) -> Stock:
    """All of several stocks."""
    known, assumed = 0, NOTHING
    for stock in stocks:
        known, assumed = known + stock.known, assumed.plus(stock.assumed)
    return Stock(known, assumed)


def _same(number: int) -> Spread:
    return Spread(number, number, number)


def _block_sizes(path: Path) -> dict[str, int]:
    """Commits of each block, in window order, from ``blocks.tsv``."""
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:])
    return {block: int(commits) for block, _, commits in rows}


_RECORDS: Mapping[str, type[_Made]] = {
    "classifications": Classification,
    "candidates": Candidate,
    "left_out": Dropped,
    "presence": Presence,
    "reports": Report,
    "unwritten": Dropped,
    "duplicates": Judgement,
}
"""What each file holds."""


def _makers(path: Path) -> Iterable[Provenance | None]:
    return (record.provenance for record in iter_jsonl(path, _RECORDS[path.stem]))


def _count(path: Path, record: type[Candidate] | type[Report] | type[Pair]) -> int:
    return sum(1 for _ in iter_jsonl(path, record))
