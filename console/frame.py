"""What every page of our own hands to its template: the frame of the admin around it, and the clock."""

from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest


def frame_context(request: HttpRequest, *, now: datetime, title: str, subtitle: str = "") -> dict[str, Any]:
    """Return the context of a page that extends admin/base_site.html.

    `subtitle` is the line under the title that says what the page is for. Both may hold text from
    outside: the frame shows what it hides.
    """
    return {
        **admin.site.each_context(request),
        "now": now,
        "title": title,
        "subtitle": subtitle,
        "is_ours": True,
    }
