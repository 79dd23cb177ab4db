"""The first page after signing in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from access.permissions import holds, staff_of, staff_only
from access.reach import reach_of
from access.reading import reads_customers
from access.rights import RightName
from console.frame import frame_context
from console.home.attention import needs_attention
from console.home.recent import recent_work
from console.job_pages.schedule import read_schedule


@never_cache
@require_GET
@staff_only
@reads_customers
def home(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    user = staff_of(request)
    reach = reach_of(user)
    context = frame_context(
        request, now=now, title="Home", subtitle="What waits for you, by role, late things first."
    )
    context |= {
        "sections": needs_attention(user=user, reach=reach, now=now),
        "recent": recent_work(user=user, reach=reach, now=now),
        "schedule": read_schedule(now=now) if holds(user, RightName.READ_JOBS) else None,
        "zone": timezone.get_current_timezone_name(),
    }
    return render(request, "console/home/page.html", context)
