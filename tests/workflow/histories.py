"""A small history for workflow tests: fixes before and inside the window."""

from pathlib import Path

from builders import HistoryBuilder

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

BEFORE = """def mean(values):
    return sum(values) / len(values)


def first(values, default=[]):
    default.append(values)
    return default


def clamp(value, low, high):
    if value < low:
        return high
    return min(value, high)
"""
MEAN_FIXED = BEFORE.replace(
    "    return sum(values) / len(values)",
    "    if not values:\n        return 0.0\n    return sum(values) / len(values)",
)
CLAMP_FIXED = MEAN_FIXED.replace("        return high\n", "        return low\n")
FIRST_FIXED = CLAMP_FIXED.replace(
    "def first(values, default=[]):\n",
    "def first(values, default=None):\n    default = default or []\n",
)


def small_history(path: Path) -> tuple[HistoryBuilder, str, str]:
    """Builder, T0 and T1: four window commits, two of them fixes of bugs that T0 has."""
    history = HistoryBuilder(path)
    history.commit({"pkg/__init__.py": "", "README.md": "# pkg\n"}, "Begin")
    t0 = history.commit({"pkg/stats.py": BEFORE}, "Add statistics", date="2024-12-01T00:00:00Z")
    history.commit(
        {"pkg/stats.py": MEAN_FIXED, "tests/test_stats.py": "def test_mean():\n    assert True\n"},
        "fix: mean of an empty list raises ZeroDivisionError",
    )
    history.commit({"README.md": "# pkg\n\nMore.\n"}, "docs: explain")
    history.commit({"pkg/stats.py": CLAMP_FIXED}, "fix: clamp returns the wrong bound (#12)")
    t1 = history.commit({"setup.cfg": "[metadata]\n"}, "chore: packaging")
    return history, t0, t1


def row(name: str, history: HistoryBuilder, t0: str, t1: str, **more: str) -> dict[str, str]:
    """The inventory row of a history."""
    return {
        "name": name,
        "url": str(history.path),
        "languages": "python",
        "t0": t0,
        "t1": t1,
        "source": "pkg/**",
        "tests": "tests/**",
        **more,
    }


RUFF = {"kind": "analyzer", "tool": "ruff", "languages": ["python"], "rules": ["B"]}
PYLINT = {"kind": "analyzer", "tool": "pylint", "languages": ["python"], "rules": ["E"]}
