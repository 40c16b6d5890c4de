"""Which bugs a fix commit corrects, and where they were before it, as a model sees them.

The model reads the message, the diff and the files before the fix; the heuristic engine beside it is
:mod:`probe.reference.extract`. What it says of places is held against the parent and the diff
(:mod:`probe.reference.extract_check`), and it is told what does not hold. A commit on which the
model failed leaves as unjudged, with its failure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from probe.code.paths import SourceScope
from probe.git.diff import CommitDiff, FileDiff
from probe.models.base import Model, Question, Reply, provenance_of
from probe.models.client import Asker
from probe.models.prompts import Prompt
from probe.models.size import prompt_tokens
from probe.records import Commit, Dropped, Provenance, Record
from probe.records.history import UNJUDGED
from probe.reference.asking import UNREACHED, check_reached, check_window, why_unjudged
from probe.reference.classify_text import (
    clean,
    cut_middle,
    diff_text,
    one_line,
    statistics_text,
)
from probe.reference.extract import (
    NO_CONTENT,
    NO_PARENT,
    UNREADABLE,
    Extracted,
    Read,
    is_production_change,
)
from probe.reference.extract_check import (
    AnsweredBug,
    Flaw,
    Ground,
    flaws_of,
    flaws_text,
    old_path,
)
from probe.reference.extract_text import ParentFile, files_text
from probe.reference.mirror import split_lines
from probe.reference.narrow import Narrower

SUBJECT_TOKENS = 300
"""Tokens of a subject, at most."""

BODY_TOKENS = 3_000
"""Tokens of a body, at most: it may hold the text of a pull request."""

STATISTICS_TOKENS = 1_500
"""Tokens of the file statistics, at most."""

SHOWN_FILES = 40
"""Files before the fix that are looked at for the prompt, at most."""

NO_FIX = "fixes no behaviour"
"""Outcome of a commit that the model rejects."""

NONE_LEFT = "no bug with a sound location"
"""Outcome of a commit all of whose bugs left; each of them has a record of its own beside it."""

SAYS_NOTHING = "neither a bug nor a reason"
"""Outcome of a commit whose answer names no bug, and does not say why."""

_LONGEST = 1_000
"""Characters of a text of the model's that a record keeps."""


class ExtractAnswer(Record):
    """What a model says of a fix commit; the order makes it reason before it decides."""

    rationale: str
    """What went wrong before, why it is one root cause or several, and where."""
    bugs: tuple[AnsweredBug, ...]
    """One entry for each root cause; empty where no behaviour is fixed."""
    rejection: str | None
    """What the commit does instead, where there is no bug; null where there are bugs."""


@dataclass(frozen=True, slots=True)
class Found:
    """A bug that an engine found in a fix commit, before it is looked up in the snapshot."""

    id: str
    """The candidate's id."""
    fix: Extracted
    title: str
    root_cause: str | None
    """None where the engine cannot tell more than the places."""
    provenance: Provenance


@dataclass(frozen=True)
class Budgets:
    """How much of a commit a model sees, in tokens (cl100k_base)."""

    diff_tokens: int
    """Of the diff."""
    file_tokens: int
    """Of the files before the fix, in all."""


Fix = tuple[Commit, CommitDiff, str | None]
"""A fix commit, its diff, and its first parent."""


def candidate_id(sha: str, number: int) -> str:
    """Id of the n-th bug of a commit, counted from 1."""
    return f"{sha[:12]}-{number}"


class ModelExtractor:
    """The answers about a block's fix commits, and what becomes of each."""

    def __init__(
        self,
        replies: Mapping[str, Reply[ExtractAnswer]],
        model: Model,
        prompt: Prompt,
        scope: SourceScope,
    ) -> None:
        self._replies = replies
        self._model = model
        self._prompt = prompt
        self._scope = scope

    def __call__(
        self, fix: Commit, diff: CommitDiff, parent: str | None, read: Read
    ) -> list[Found | Dropped]:
        """The bugs of a fix commit in the model's order, and everything that left with its reason."""
        if parent is None or fix.sha not in self._replies:
            reason = why_unasked(diff, parent)
            detail = _one_line(diff.problem)
            return [Dropped(commit=fix.sha, stage="extract", reason=reason, detail=detail)]
        reply = self._replies[fix.sha]
        provenance = provenance_of(self._model, self._prompt.sha256, reply)
        answer = usable_answer(reply)
        if answer is None:
            return [_dropped(fix, UNJUDGED, why_unjudged(reply), provenance, reply)]
        if not answer.bugs:
            reason = NO_FIX if answer.rejection else SAYS_NOTHING
            detail = answer.rejection or answer.rationale
            return [_dropped(fix, reason, detail, provenance, reply)]
        flaws = flaws_of(answer.bugs, Ground(diff, parent, read))
        sound = {n: bug for n, bug in enumerate(answer.bugs, 1) if n not in flaws}
        narrower = Narrower(diff, parent, self._scope, read, sound.values())
        found: list[Found | Dropped] = [
            Found(
                candidate_id(fix.sha, number),
                narrower.narrow(bug, alone=len(answer.bugs) == 1),
                _one_line(bug.title),
                _one_line(bug.root_cause),
                provenance,
            )
            for number, bug in sound.items()
        ]
        found += [_unsound(fix, n, answer.bugs[n - 1], flaws[n], provenance) for n in flaws]
        if not sound:
            detail = f"{len(flaws)} named, none of them placed"
            found.append(_dropped(fix, NONE_LEFT, detail, provenance, reply))
        return found


def ask_extractions(
    fixes: Iterable[Fix],
    read: Read,
    scope: SourceScope,
    prompt: Prompt,
    asker: Asker,
    model: Model,
    budgets: Budgets,
    *,
    purpose: str,
) -> ModelExtractor:
    """Ask a model about each fix commit, all in one batch.

    Commits without a parent or without a readable line of their diff are not asked about.

    Args:
        fixes: fix commits with their diffs and parents; read once, and not kept.
        read: reads files of the parents, also while the questions are being asked.
        scope: which files are production code.
        prompt: ``prompts/extract.j2``.
        asker: the client.
        model: whom to ask.
        budgets: how much it sees.
        purpose: for the ledger, ``extract REPOSITORY/BLOCK``.

    Raises:
        BudgetError: a call could pass the cap; what was bought stays in the cache.
        ModelError: the model cannot be asked at all, its window is too small for the budgets, or
            no commit got an answer and the server is the reason.
        GitError: the mirror cannot be read.
    """
    check_room(model, prompt, budgets)
    questions = list(extract_questions(fixes, read, scope, prompt, budgets))
    replies = asker.ask(model, questions, ExtractAnswer, purpose=purpose)
    check_reached(replies, model)
    return ModelExtractor({reply.id: reply for reply in replies}, model, prompt, scope)


def extract_questions(
    fixes: Iterable[Fix], read: Read, scope: SourceScope, prompt: Prompt, budgets: Budgets
) -> Iterator[Question[ExtractAnswer]]:
    """What :func:`ask_extractions` asks, without asking: for estimates.

    A question holds nothing of the repository's key, window or block, so that windows that overlap
    share their answers.
    """
    for fix, diff, parent in fixes:
        if parent is None or not _readable(diff):
            continue
        shown, more = _shown_files(diff, parent, scope, read)
        messages = prompt.messages(
            subject=cut_middle(clean(fix.subject), SUBJECT_TOKENS),
            body=cut_middle(clean(fix.body), BODY_TOKENS) or "(none)",
            statistics=cut_middle(statistics_text(fix), STATISTICS_TOKENS),
            diff=cut_middle(diff_text(diff), budgets.diff_tokens),
            files=files_text(shown, budgets.file_tokens, more),
        )
        yield Question(fix.sha, messages, _check(Ground(diff, parent, read)))


def check_room(model: Model, prompt: Prompt, budgets: Budgets) -> None:
    """Say early that a model's window cannot hold the largest prompt that the budgets allow.

    Raises:
        ModelError: it cannot; the message says which budget would do.
    """
    empty = prompt.messages(subject="", body="", statistics="", diff="", files="")
    fixed = prompt_tokens(empty, ExtractAnswer.model_json_schema())
    fixed += SUBJECT_TOKENS + BODY_TOKENS + STATISTICS_TOKENS
    settings = {"diff_tokens": budgets.diff_tokens, "file_tokens": budgets.file_tokens}
    check_window(model, "extract", fixed, settings)


def usable_answer(reply: Reply[ExtractAnswer]) -> ExtractAnswer | None:
    """The answer, or the last one whose places did not all hold; None where there is neither.

    A server that could not be reached in a repair turn leaves nothing: asked again, it may do.
    """
    if reply.value is not None:
        return reply.value
    if reply.failure is not None and reply.failure.kind in UNREACHED:
        return None
    return reply.rejected


def why_unasked(diff: CommitDiff, parent: str | None) -> str:
    """Why no model is asked about a fix commit, in the words of the heuristic."""
    if parent is None:
        return NO_PARENT
    return UNREADABLE if diff.missing else NO_CONTENT


def _readable(diff: CommitDiff) -> bool:
    return any(file.hunks or file.cut for file in diff.files)


def _check(ground: Ground) -> Callable[[ExtractAnswer], str | None]:
    def problem(answer: ExtractAnswer) -> str | None:
        if answer.bugs and answer.rejection:
            return "there are bugs and a rejection; give bugs with rejection null, or no bugs"
        if not answer.bugs and not answer.rejection:
            return "there is neither a bug nor a rejection; give one of them"
        return "; ".join(flaws_text(flaws_of(answer.bugs, ground))) or None

    return problem


def _shown_files(
    diff: CommitDiff, parent: str, scope: SourceScope, read: Read
) -> tuple[list[ParentFile], int]:
    """Production files before the fix, else all files; and how many there are beyond the limit."""
    touched = [file for file in diff.files if file.hunks and file.change.status != "A"]
    production = [file for file in touched if is_production_change(file, scope)]
    chosen = production or touched
    shown = [_parent_file(file, parent, read) for file in chosen[:SHOWN_FILES]]
    return [file for file in shown if file is not None], len(chosen[SHOWN_FILES:])


def _parent_file(file: FileDiff, parent: str, read: Read) -> ParentFile | None:
    content = read(parent, old_path(file))
    if content is None:
        return None
    return ParentFile(old_path(file), content, split_lines(content), file.hunks)


def _dropped(
    fix: Commit,
    reason: str,
    detail: str,
    provenance: Provenance,
    reply: Reply[ExtractAnswer],
) -> Dropped:
    return Dropped(
        commit=fix.sha,
        stage="extract",
        reason=reason,
        detail=_one_line(detail),
        failure=reply.failure if reason == UNJUDGED else None,
        provenance=provenance,
    )


def _unsound(
    fix: Commit, number: int, bug: AnsweredBug, flaw: Flaw, provenance: Provenance
) -> Dropped:
    return Dropped(
        commit=fix.sha,
        stage="extract",
        candidate=candidate_id(fix.sha, number),
        reason=flaw.reason,
        detail=_one_line(f"{bug.title}: {flaw.detail}"),
        provenance=provenance,
    )


def _one_line(text: str) -> str:
    return clean(one_line(text))[:_LONGEST]
