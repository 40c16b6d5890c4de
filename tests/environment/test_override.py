"""What a person writes about an environment, and the mistakes that are named."""

from pathlib import Path

import pytest

from probe.environment.override import override_keys, parse_override, read_override
from probe.errors import ConfigError


def test_nothing_written_is_nothing_changed(tmp_path):
    assert read_override([]).python.lock is True
    (tmp_path / "environment.yaml").write_text("# nothing yet\n")
    assert read_override([tmp_path / "environment.yaml"]) == read_override([])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pyhton: {}", "envs/x.yaml: pyhton: Extra inputs"),
        ("python: {lock: maybe}", r"python\.lock: Input should be a valid boolean"),
        ("late: [a==1]", "late: Input should be a valid dictionary"),
        ("a: [", "no YAML"),
        ("- a", "the file: Input should be"),
        ("disable: ''", "disable: String should have at least 1"),
    ],
)
def test_mistakes_name_file_and_key(text, said):
    with pytest.raises(ConfigError, match=said) as caught:
        parse_override(text, "envs/x.yaml")
    assert "\n" not in str(caught.value)


def test_two_files_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="one override a repository"):
        read_override([tmp_path / "a.yaml", tmp_path / "b.yaml"])


def test_the_manual_lists_every_key():
    manual = (Path(__file__).parents[2] / "docs/environment.md").read_text(encoding="utf-8")
    table = manual[manual.index("| key | meaning |") :].splitlines()[2:]
    shown = [line for line in table if line.startswith("| `")]
    assert shown == [f"| `{key}` | {meaning} |" for key, meaning in override_keys()]
