"""What the pages of this app hand to the frame of the admin."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


def framed(request: HttpRequest, *, title: str, subtitle: str = "") -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": title, "subtitle": subtitle, "is_ours": True}
