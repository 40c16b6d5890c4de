"""What a session's hash follows, and what it does not."""

from datetime import UTC, datetime

import pytest

from probe.records import Environment, Pass, Provenance, SnapshotFile
from probe.snapshot.briefs import build_briefs

T0 = datetime(2025, 1, 1, tzinfo=UTC)


def file(path, blob="a" * 40, *, audited=True):
    return SnapshotFile(
        path=path,
        blob=blob,
        size=1,
        language="python",
        lines=1,
        tokens=1,
        audited=audited,
        reason=None if audited else "test",
    )


def environment(sha256="e1", **more):
    fields = {"repo": "alpha", "status": "built", "cutoff": T0, "sha256": sha256, **more}
    return Environment(provenance=Provenance.of_heuristic("1"), **fields)


FILES = [file("pkg/a.py"), file("pkg/b.py"), file("tests/test_a.py", audited=False)]
PASSES = [
    Pass(id="a-1", kind="individual", files=("pkg/a.py",), tokens=1, content_sha256="p1"),
    Pass(id="b-1", kind="batch", files=("pkg/b.py",), tokens=1, content_sha256="p2"),
]


def hashes(variant="full", passes=PASSES, files=FILES, env=None, context="a parser"):
    briefs = build_briefs(variant, passes, files, env or environment(), context)
    return {brief.pass_id: brief.content_sha256 for brief in briefs}


def test_a_brief_for_every_session():
    assert list(hashes("full")) == list(hashes("passes-only", context="")) == ["a-1", "b-1"]
    assert list(hashes("vanilla", context="")) == ["all"]


def test_one_pass_that_changes_reruns_its_own_session():
    changed = [PASSES[0], PASSES[1].model_copy(update={"content_sha256": "p3"})]
    before, after = hashes(), hashes(passes=changed)
    assert before["a-1"] == after["a-1"]
    assert before["b-1"] != after["b-1"]


@pytest.mark.parametrize("variant", ["full", "passes-only", "vanilla"])
def test_whatever_a_session_can_read_reruns_it(variant):
    before = hashes(variant)
    test_changed = [*FILES[:2], file("tests/test_a.py", "b" * 40, audited=False)]
    for after in (hashes(variant, files=test_changed), hashes(variant, env=environment("e2"))):
        assert not set(before.values()) & set(after.values())


def test_the_rest_of_the_environments_record_reruns_nothing():
    other = environment(image="probe-env:1", folder="environment/root", unknown_dates=3)
    assert hashes(env=other) == hashes()


def test_variants_share_no_hash_and_only_the_full_one_follows_the_context():
    sets = [set(hashes(variant).values()) for variant in ("full", "passes-only", "vanilla")]
    assert len(set.union(*sets)) == 5
    assert not set(hashes(context="a printer").values()) & set(hashes().values())
