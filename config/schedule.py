"""What beat wakes, and how often: the one place where the schedule is written.

Each entry names a Celery task by its dotted path, so that this file imports no app.
The console reads it as `settings.CELERY_BEAT_SCHEDULE`.
"""

from typing import Any

BEAT_SCHEDULE: dict[str, dict[str, Any]] = {}
