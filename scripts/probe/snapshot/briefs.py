"""What the sessions of a variant see, as one hash a pass.

Snakemake compares times and settings; what a session is shown are generated files, rebuilt for many
reasons that change nothing in them. A paid session reruns for this hash, its prompt, its model and
its own settings, and for nothing else.
"""

from collections.abc import Sequence

from probe.records import Brief, Environment, Pass, SnapshotFile, Variant, content_sha256
from probe.snapshot.plan import whole_pass

BRIEF_VERSION = 1
"""Part of every hash: a change of what sessions are given makes them rerun."""


def build_briefs(
    variant: Variant,
    passes: Sequence[Pass],
    files: Sequence[SnapshotFile],
    environment: Environment,
    context: str,
) -> list[Brief]:
    """A brief for every session, in the plan's order; a single one for ``vanilla``.

    All sessions can read the whole snapshot, so that the blob of every file is in every hash.

    Args:
        variant: of the sessions.
        passes: the plan.
        files: all paths of the snapshot, sorted.
        environment: where the sessions work.
        context: the document on the project; empty for variants that do not get it.
    """
    parts = [whole_pass(files)] if variant == "vanilla" else passes
    shared = [
        BRIEF_VERSION,
        variant,
        context,
        environment.sha256,
        [[file.path, file.blob] for file in files],
    ]
    return [
        Brief(
            variant=variant,
            pass_id=part.id,
            content_sha256=content_sha256([shared, part.content_sha256]),
        )
        for part in parts
    ]
