"""What identifies a cell: its resolved configuration and the versions that made it."""

import json
import platform
from collections.abc import Mapping, Sequence

from probe import __version__
from probe.records import PassResult, ReferenceInfo, content_sha256
from probe.statistics.cell import CellIdentity


def identify_cell(
    config: Mapping[str, object],
    results: Sequence[PassResult],
    reference: ReferenceInfo,
    code_revision: str | None,
) -> tuple[CellIdentity, str]:
    """The cell's identity, and the text of the ``config.json`` that is kept beside it.

    Args:
        config: the cell's resolved configuration; needs ``repo``, ``run`` and ``settings.kind``.
        results: the run's passes; they know the version of the tool.
        reference: the reference set that the cell is scored against.
        code_revision: of the workflow's checkout; None where it is none.

    The configuration's hash leaves out versions of Python and PROBE, which have columns or a place
    in the file: the same configuration has the same hash on every machine.
    """
    tools = sorted({f"{r.provenance.engine} {r.provenance.engine_version}" for r in results})
    prompts = sorted({r.provenance.prompt_sha256 for r in results if r.provenance.prompt_sha256})
    config_sha256 = content_sha256(config)
    settings = config["settings"]
    kind = str(settings["kind"]) if isinstance(settings, Mapping) else "unknown"
    identity = CellIdentity(
        repo=str(config["repo"]),
        run=str(config["run"]),
        kind=kind,
        model=", ".join(tools) or None,
        effort=_effort(config),
        reference_version=reference.version,
        reference_sha256=reference.sha256,
        config_sha256=config_sha256,
    )
    kept = {
        **config,
        "config_sha256": config_sha256,
        "reference_version": reference.version,
        "reference_sha256": reference.sha256,
        "tools": tools,
        "prompts_sha256": prompts,
        "code_revision": code_revision,
        "probe_version": __version__,
        "python_version": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    return identity, json.dumps(kept, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _effort(config: Mapping[str, object]) -> str | None:
    """The run's reasoning effort; None without a model, or where the provider's default holds."""
    models = config.get("models")
    model = models.get("run") if isinstance(models, Mapping) else None
    return str(model["effort"]) if isinstance(model, Mapping) and "effort" in model else None
