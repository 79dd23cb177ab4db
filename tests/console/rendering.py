"""Templates written in a test, rendered as a page renders them."""

from django.template import Context, Template


def render(source: str, **context: object) -> str:
    return Template("{% load console %}" + source).render(Context(context))
