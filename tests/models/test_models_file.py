"""The models that ship with the project, against the price map of the installed litellm."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from probe.config import ModelRun, Price, load_config, read_models, read_runs
from probe.errors import ModelError
from probe.models.prices import check_price

ROOT = Path(__file__).resolve().parents[2]
MODELS = read_models(ROOT / "config/models.yaml", "config/models.yaml")
UNPRICED: set[str] = set()
"""Models that are listed without a price: they cannot be asked until somebody adds one."""

PAID = {name: entry for name, entry in MODELS.items() if not entry.free and name not in UNPRICED}


def price_map():
    spec = find_spec("litellm")
    assert spec is not None
    folder = Path(spec.origin or "").parent
    return json.loads((folder / "model_prices_and_context_window_backup.json").read_text())


def test_every_model_is_priced_free_or_listed_as_neither():
    unpriced = set()
    for name, entry in MODELS.items():
        try:
            check_price(name, entry)
        except ModelError:
            unpriced.add(name)
    assert unpriced == UNPRICED


def test_free_models_are_servers_of_ones_own():
    for name, entry in MODELS.items():
        if entry.free:
            assert (entry.api_base or "").startswith("http://127.0.0.1:"), name
            assert entry.key_env is None, name


def test_the_paper_s_models_and_efforts_are_there():
    assert {entry.litellm_id.rpartition("/")[2] for entry in PAID.values()} == {
        "gpt-5.6-luna",
        "gpt-5.6-sol",
        "claude-opus-5",
        "claude-sonnet-5",
        "gemini-3.5-flash",
        "glm-5.3-flash",
        "DeepSeek-V4.1-Flash",
        "muse-spark-1.3",
    }
    efforts = {entry.effort for entry in PAID.values() if entry.litellm_id.endswith("luna")}
    assert efforts == {"none", "low", "medium", "high", "xhigh"}
    assert MODELS["luna"].effort == MODELS["sol"].effort == "medium"


@pytest.mark.parametrize("name", PAID)
def test_figures_agree_with_the_map(name):
    entry = PAID[name]
    known = price_map()
    found = known.get(entry.litellm_id) or known[entry.litellm_id.partition("/")[2]]
    assert isinstance(entry.price, Price)
    ours = [entry.price.input, entry.price.output, entry.price.cache_read, entry.price.cache_write]
    keys = ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")
    theirs = [found.get(key) for key in (*keys, "cache_creation_input_token_cost")]
    assert ours == [None if usd is None else pytest.approx(usd * 1e6) for usd in theirs]
    assert entry.context_tokens <= found["max_input_tokens"]
    assert entry.max_output_tokens <= found["max_output_tokens"]
    above = [key for key in found if key.startswith("input_cost_per_token_above_")]
    for key in above:  # one price must hold for all prompts
        digits = key.removeprefix("input_cost_per_token_above_").partition("k_")[0]
        assert entry.context_tokens <= int(digits) * 1000, name


@pytest.mark.parametrize("name", PAID)
def test_the_key_is_the_one_that_the_provider_s_users_set(name):
    provider = PAID[name].litellm_id.partition("/")[0]
    assert (
        PAID[name].key_env
        == {
            "openai": "OPENAI_API_KEY",
            "anthropic": "ANTHROPIC_API_KEY",
            "gemini": "GEMINI_API_KEY",
            "zai": "ZAI_API_KEY",
            "together_ai": "TOGETHERAI_API_KEY",
            "meta": "META_API_KEY",
        }[provider]
    )


def test_runs_name_models_that_exist():
    runs = read_runs(ROOT / "config/runs.yaml", "config/runs.yaml")
    asked = {name: run.model for name, run in runs.items() if isinstance(run, ModelRun)}
    assert set(asked.values()) <= set(MODELS), asked


def test_the_configuration_of_a_local_model_is_valid():
    path = ROOT / "config/local.yaml"
    benchmark = load_config(yaml.safe_load(path.read_bytes()), ROOT, [path])
    assert benchmark.settings.budget.usd == 0
    local = benchmark.models["local"]
    assert benchmark.settings.reference.classify.engine == "local"
    # prompt of a pass, of a commit: with room for instructions and the answer
    room = local.context_tokens - local.max_output_tokens
    assert benchmark.settings.plan.token_budget < room - 1000
    assert benchmark.settings.reference.classify.diff_tokens < room - 1000
