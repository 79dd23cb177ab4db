"""Statements are imported on their page: what went in, what could not be read, what is refused."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from access.models import AccessEntry
from ledger.models import Statement

pytestmark = pytest.mark.django_db


def upload(client, realm, text, name="march.csv", **fields):
    file = SimpleUploadedFile(name, text.encode())
    data = {"realm": realm.pk, "file": file, "processor": "stripe", "zone": "UTC", **fields}
    return client.post("/statements/import/", data, follow=True)


HEADER = "kind,reference,currency,occurred_at,amount_minor\n"


def test_a_statement_is_imported_and_what_could_not_be_read_is_shown(finance, realm):
    text = HEADER + "charge,ch_1,usd,2026-03-04 10:00:00,1900\ncharge,ch_2,usd,03/04/2026,1900\n"

    page = upload(finance, realm, text, name="<i>march.csv")

    statement = Statement.objects.get()
    assert (statement.line_count, statement.skipped_count) == (2, 1)
    assert b"1 of 2 lines could not be read" in page.content
    assert "no date that can be read one way only" in page.content.decode()
    assert b"<i>march" not in page.content
    assert AccessEntry.objects.get(target_kind="statement").target_id == str(statement.pk)


def test_that_more_lines_could_not_be_read_than_are_shown_is_said(finance, realm):
    bad = "charge,ch_1,usd,yesterday,1900\n" * 201
    good = "charge,ch_2,usd,2026-03-04 10:00:00,1900\n"

    page = upload(finance, realm, HEADER + bad + good).content.decode()

    assert "These are the first 200 of 201." in page


def test_the_same_file_again_says_that_nothing_was_added(finance, realm):
    text = HEADER + "charge,ch_1,usd,2026-03-04 10:00:00,1900\n"
    upload(finance, realm, text)

    assert b"nothing was added" in upload(finance, realm, text).content
    assert Statement.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,b\n1,2\n", b"no statement we know"), (HEADER, b"none of the 0 lines could be read")],
)
def test_what_is_no_statement_is_refused_on_the_form(finance, realm, text, said):
    page = upload(finance, realm, text)

    assert said in page.content
    assert Statement.objects.count() == 0
