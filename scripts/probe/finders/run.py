"""One pass of a run from the snapshot's files: unpack, find, clean up."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from probe.finders.base import FinderContext, get_finder
from probe.records import PassResult, SnapshotFile, read_jsonl
from probe.snapshot.files import unpack
from probe.snapshot.plan import whole_pass


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
    finder = get_finder(str(settings["kind"]), _text(settings.get("tool")))
    with TemporaryDirectory(prefix="probe-snapshot-") as folder:
        root = Path(folder) / "snapshot"
        root.mkdir()
        unpack(archive, root)
        context = FinderContext(
            repo=repo,
            run=run,
            snapshot_root=root,
            files=snapshot_files,
            the_pass=whole_pass(snapshot_files),
            settings=settings,
        )
        return finder.find(context)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
