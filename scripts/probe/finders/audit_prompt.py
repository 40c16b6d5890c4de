"""What a session is told: its variant's template with the parts of its pass, as far as there is room.

What does not fit the model's window is left out: sources, the largest first (given by their paths,
to be read in the checkout), then the list of calls, then the document on the project. Code of callers
and callees gets the room that is left. The model sees which sources are missing, and the caller is
told of everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from probe.code.tokens import count_tokens
from probe.errors import FinderError
from probe.finders.locate import SnapshotTree
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Environment, Pass, Variant
from probe.sandbox import WORK
from probe.snapshot.material import Material, NumberedFile, pass_material

WORK_TOKENS = 8_000
"""Tokens of a window that a session needs for its work, at least."""

WORK_SHARE = 0.25
"""Share of a prompt's room that the first prompt leaves for the work, where that is more."""

FORM_TOKENS = 1_500
"""Tokens allowed for tools, the answer's schema, and what a provider or agent puts around them."""


class NoRoomError(FinderError):
    """Not even the instructions fit the model's window: the pass ends at a limit."""


class SourceFile(NamedTuple):
    """A target file as the prompt shows it."""

    path: str
    """Inside the snapshot."""
    text: str | None
    """Its lines, each with its number and a bar; None where only the path is given."""


class AuditTexts(NamedTuple):
    """What a session is told."""

    system: str
    """System prompt."""
    user: str
    """First user message."""
    left_out: tuple[str, ...] = ()
    """What there was no room for: paths of sources, and ``snippets``, ``call_graph``, ``project``."""

    def counts(self, the_pass: Pass) -> dict[str, int]:
        """Sources of the pass that were left out, as an oddity of its record."""
        return {"source_not_in_prompt": sum(path in the_pass.files for path in self.left_out)}


def audit_texts(
    prompt: Prompt,
    variant: Variant,
    repo: str,
    the_pass: Pass,
    tree: SnapshotTree,
    *,
    project: str,
    environment: Environment,
    hand_in: str,
    room: int,
    model: str,
) -> AuditTexts:
    """System and user message of a session.

    Args:
        prompt: the variant's template.
        variant: what the session is given.
        repo: key of the repository.
        the_pass: its files and their call partners.
        tree: the unpacked snapshot.
        project: the document on the project; used by ``full`` alone.
        environment: where the project's code can run.
        hand_in: how this kind of agent works and hands in its answer, in sentences.
        room: tokens that a prompt of the model may have.
        model: its name, for the error.

    Raises:
        NoRoomError: not even the instructions and the paths fit.
        ConfigError: the prompt names a variable that there is not.
    """
    shared = {
        "repository": repo,
        "place": place_words(environment),
        "hand_in": hand_in,
        "work": WORK,
    }
    budget = first_prompt_room(room)
    if variant == "vanilla":
        return _checked(_render(prompt, shared), budget, model)
    if variant == "passes-only":
        return _checked(_render(prompt, shared, paths=list(the_pass.files)), budget, model)
    bare = _tokens(_render(prompt, shared, **_full(the_pass, "", (), Material((), "", "", ""))))
    shown, left_out = _fit(the_pass, tree, _clean(project).strip(), budget - bare)
    return _checked(_render(prompt, shared, **shown), budget, model)._replace(left_out=left_out)


def first_prompt_room(room: int) -> int:
    """Tokens that a session's first prompt may have, of those that a prompt of the model may have."""
    return int(room - max(WORK_TOKENS, room * WORK_SHARE)) - FORM_TOKENS


def place_words(environment: Environment) -> str:
    """What the checkout's code can be run with, in a sentence."""
    runtimes = ", ".join(f"{name} {version}" for name, version in environment.runtimes.items())
    if environment.status == "built":
        return (
            "The project's dependencies are installed as they were at the time of the snapshot"
            f"{f' ({runtimes})' if runtimes else ''}, so that its code and its tests can be run."
        )
    return (
        "Only the sources and bare interpreters are there; packages that the project depends on are "
        "not installed."
    )


def _clean(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _full(
    the_pass: Pass, project: str, shown: Sequence[NumberedFile], material: Material
) -> dict[str, object]:
    """The variables of ``audit_full.j2``; files that are not shown have no text."""
    texts = {file.path: file.text for file in shown}
    return {
        "project": project,
        "files": [SourceFile(path, texts.get(path)) for path in the_pass.files],
        "call_graph": material.call_graph,
        "callers": material.callers,
        "callees": material.callees,
    }


def _render(prompt: Prompt, shared: Mapping[str, object], **variables: object) -> AuditTexts:
    system, user = prompt.messages(**shared, **variables)
    return AuditTexts(str(system["content"]), str(user["content"]))


def _tokens(texts: AuditTexts) -> int:
    return prompt_tokens([{"content": texts.system}, {"content": texts.user}])


def _fit(
    the_pass: Pass, tree: SnapshotTree, project: str, budget: int
) -> tuple[dict[str, object], tuple[str, ...]]:
    """The variables as far as they fit, and what was left out, in the order of the module's docstring."""
    material = pass_material(the_pass, tree)
    snippets = count_tokens(material.callers) + count_tokens(material.callees)
    sizes = {file.path: count_tokens(file.text) for file in material.sources}
    graph, about = count_tokens(material.call_graph), count_tokens(project)
    rest = sum(sizes.values()) + graph + about
    left_out: list[str] = []
    for path in sorted(sizes, key=lambda path: (-sizes[path], path)):
        if rest > budget:
            rest -= sizes[path]
            left_out.append(path)
    shown = [file for file in material.sources if file.path not in left_out]
    if rest > budget and graph:
        rest -= graph
        material = replace(material, call_graph="")
        left_out.append("call_graph")
    if rest > budget and about:
        rest -= about
        project = ""
        left_out.append("project")
    if rest + snippets > budget:
        less = pass_material(the_pass, tree, max(0, budget - rest))
        material = replace(material, callers=less.callers, callees=less.callees)
        left_out.append("snippets")
    return _full(the_pass, project, shown, material), tuple(left_out)


def _checked(texts: AuditTexts, budget: int, model: str) -> AuditTexts:
    tokens = _tokens(texts)
    if tokens <= budget:
        return texts
    raise NoRoomError(
        f"the instructions alone have {tokens} tokens, but the first prompt to model {model!r} may "
        f"have {max(budget, 0)} (context_tokens less max_output_tokens, and room to work); name a "
        "model with a larger window; nothing was sent"
    )


def check_room(prompt: Prompt, variant: Variant, *, room: int, model: str) -> None:
    """Say early that a model's window holds no session of a variant.

    Args:
        prompt: the variant's template.
        variant: what the sessions are given.
        room: tokens that a prompt of the model may have.
        model: its name, for the error.

    Raises:
        NoRoomError: it does not, whatever the pass.
        ConfigError: the prompt names a variable that there is not.
    """
    shared: dict[str, object] = dict.fromkeys(("repository", "place", "hand_in", "work"), "")
    given: Mapping[Variant, Mapping[str, str]] = {
        "full": dict.fromkeys(("project", "files", "call_graph", "callers", "callees"), ""),
        "passes-only": {"paths": ""},
        "vanilla": {},
    }
    _checked(_render(prompt, shared, **given[variant]), first_prompt_room(room), model)
