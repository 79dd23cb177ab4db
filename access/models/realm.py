"""Who may see what: realms divide accounts, staff and API keys."""

from django.db import models


class Realm(models.Model):
    """A part of the company that keeps its customers apart from every other part."""

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=255)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
