"""How many of a key's reads are in the access log: each, or the share that the operator allows."""

from datetime import timedelta
from itertools import cycle
from typing import ClassVar

import pytest
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from access.api.views import ApiView
from access.models import AccessEntry, Scope
from access.models.log import AccessAction, TargetKind
from access.services.keys import rotate_key

from .conftest import STAFF

pytestmark = pytest.mark.django_db


class Reading(ApiView):
    scopes: ClassVar = {"GET": Scope.READ}

    def get(self, request):
        self.log_read(target_kind=TargetKind.CONVERSATION, target_id="c")
        return Response({})


@pytest.fixture
def every_lot_once(monkeypatch):
    """Each number of the lottery in turn."""
    lots = cycle(range(100))
    monkeypatch.setattr("access.services.sampling.secrets.randbelow", lambda below: next(lots))


def lines_of_a_hundred_reads(issued):
    for _ in range(100):
        request = APIRequestFactory().get("/x", HTTP_AUTHORIZATION=f"Bearer {issued.secret}")
        assert Reading.as_view()(request).status_code == 200
    return AccessEntry.objects.filter(action=AccessAction.API_READ, actor_id=str(issued.key.pk)).count()


@pytest.mark.parametrize(
    ("floor", "share", "lines"),
    [
        # As shipped: whatever a key says, each read.
        (100, 100, 100),
        (100, 1, 100),
        # Allowed: the key's share, and never less than the floor.
        (10, 100, 100),
        (10, 25, 25),
        (10, 1, 10),
        # No setting leaves none.
        (0, 1, 1),
    ],
)
def test_of_a_hundred_reads_so_many_are_lines(issue, settings, every_lot_once, floor, share, lines):
    settings.API_READS_LOGGED_PERCENT = floor
    assert lines_of_a_hundred_reads(issue(reads_logged_percent=share)) == lines


def test_the_floor_as_shipped_leaves_no_read_out(settings):
    assert settings.API_READS_LOGGED_PERCENT == 100


def test_what_takes_the_place_of_a_key_logs_the_same_share(issue):
    old = issue(reads_logged_percent=25).key
    new = rotate_key(key_id=old.pk, overlap=timedelta(0), actor=STAFF, now=timezone.now()).key
    assert new.reads_logged_percent == 25
