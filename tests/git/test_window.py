from pathlib import Path

import pytest
from builders import HistoryBuilder
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import GitError
from probe.git.window import Member, arrange, window_members

Graph = dict[str, list[str]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Commits c0, c1, …: each with up to three earlier parents, or none."""
    graph: Graph = {"c0": []}
    for number in range(1, draw(st.integers(2, 24))):
        earlier = st.sampled_from(sorted(graph))
        graph[f"c{number}"] = draw(st.lists(earlier, max_size=3, unique=True))
    return graph


def ancestors(graph: Graph, tip: str) -> set[str]:
    found: set[str] = set()
    waiting = [tip]
    while waiting:
        sha = waiting.pop()
        if sha not in found:
            found.add(sha)
            waiting.extend(graph[sha])
    return found


def first_parents(graph: Graph, tip: str) -> list[str]:
    line = [tip]
    while graph[line[-1]]:
        line.append(graph[line[-1]][0])
    return line


def between(graph: Graph, t0: str, t1: str) -> Graph:
    inside = ancestors(graph, t1) - ancestors(graph, t0)
    return {sha: graph[sha] for sha in inside}


@given(graphs(), st.data())
def test_order_on_random_graphs(graph: Graph, data: st.DataObject) -> None:
    line = first_parents(graph, max(graph, key=lambda sha: int(sha[1:])))
    low, high = sorted(
        data.draw(st.lists(st.integers(0, len(line) - 1), min_size=2, max_size=2)), reverse=True
    )
    t0, t1, newest = line[low], line[high], line[0]
    inside = between(graph, t0, t1)
    members = arrange(inside, t0, t1)
    order = [member.sha for member in members]

    assert sorted(order) == sorted(sha for sha in inside if len(graph[sha]) < 2)
    for member in members:
        earlier = set(order[: order.index(member.sha)])
        assert {p for p in graph[member.sha] if p in order} <= earlier
        before_step = graph[member.step][0]
        assert member.step in line
        assert member.sha in ancestors(graph, member.step) - ancestors(graph, before_step)
    longer = arrange(between(graph, t0, newest), t0, newest)
    assert longer[: len(members)] == members


@given(graphs())
def test_a_start_off_the_line_is_refused(graph: Graph) -> None:
    newest = max(graph, key=lambda sha: int(sha[1:]))
    line = first_parents(graph, newest)
    for t0 in sorted(set(graph) - set(line)):
        with pytest.raises(GitError, match="not on the first-parent line"):
            arrange(between(graph, t0, newest), t0, newest)


def test_steps_come_first_and_dates_do_not_matter(tmp_path: Path) -> None:
    history = HistoryBuilder(tmp_path / "repo")
    start = history.commit({"a": "0"})
    history.branch("topic")
    older = history.commit({"t": "1"}, date="2020-01-01")
    younger = history.commit({"t": "2"}, date="2030-01-01")
    history.switch("main")
    direct = history.commit({"a": "1"}, date="2025-01-01")
    merge = history.merge("topic")
    last = history.commit({"a": "2"}, date="2019-01-01")

    assert window_members(history.path, start, last) == [
        Member(direct, direct),
        Member(older, merge),
        Member(younger, merge),
        Member(last, last),
    ]
    assert (
        window_members(history.path, start, merge) == window_members(history.path, start, last)[:3]
    )


def test_octopus_and_merged_roots_belong_to_their_step(tmp_path: Path) -> None:
    history = HistoryBuilder(tmp_path / "repo")
    start = history.commit({"a": "0"})
    history.branch("one")
    one = history.commit({"one": "1"})
    history.branch("two", at=start)
    two = history.commit({"two": "1"})
    history.orphan("vendored")
    root = history.commit({"lib/x": "1"})
    history.switch("main")
    octopus = history.merge("one", "two", "vendored")

    members = window_members(history.path, start, octopus)
    assert members == [Member(one, octopus), Member(two, octopus), Member(root, octopus)]


def test_an_old_branch_merged_late_brings_only_its_new_commits(tmp_path: Path) -> None:
    history = HistoryBuilder(tmp_path / "repo")
    history.commit({"a": "0"})
    history.branch("stable")
    backport = history.commit({"s": "1"})
    history.switch("main")
    start = history.commit({"a": "1"})
    merge = history.merge("stable")
    assert window_members(history.path, start, merge) == [Member(backport, merge)]


def test_equal_ends_make_an_empty_window(tmp_path: Path) -> None:
    history = HistoryBuilder(tmp_path / "repo")
    sha = history.commit({"a": "0"})
    assert window_members(history.path, sha, sha) == []


def test_unknown_commits_and_backward_windows_are_errors(tmp_path: Path) -> None:
    history = HistoryBuilder(tmp_path / "repo")
    first = history.commit({"a": "0"})
    second = history.commit({"a": "1"})
    with pytest.raises(GitError, match="not on the first-parent line"):
        window_members(history.path, second, first)
    with pytest.raises(GitError, match="rev-list"):
        window_members(history.path, first, "0" * 39 + "1")
