"""What can be said of a command-line agent before any job: whether it can be had, and who it talks with."""

import importlib
import json
from pathlib import Path
from typing import cast

from probe.config import ModelEntry, Settings
from probe.errors import ConfigError, FinderError, ModelError
from probe.finders.base import get_finder
from probe.finders.cli_base import CliTool
from probe.finders.cli_install import agents_folder, check_npm, machine, tool_version
from probe.gateway.routes import Protocol, upstream_of
from probe.models.base import Model

_SPEAKERS: dict[Protocol, str] = {
    "chat": "OpenAI's chat completions (`openai/…` and all who speak its protocol)",
    "responses": "OpenAI's responses (`openai/…`, or a server that speaks them)",
    "messages": "Anthropic's messages (`anthropic/…`)",
    "gemini": "Gemini's protocol (`gemini/…`)",
}
_UNTOLD = ("temperature", "top_p", "seed")
"""Settings of a model that no agent can be told: it has its own."""


def tool_of(name: str) -> CliTool:
    """The agent of a name in ``runs.yaml``.

    Raises:
        FinderError: there is none.
    """
    module = importlib.import_module(get_finder("cli", name).find.__module__)
    return cast(CliTool, module.TOOL)


def check_cli(tool: str, listed: Path, state: Path) -> None:
    """Say early that an agent cannot be had here; nothing is installed.

    Args:
        tool: its name.
        listed: the folder ``envs/agents``.
        state: the folder of the cache and the ledger.

    Raises:
        FinderError: no agents for this processor, none installed and no npm, or a damaged folder.
    """
    machine()
    folder = agents_folder(listed, state)
    check_npm(folder)
    if folder.is_dir():
        tool_version(tool_of(tool), folder)


def check_cli_model(tool: str, name: str, entry: ModelEntry) -> None:
    """Say early that an agent cannot work with a model.

    Args:
        tool: the agent's name.
        name: the model's key in ``models.yaml``.
        entry: its settings.

    Raises:
        ConfigError: they share no protocol, or the model has a setting that the agent cannot be told:
            it would run otherwise than the tables say.
        ModelError: the gateway knows no address of the provider.
    """
    agent = tool_of(tool)
    if agent.protocol not in upstream_of(Model(name, entry)).protocols:
        raise ConfigError(
            f"runs.yaml: {tool} speaks {_SPEAKERS[agent.protocol]}, but model {name!r} is "
            f"{entry.litellm_id}; name a model of such a provider, or another tool"
        )
    untold = [setting for setting in _UNTOLD if getattr(entry, setting) is not None]
    if entry.effort is not None and entry.effort not in agent.efforts:
        untold.append(f"effort: {entry.effort}")
    if untold:
        raise ConfigError(
            f"models.yaml: {name}: {tool} cannot be told {', '.join(untold)}; name a model without for "
            "runs of this tool"
        )


def check_replay(settings: Settings) -> None:
    """Say early that command-line agents cannot be replayed: their calls are never in the cache.

    Raises:
        ModelError: replay mode is on.
    """
    if settings.calls.replay:
        raise ModelError(
            "calls.replay is on, and a command-line agent cannot be replayed: keep its pass files, or "
            "leave the run out"
        )


def pinned_version(tool: str, listed: Path) -> str:
    """The version of an agent that ``envs/agents/package.json`` pins: another one reruns its passes.

    Raises:
        FinderError: there is no such tool, or the file cannot be read or does not list it.
    """
    manifest = listed / "package.json"
    package = tool_of(tool).package.format(machine="x64")
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        pinned = {**found["dependencies"], **found["optionalDependencies"]}
        return str(pinned[package])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FinderError(f"{manifest}: pins no version of {package} ({tool}): {error}") from error
