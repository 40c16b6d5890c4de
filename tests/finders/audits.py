"""A small project to audit, and agents whose scripts a test writes."""

import tarfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from asked import model_at

from probe.code.languages import language_of
from probe.finders.base import FinderContext
from probe.finders.run import run_session
from probe.finders.session import Session
from probe.models.client import Client
from probe.models.prompts import load_prompt
from probe.paths import audit_prompt
from probe.records import (
    Environment,
    Partner,
    Pass,
    PassResult,
    Provenance,
    SnapshotFile,
    Variant,
    write_jsonl,
)

ROOT = Path(__file__).parents[2]
FILES = {
    "pkg/a.py": "def first(items):\n    return items[0]\n\n\ndef mean(xs):\n    return sum(xs) / len(xs)\n",
    "pkg/b.py": "from pkg.a import first\n\n\ndef head(text):\n    return first(text.split())\n",
    "pkg/c.py": "def total(prices):\n    return round(sum(prices), 2)\n",
    "tests/test_a.py": "from pkg.a import mean\n\nassert mean([1, 3]) == 2\n",
}
HEAD = Partner(
    path="pkg/b.py",
    unit="head",
    first=4,
    last=5,
    calls=1,
    certainty="certain",
    into=("pkg/a.py:first",),
    sites=(5,),
)
PASSES = [
    Pass(
        id="a",
        kind="batch",
        files=("pkg/a.py", "pkg/c.py"),
        tokens=60,
        callers=(HEAD,),
        callers_found=1,
        content_sha256="1" * 64,
    ),
    Pass(id="b", kind="batch", files=("pkg/b.py",), tokens=30, content_sha256="2" * 64),
]
SETTINGS: dict[str, object] = {
    "kind": "agent",
    "variant": "full",
    "repeat": 1,
    "working_s": 600.0,
    "usd": None,
    "calls": 12,
    "command_s": 20.0,
    "memory_mb": 500,
}
ENVIRONMENT = Environment(
    repo="demo",
    status="sources_only",
    reason="none was wanted",
    cutoff=datetime(2025, 1, 1, tzinfo=UTC),
    sha256="e" * 64,
    provenance=Provenance.of_heuristic("1"),
)


def item(**fields: object) -> dict[str, object]:
    """A finding as an agent hands it in."""
    whole = {
        "path": "pkg/a.py",
        "first_line": 2,
        "last_line": 2,
        "snippet": "return items[0]",
        "description": "`first` raises IndexError for an empty list. It should give None.",
        "title": "`first` fails on an empty list",
        "severity": "medium",
        "confidence": 0.7,
        "suggested_fix": "",
    }
    return whole | fields


class Project:
    """The project's snapshot on disk, as the workflow makes it, and runs of agents on it."""

    def __init__(self, folder: Path, files: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.files = dict(files or FILES)
        self.results = folder / "results" / "demo"
        self.archive = self.results / "snapshot" / "source.tar"
        self.archive.parent.mkdir(parents=True, exist_ok=True)
        self.root = folder / "tree"
        for path, text in self.files.items():
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        with tarfile.open(self.archive, "w") as tar:
            for path in sorted(self.files):
                tar.add(self.root / path, path)
        self.rows = [_row(path) for path in sorted(self.files)]
        write_jsonl(self.list, self.rows)
        write_jsonl(self.plan, PASSES)

    @property
    def list(self) -> Path:
        return self.archive.with_name("files.jsonl")

    @property
    def plan(self) -> Path:
        return self.archive.with_name("passes.jsonl")

    def session(self, url: str, engine: str = "bubblewrap", **more: Any) -> Session:
        """``entry`` and ``variant`` besides the fields of a session."""
        variant: Variant = more.pop("variant", "full")
        fields = {
            "archive": self.archive,
            "environment": ENVIRONMENT,
            "folder": self.results,
            "project": "A small project about lists.",
            "content_sha256": "c" * 64,
            "engine": engine,
            "model": model_at(url, **{"max_attempts": 2, **more.pop("entry", {})}),
            "prompt": load_prompt(ROOT / "prompts" / f"{audit_prompt(variant)}.j2"),
            "transcripts": self.results / "one" / "transcripts",
        }
        return Session(**(fields | more))

    def context(
        self, session: Session, the_pass: Pass = PASSES[0], **settings: Any
    ) -> FinderContext:
        return FinderContext(
            "demo", "one", self.root, self.rows, the_pass, SETTINGS | settings, session=session
        )

    def run(
        self,
        session: Session,
        part: str = "a",
        *,
        client: Client | None = None,
        budget: float = 0.0,
        **settings: Any,
    ) -> PassResult:
        """One pass, through the same door as the workflow's; with a client of its own cache."""
        opened = client or Client(self.folder / "cache", budget)
        try:
            return run_session(
                "demo",
                "one",
                SETTINGS | settings,
                part,
                files=self.list,
                passes=self.plan,
                session=replace(session, caller=opened),
            )
        finally:
            if client is None:
                opened.close()


def _row(path: str) -> SnapshotFile:
    audited = not path.startswith("tests/") and language_of(path) is not None
    return SnapshotFile(
        path=path,
        blob="0" * 40,
        size=0,
        language=language_of(path),
        lines=0,
        tokens=0,
        audited=audited,
        reason=None if audited else "test",
    )
