"""The questions that a pass is asked as: one where it fits the model's window, else one a part.

All models get the same plan, whatever their windows; a model with a small one sees less at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from probe.errors import FinderError
from probe.finders.locate import NotInSnapshotError, SnapshotTree
from probe.finders.merge import ACROSS
from probe.finders.normalise import RawItem
from probe.models.base import A, Message, Model, Reply
from probe.models.prompts import Prompt
from probe.models.size import Schema, prompt_tokens
from probe.records import Pass
from probe.similarity.words import prose_words
from probe.snapshot.material import NumberedFile, numbered_files
from probe.snapshot.parts import NoPartError, Piece, split_pass

PART_SHARE = 0.9
"""Share of a model's window that a part fills: the model's own tokenizer may count more than ours."""


class WindowError(FinderError):
    """A pass that the model cannot be asked about, not even in parts; nothing was sent."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one question of a pass says and shows."""

    id: str
    """The pass's id, with the number of the part where there are several."""
    messages: Sequence[Message]
    """The rendered prompt."""
    pieces: tuple[Piece, ...]
    """What it shows of which files."""

    @property
    def place(self) -> str:
        """What it shows, in a few words."""
        first = self.pieces[0]
        if len(self.pieces) > 1:
            return f"{first.path} to {self.pieces[-1].path}"
        return first.path if first.whole else f"{first.path}:{first.first}-{first.last}"


def pass_messages(repo: str, the_pass: Pass, tree: SnapshotTree, prompt: Prompt) -> list[Message]:
    """The prompt of a whole pass."""
    return prompt.messages(repository=repo, files=list(numbered_files(the_pass, tree)))


def pass_parts(
    repo: str, the_pass: Pass, tree: SnapshotTree, prompt: Prompt, model: Model, schema: Schema
) -> list[Part]:
    """The pass as one part, or as several where the model's window is too small for that.

    Args:
        repo: key of the repository.
        the_pass: which files.
        tree: the snapshot.
        prompt: the template; it gets ``repository`` and ``files``.
        model: whom to ask.
        schema: of the answer.

    Raises:
        WindowError: the window does not even hold the smallest part.
        FinderError: a file cannot be read.
    """
    messages = pass_messages(repo, the_pass, tree, prompt)
    room = model.entry.prompt_room
    tokens = prompt_tokens(messages, schema)
    sources = {path: tree.text(path) for path in the_pass.files}
    if tokens <= room:
        whole = (Piece.of_file(path, text) for path, text in sources.items())
        return [Part(the_pass.id, messages, tuple(whole))]
    bare = prompt_tokens(prompt.messages(repository=repo, files=[]), schema)
    try:
        groups = split_pass(sources, int(PART_SHARE * room) - bare)
    except NoPartError as error:
        raise WindowError(
            f"the prompt has {tokens} tokens, but model {model.name!r} has room for {room} "
            f"(context_tokens less max_output_tokens), of which the instructions take {bare}; in "
            f"parts, {error}; name a model with a larger window; nothing was sent"
        ) from error
    return [
        Part(f"{the_pass.id}:{number}", _messages(repo, group, sources, prompt), group)
        for number, group in enumerate(groups, 1)
    ]


def joined(the_pass: Pass, replies: Sequence[Reply[A]]) -> Reply[A]:
    """What the replies to a pass's parts cost together; its value is None and means nothing."""
    if len(replies) == 1:
        return replies[0]
    served = [reply.served_model for reply in replies if reply.served_model]
    return Reply(
        id=the_pass.id,
        value=None,
        failure=next((reply.failure for reply in replies if reply.failure), None),
        calls=tuple(call for reply in replies for call in reply.calls),
        usage=reduce(add, (reply.usage for reply in replies)),
        served_model=served[-1] if served else None,
        cached=all(reply.cached for reply in replies),
    )


def without_repeats(
    found: Sequence[tuple[Part, Sequence[RawItem]]], tree: SnapshotTree
) -> tuple[list[RawItem], int]:
    """All reports of a pass, without those that two parts make of the lines that both show.

    A report is left out where it begins in lines that its part repeats from the one before, and an
    earlier report has the same lines, or overlapping ones and similar words (Dice of
    :data:`probe.finders.merge.ACROSS`).

    Returns:
        The reports that stay, in the parts' order, and how many were left out.
    """
    kept: list[RawItem] = []
    earlier: list[RawItem] = []
    for part, items in found:
        again = {id(item) for item in items if _is_repeat(item, part, earlier, tree)}
        new = [item for item in items if id(item) not in again]
        kept += new
        earlier = new
    return kept, sum(len(items) for _, items in found) - len(kept)


def _messages(
    repo: str, pieces: Sequence[Piece], sources: dict[str, str], prompt: Prompt
) -> list[Message]:
    files = [NumberedFile(piece.path, piece.text(sources[piece.path])) for piece in pieces]
    return prompt.messages(repository=repo, files=files)


def _is_repeat(item: RawItem, part: Part, earlier: Sequence[RawItem], tree: SnapshotTree) -> bool:
    piece = part.pieces[0]
    if not piece.repeated or not item.first:
        return False
    if item.first >= piece.first + piece.repeated or _path(item, tree) != piece.path:
        return False
    return any(_path(one, tree) == piece.path and _same(one, item) for one in earlier)


def _path(item: RawItem, tree: SnapshotTree) -> str | None:
    try:
        return tree.locate(item.paths[0])
    except NotInSnapshotError:
        return None


def _same(one: RawItem, other: RawItem) -> bool:
    first, last = one.first or 0, one.last or one.first or 0
    other_first, other_last = other.first or 0, other.last or other.first or 0
    if (first, last) == (other_first, other_last):
        return True
    return first <= other_last and other_first <= last and _likeness(one, other) >= ACROSS


def _likeness(one: RawItem, other: RawItem) -> float:
    left, right = (set(prose_words(f"{item.title}\n{item.message}")) for item in (one, other))
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0
