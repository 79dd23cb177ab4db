"""The Celery application. It only wakes jobs: their state is rows of the database."""

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("counterfoil")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_our_logging(**kwargs: object) -> None:
    """With a receiver here, Celery leaves logging as the settings made it."""
