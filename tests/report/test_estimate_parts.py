"""An estimate counts the questions that a pass is really asked as: more where the window is small."""

import tarfile
from pathlib import Path

import yaml

from probe.code.tokens import count_tokens
from probe.config import Cell, load_files
from probe.models.cache import CallStore
from probe.models.prompts import load_prompt
from probe.paths import ESTIMATED_PROMPTS
from probe.records import SnapshotFile, write_jsonl
from probe.report.estimate import estimate_build
from probe.snapshot.plan import build_plan

ROOT = Path(__file__).parents[2]
TEXT = "\n".join(f"def step_{n}(total):\n    return total + {n}\n\n" for n in range(400))


def test_a_small_window_means_more_questions_and_none_where_no_part_fits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path / "results/demo")
    windows = {"large": 100_000, "small": 7_000, "tiny": 2_000}
    price = {"input": 1, "output": 10, "as_of": "2026-12-02"}
    models = {
        name: {
            "litellm_id": "openai/paid", "price": price, "context_tokens": window,
            "max_output_tokens": 1_000,
        }
        for name, window in windows.items()
    }  # fmt: skip
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(models))
    runs = {name: {"kind": "model", "model": name, "languages": ["python"]} for name in windows}
    (tmp_path / "runs.yaml").write_text(yaml.safe_dump(runs))
    settings = {
        "repositories": ["demo"],
        "runs": list(windows),
        "models_file": str(tmp_path / "models.yaml"),
        "runs_file": str(tmp_path / "runs.yaml"),
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(settings))
    benchmark = load_files([tmp_path / "test.yaml"], ROOT)
    prompts = {name: load_prompt(ROOT / "prompts" / f"{name}.j2") for name in ESTIMATED_PROMPTS}
    cells = [Cell("demo", name) for name in windows]
    rows = estimate_build(benchmark, cells, CallStore(tmp_path / "cache"), prompts)
    calls = {row.run: row.calls for row in rows}
    assert calls["large"] == 1
    assert 2 < calls["small"] < 8
    assert calls.get("tiny", 0) == 0


def test_sessions_are_counted_and_repeats_begin_alike(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path / "results/demo")
    windows = {"large": 100_000, "tiny": 2_000}
    models = {
        name: {"litellm_id": "openai/free", "price": "free", "context_tokens": window,
               "max_output_tokens": 1_000, "revision": name}
        for name, window in windows.items()
    }  # fmt: skip
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(models))
    runs = {
        "full": {"kind": "agent", "model": "large", "repeats": 2, "calls": 1},
        "paths": {"kind": "agent", "model": "large", "variant": "passes-only", "calls": 1},
        "lost": {"kind": "agent", "model": "tiny", "calls": 1},
    }
    (tmp_path / "runs.yaml").write_text(yaml.safe_dump(runs))
    settings = {
        "repositories": ["demo"],
        "runs": list(runs),
        "models_file": str(tmp_path / "models.yaml"),
        "runs_file": str(tmp_path / "runs.yaml"),
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(settings))
    prompts = {name: load_prompt(ROOT / "prompts" / f"{name}.j2") for name in ESTIMATED_PROMPTS}

    def tokens():
        benchmark = load_files([tmp_path / "test.yaml"], ROOT)
        rows = estimate_build(benchmark, benchmark.cells(), CallStore(tmp_path / "cache"), prompts)
        assert {row.stage for row in rows} == {"audit"}
        return {row.run: row.input_tokens for row in rows}

    before = tokens()
    assert before["full-1"] == before["full-2"]
    source = sum(count_tokens(line) for line in TEXT.splitlines())
    assert before["full-1"] > before["paths"] + source  # numbered lines are more than bare ones
    assert before["lost"] == 0
    # a document that is written counts as it is, not as long as it may be
    document = "A library of steps. " * 20
    (tmp_path / "results/demo/snapshot/context.md").write_text(document)
    after = tokens()
    assert after["paths"] == before["paths"]
    assert before["full-1"] - 8_000 < after["full-1"] < before["full-1"] - 7_000


def prepare(folder: Path) -> None:
    (folder / "snapshot").mkdir(parents=True)
    (folder / "reference").mkdir()
    (folder / "history.json").touch()
    (folder / "reference/commits.jsonl").touch()
    (folder / "reference/blocks.tsv").write_text("block\tcontent_sha256\tcommits\n")
    source = folder / "a.py"
    source.write_text(TEXT)
    with tarfile.open(folder / "snapshot/source.tar", "w") as tar:
        tar.add(source, "a.py")
    file = SnapshotFile(
        path="a.py", blob="0" * 40, size=len(TEXT), language="python", lines=TEXT.count("\n"),
        tokens=count_tokens(TEXT), audited=True, reason=None,
    )  # fmt: skip
    write_jsonl(folder / "snapshot/files.jsonl", [file])
    write_jsonl(folder / "snapshot/passes.jsonl", build_plan([file]))
