"""From the model name that a provider served, or a client asked for, to a priced model."""

import re

from conversations.pricing.rules import PricedModel, Provider

# What providers hang on a model's name: a snapshot's day, or a pointer to the newest one.
_SUFFIX = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)|\[1m\])$")


def find_model(provider: Provider, name: str) -> PricedModel | None:
    """The priced model of this name, by the name itself, an alias, or without its date; else None.

    Never guesses by likeness: `gpt-5-something-new` is not priced as `gpt-5`.
    """
    wanted = name.strip().lower()
    wanted = wanted.removeprefix(f"{provider.name}/").removeprefix("models/")
    while True:
        if found := provider.models.get(wanted):
            return found
        shorter = _SUFFIX.sub("", wanted)
        if shorter == wanted:
            break
        wanted = shorter
    return next((model for prefix, model in provider.by_prefix if wanted.startswith(prefix)), None)
