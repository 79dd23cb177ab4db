import pytest

from conversations.pricing.matching import find_model
from conversations.pricing.rules import price_book


def found(provider: str, name: str) -> str | None:
    known = price_book().provider(provider)
    assert known is not None
    model = find_model(known, name)
    return model.name if model else None


@pytest.mark.parametrize(
    ("provider", "name", "model"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("anthropic", "claude-opus-4@20250514", "claude-opus-4"),
        ("anthropic", "claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic", "anthropic/claude-opus-4.5", "claude-opus-4-5"),
        ("anthropic", "Claude-Haiku-4-5", "claude-haiku-4-5"),
        ("anthropic", "claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("openai", "gpt-4o-2024-08-06", "gpt-4o"),
        ("openai", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("openai", "gpt-5-chat-latest", "gpt-5"),
        ("openai", "gpt-5.6", "gpt-5.6-sol"),
        ("openai", "gpt-3.5-turbo-0613", "gpt-3.5-turbo-0613"),
        ("openai", "ft:gpt-4o-2024-08-06:wendelmere::abc123", "gpt-4o-fine-tuned"),
        ("openai", "ft:gpt-4o-mini-2024-07-18:wendelmere::abc123", "gpt-4o-mini-fine-tuned"),
    ],
)
def test_a_name_leads_to_its_model(provider, name, model):
    assert found(provider, name) == model


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai", "gpt-5-something-new"),
        ("openai", "claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5-preview"),
        ("anthropic", "20250929"),
        ("anthropic", ""),
    ],
)
def test_a_name_that_is_only_alike_is_not_priced(provider, name):
    assert found(provider, name) is None


def test_a_provider_is_known_by_its_host_too():
    assert price_book().provider("API.OpenAI.com") is price_book().provider("openai")
