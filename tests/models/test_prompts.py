"""Prompts: strict rendering, the hash of the file's bytes, and one clear line for what is wrong."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probe.errors import ConfigError
from probe.models.prompts import load_prompt

TEXT = """\
{# why this exists #}
{% block system %}
Judge {{ what }}.
{% endblock %}

{% block user %}
{% for name in names %}
- {{ name }}
{% endfor %}
End
{% endblock %}
"""


@pytest.fixture
def write(tmp_path: Path):
    def written(text: str | bytes) -> Path:
        path = tmp_path / "judge.j2"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


def test_blocks_become_messages(write) -> None:
    messages = load_prompt(write(TEXT)).messages(what="it", names=["a", "b"])
    assert messages == [
        {"role": "system", "content": "Judge it.\n"},
        {"role": "user", "content": "- a\n- b\nEnd\n"},
    ]


def test_the_hash_is_that_of_the_bytes(write) -> None:
    changed = TEXT.replace("why this", "why it")
    for text in (TEXT, changed):
        assert load_prompt(write(text)).sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_values_are_never_templates(write) -> None:
    prompt = load_prompt(write(TEXT))
    user = prompt.messages(what="{{ names }}", names=["{% include 'x' %}", "<b>&amp;"])
    assert user[0]["content"] == "Judge {{ names }}.\n"
    assert user[1]["content"] == "- {% include 'x' %}\n- <b>&amp;\nEnd\n"


@given(value=st.text())
def test_values_come_through_unchanged(tmp_path_factory, value: str) -> None:
    path = tmp_path_factory.mktemp("prompts") / "p.j2"
    path.write_text("{% block system %}[{{ x }}]{% endblock %}{% block user %}u{% endblock %}")
    assert load_prompt(path).messages(x=value)[0]["content"] == f"[{value}]"


def test_a_missing_variable_is_one_line(write) -> None:
    prompt = load_prompt(write(TEXT))
    with pytest.raises(ConfigError) as caught:
        prompt.messages(names=[])
    message = str(caught.value)
    assert "\n" not in message
    assert message == ("judge.j2: block 'system': 'what' is undefined; variables there are: names")


def test_a_value_that_does_not_fit_is_one_line(write) -> None:
    with pytest.raises(ConfigError, match=r"judge\.j2: block 'user': 'int' object is not iterable"):
        load_prompt(write(TEXT)).messages(what="it", names=3)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{% block system %}s{% endblock %}", "judge.j2: no block 'user'; write {% block user %}"),
        ("{% block user %}u{% endblock %}", "judge.j2: no block 'system'"),
        ("", "judge.j2: no block 'system'"),
        (f"Hello\n{TEXT}", "judge.j2:1: text or code outside the blocks"),
        (TEXT + "{% set names = [] %}", "judge.j2:12: text or code outside the blocks"),
        (TEXT + "{% block other %}{% endblock %}", "judge.j2:12: text or code outside"),
        ("{% block system %}\n{% include 'b.j2' %}{% endblock %}", "judge.j2:2: a prompt takes in"),
        ("{% extends 'b.j2' %}", "judge.j2:1: a prompt takes in no other file"),
        ("{% block system %}\n{{ a b }}{% endblock %}", "judge.j2:2: expected token"),
        ("{% block system %}\n{% for %}", "judge.j2:2: "),
        (b"\xff\xfe", "judge.j2: the prompt is not UTF-8 (byte 0)"),
    ],
)
def test_what_is_no_prompt_is_one_line(write, text: str | bytes, problem: str) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        load_prompt(path)
    message = str(caught.value)
    assert message.startswith(f"{path.parent}/{problem}")
    assert "\n" not in message


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.j2: cannot read the prompt: No such file"):
        load_prompt(tmp_path / "no.j2")
