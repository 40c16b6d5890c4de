"""One pass of a run from the snapshot's files: unpack, find, clean up."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from probe.errors import FinderError
from probe.finders.base import Asking, FinderContext, get_finder
from probe.records import Pass, PassResult, SnapshotFile, iter_jsonl, read_jsonl
from probe.snapshot.files import unpack
from probe.snapshot.plan import whole_pass

if TYPE_CHECKING:
    from probe.finders.session import Session
    from probe.models.base import Model
    from probe.models.client import Asker
    from probe.models.prompts import Prompt


def run_whole(
    repo: str, run: str, settings: Mapping[str, object], *, archive: Path, files: Path
) -> PassResult:
    """Run a finder that reads the whole snapshot at once.

    Args:
        repo: key of the repository.
        run: key of the run.
        settings: the run's settings; ``kind`` and, for analysers, ``tool`` choose the finder.
        archive: the snapshot's ``source.tar``, unpacked into a folder that is removed again.
        files: the snapshot's ``files.jsonl``.

    Raises:
        FinderError: the finder cannot run, or its input cannot be read.
        RecordError: the snapshot cannot be read.
    """
    snapshot_files = read_jsonl(files, SnapshotFile)
    the_pass = whole_pass(snapshot_files)
    return _run(repo, run, settings, the_pass, archive, snapshot_files)


def run_pass(
    repo: str,
    run: str,
    settings: Mapping[str, object],
    part: str,
    *,
    archive: Path,
    files: Path,
    passes: Path,
    prompt: "Prompt",
    asker: "Asker",
    model: "Model",
) -> PassResult:
    """Run a finder that asks a model on one pass of the plan.

    Args:
        repo: key of the repository.
        run: key of the run.
        settings: the run's settings; ``kind`` chooses the finder.
        part: the pass's id.
        archive: the snapshot's ``source.tar``, unpacked into a folder that is removed again.
        files: the snapshot's ``files.jsonl``.
        passes: the plan, ``passes.jsonl``.
        prompt: the finder's template.
        asker: the client.
        model: whom to ask.

    Raises:
        FinderError: the plan has no such pass, or a file of it cannot be read.
        RecordError: the snapshot or the plan cannot be read.
        ModelError: the model cannot be asked at all.
        BudgetError: the call could pass the cap on money.
    """
    snapshot_files = read_jsonl(files, SnapshotFile)
    the_pass = _pass_of_plan(passes, part)
    asking = Asking(asker, model, prompt)
    return _run(repo, run, settings, the_pass, archive, snapshot_files, asking=asking)


def run_session(
    repo: str,
    run: str,
    settings: Mapping[str, object],
    part: str,
    *,
    files: Path,
    passes: Path,
    session: "Session",
) -> PassResult:
    """Let an agent, or a command-line agent, audit one pass in a sandbox.

    Args:
        repo: key of the repository.
        run: key of the run.
        settings: the run's settings; ``kind`` and, for command-line agents, ``tool`` choose the
            finder, ``variant`` what it is given.
        part: the pass's id; for ``vanilla`` that of the single one.
        files: the snapshot's ``files.jsonl``.
        passes: the plan, ``passes.jsonl``; not read for ``vanilla``.
        session: what it works with and where.

    Raises:
        FinderError: the plan has no such pass, or the finder cannot run.
        RecordError: the snapshot, the plan or a transcript cannot be read or written.
        ModelError: the model cannot be reached; nothing that was bought is lost.
        BudgetError: the workflow's money is spent; likewise.
        SandboxError: no sandbox can be had.
    """
    snapshot_files = read_jsonl(files, SnapshotFile)
    vanilla = settings.get("variant") == "vanilla"
    the_pass = whole_pass(snapshot_files) if vanilla else _pass_of_plan(passes, part)
    if the_pass.id != part:
        raise FinderError(f"the variant 'vanilla' has one pass, {the_pass.id!r}, not {part!r}")
    archive = session.archive
    return _run(repo, run, settings, the_pass, archive, snapshot_files, session=session)


def _pass_of_plan(passes: Path, part: str) -> Pass:
    for the_pass in iter_jsonl(passes, Pass):
        if the_pass.id == part:
            return the_pass
    raise FinderError(f"{passes}: the plan has no pass {part!r}; it has changed: run again")


def _run(
    repo: str,
    run: str,
    settings: Mapping[str, object],
    the_pass: Pass,
    archive: Path,
    files: Sequence[SnapshotFile],
    *,
    asking: Asking | None = None,
    session: "Session | None" = None,
) -> PassResult:
    finder = get_finder(str(settings["kind"]), _text(settings.get("tool")))
    with TemporaryDirectory(prefix="probe-snapshot-") as folder:
        root = Path(folder) / "snapshot"
        root.mkdir()
        unpack(archive, root)
        context = FinderContext(repo, run, root, files, the_pass, settings, asking, session)
        return finder.find(context)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
