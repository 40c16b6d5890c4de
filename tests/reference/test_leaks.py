"""What gives a fix away, and what only looks like it."""

from pathlib import Path

import pytest
from builders import HistoryBuilder, link
from hypothesis import given
from hypothesis import strategies as st

from probe.git.objects import ObjectReader
from probe.records import Candidate, Provenance
from probe.reference.leaks import Forbidden, Leak, find_leaks, names_in, own_words
from probe.reference.unseen import commits_up_to, unseen_names

SHA = "3f9d0c1e" + "0a1b2c3d" * 4
KNOWN = Forbidden(commits=[SHA], names=names_in("safe_divide maxRows LIMIT2 UNSEEN atom"))
MADE = Provenance(engine="heuristic", engine_version="1", probe_version="0")


def kinds(text: str, forbidden: Forbidden = KNOWN) -> list[tuple[str, str]]:
    return [(leak.kind, leak.words) for leak in find_leaks({"description": text}, forbidden)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The crash was fixed by a guard.", "fix"),
        ("It is a regression fixed in 2.3.", "fix"),
        ("The fix adds a guard.", "fix"),
        ("The patch adds a guard.", "fix"),
        ("This bug has been resolved upstream.", "fix"),
        ("After this change the list is kept.", "fix"),
        ("It now correctly returns None.", "fix"),
        ("Previously, the row was lost.", "fix"),
        ("A hotfix for lists.", "fix"),
        ("Fixed the handling of lists", "fix"),
        ("A later version keeps the row. In a later release it works.", "fix"),
        ("The problem is resolved by the commit that follows.", "fix"),
        ("See 3f9d0c1e0a for more.", "commit"),
        ("Commit 12ab34c shows it.", "commit"),
        ("Reported in #123.", "reference"),
        ("Reported in GH-123.", "reference"),
        ("See PR 12.", "reference"),
        ("See issue #4.", "reference"),
        ("See owner/name#12.", "reference"),
        ("See https://github.com/o/r/pull/12 for it.", "reference"),
        ("See https://gitlab.com/o/r/-/issues/12.", "reference"),
        ("As in CVE-2025-12345.", "reference"),
        ("It lacks safe_divide.", "identifier"),
        ("It lacks SAFE_DIVIDE.", "identifier"),
        ("maxRows is not read.", "identifier"),
        ("No LIMIT2 is set, nor UNSEEN.", "identifier"),
        ("The value `atom` is not known.", "identifier"),
        ("It does not call atom(x).", "identifier"),
        ("`x` will be None.", "future"),
        ("The call won't return.", "future"),
        ("The check should be moved before the loop.", "instruction"),
        ("`<` should be changed to `<=`.", "instruction"),
        ("Add a check for empty lists.", "instruction"),
        ("It crashes. Replace the loop with `sum`... Replace the loop.", "instruction"),
        ("The solution is to sort first.", "instruction"),
    ],
)
def test_each_kind_is_found(text, kind):
    assert kind in {found for found, _ in kinds(text)}


@pytest.mark.parametrize(
    "text",
    [
        "The prefix, the suffix and the affix of a fixture are lost.",
        "A fixed width of 8 is assumed; the offset is fixed to zero.",
        "Fixed width columns lose a digit.",
        "The patch object of the store is shared between calls.",
        "A PATCH request without a body raises KeyError.",
        "Monkey-patched functions lose their name.",
        "Names are resolved by the scope, and rows corrected by their offset.",
        "`parse` should return 0 for an empty list, and trailing blanks should be removed.",
        "The connection is no longer usable afterwards.",
        '`fix` and `the_patch` are read as names; the message is "will be ignored".',
        "The colour `#123` and &#39; are entities, and C#8 is a language.",
        "UTF-8, ISO-8859-1, SHA-256 and version 2.3 are not told apart.",
        "The word deadbeef and the number 1234567 are no hashes.",
        "The transaction is committed before facade is closed.",
        "An atom is not split, and the limit is unseen by the caller.",
        "The second call raises, since the first one changes the default.",
        "Additional rows are added, and the list is replaced.",
        "This changes the caller's list. It changes every row.",
        "See https://example.org/pulling/rows for the format.",
        "The server issues 304 for it, and logs bugs.",
        "The willing reader and the goodwill of shallow copies.",
    ],
)
def test_what_only_looks_like_a_leak_is_none(text):
    assert kinds(text) == []


def test_a_file_s_own_words_are_not_the_repair():
    text = "The fix of a rule is applied twice."
    assert kinds(text) == [("fix", "fix")]
    own = own_words(["class Rule:", "    def fix(self):", "        return self.patch"])
    assert own == {"fix", "patch"}
    assert kinds(text, Forbidden(vocabulary=own)) == []
    assert kinds("It was fixed by this.", Forbidden(vocabulary=own)) != []
    assert own_words(["# fix(x): later", "// patch(x)", "# the fix", "x = 1  # we fix it"]) == set()


def test_a_path_that_the_report_names_is_no_prose():
    text = "`run` in src/fix.py returns None."
    assert kinds(text) == [("fix", "fix")]
    assert kinds(text, Forbidden(paths=["src/fix.py"])) == []


def test_a_leak_says_what_and_where():
    leaks = find_leaks({"title": "Fine", "trigger": "see  #1 and #1"}, Forbidden())
    assert leaks == [Leak("reference", "#1", "trigger")]
    assert str(leaks[0]) == "reference in trigger: '#1'"


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=80
)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6), st.randoms(use_true_random=False))
def test_text_of_the_snapshot_s_words_has_no_name_of_the_fix(snapshot, fix, random):
    seen = frozenset().union(*map(names_in, snapshot))
    names = frozenset().union(*map(names_in, fix)) - seen
    words = [word for line in snapshot for word in line.split()]
    random.shuffle(words)
    text = " ".join(f"`{word}`" if n % 3 == 0 else word for n, word in enumerate(words))
    assert not [kind for kind, _ in kinds(text, Forbidden(names=names)) if kind == "identifier"]


@given(st.from_regex(r"[a-z]{1,8}_[a-z]{1,8}", fullmatch=True), WORDS)
def test_a_name_of_the_fix_is_found_wherever_it_stands(name, around):
    text = f"{around} {name} {around}"
    assert ("identifier", name) in kinds(text, Forbidden(names={name}))


@given(WORDS, WORDS)
def test_no_text_breaks_the_checker(title, description):
    for leak in find_leaks({"title": title, "description": description}, KNOWN):
        assert leak.words or leak.kind


def with_fix(number: int, text: str) -> Candidate:
    sha = f"{number:040x}"
    return Candidate(
        id=f"{sha[:12]}-{number}",
        commit=sha,
        title="t",
        root_cause="",
        parent_locations=(),
        snapshot_locations=(),
        anchoring="lost",
        anchored_lines=0,
        faulty_lines=1,
        suggested_fix=text,
        provenance=MADE,
    )


def test_names_are_looked_for_in_every_file_of_the_snapshot(tmp_path: Path):
    history = HistoryBuilder(tmp_path / "repo")
    t0 = history.commit(
        {
            "lib/a.py": "def Rows(): ...\n",
            "tests/test_a.py": "in_a_test = 1\n",
            "docs/in_a_folder/x.md": "in docs_only\n",
            "data.bin": b"\0in_binary",
            "to": link("in_a_link"),
        }
    )
    fix = "--- lib/a.py\n+++ lib/new_file.py\n@@ -1,0 +1,1 @@\n+rows in_a_test docs_only in_a_folder\n"
    candidates = [with_fix(1, fix + "+in_binary in_a_link brandNew\n"), with_fix(2, "+rows\n")]
    with ObjectReader(history.path) as reader:
        found = unseen_names(history.path, t0, reader, candidates)
        assert unseen_names(history.path, t0, reader, []) == {}
    assert found[candidates[0].id] >= {"in_binary", "in_a_link", "brandnew", "new_file"}
    assert not found[candidates[0].id] & {"rows", "in_a_test", "docs_only", "in_a_folder", "lib"}
    assert found[candidates[1].id] == frozenset()


def test_commits_are_those_between_the_snapshot_and_the_fixes(tmp_path: Path):
    history = HistoryBuilder(tmp_path / "repo")
    t0 = history.commit({"a": "1"})
    one, two, three = (history.commit({"a": f"{n}"}) for n in (2, 3, 4))
    assert commits_up_to(history.path, t0, [two]) == {one, two}
    assert commits_up_to(history.path, t0, [one, three]) == {one, two, three}
    assert commits_up_to(history.path, t0, []) == frozenset()
