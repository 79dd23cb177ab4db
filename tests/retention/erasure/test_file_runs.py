"""What runs of imports and exports say of a person goes, also where the id is too short to search for."""

import pytest

from access.actors import Actor, ActorKind
from access.models import Realm
from conversations.services.importing.recorded import import_recorded
from jobs.models import JobRun
from jobs.services.attending import begin_here
from tests.conversations.imports.exports import five
from tests.conversations.imports.reading import write
from tests.retention.conftest import NOW
from tests.retention.erasure.conftest import EMAIL, NAME

pytestmark = pytest.mark.django_db


def imported(tmp_path, realm, account, content=None):
    bad = [{"conversation_id": "bad", "title": "Lisbon", "mapping": "none"}]
    recorded = import_recorded(
        path=write(tmp_path, content or [*five(), *bad]),
        realm=realm,
        asked_by=Actor(ActorKind.IMPORTER, "root"),
        now=NOW,
        account=account,
    )
    return JobRun.objects.get(pk=recorded.run_id)


def words(run):
    run.refresh_from_db()
    return run.parameters, run.report, run.error, run.error_place


def test_an_import_into_the_persons_account_keeps_counts_and_no_words(make_account, realm, desk, tmp_path):
    person = make_account(external_id="c-7", label=NAME, email=EMAIL)
    run = imported(tmp_path, realm, "c-7")
    refused = imported(tmp_path, realm, "c-7", content="# no\n")

    assert desk(person).state == "done"

    assert words(run) == ({}, None, "", "")
    assert words(refused) == ({}, None, "", "")
    assert run.counts["conversations"] == {"new": 5, "not imported": 1}
    assert (refused.state, refused.error_code) == ("failed", "file-refused")


def test_imports_into_other_accounts_stay_as_they_are(make_account, realm, desk, tmp_path):
    person = make_account(external_id="c-7", label=NAME, email=EMAIL)
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    runs = [imported(tmp_path, realm, "c-8"), imported(tmp_path, elsewhere, "c-7")]
    before = [words(run) for run in runs]

    desk(person)

    assert [words(run) for run in runs] == before


def test_an_export_of_the_persons_account_forgets_whose_it_was(make_account, realm, desk):
    person = make_account(external_id="c-7", label=NAME, email=EMAIL)
    run = begin_here(
        kind="conversations.export",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"what": "trees", "realm_id": realm.pk, "account": "c-7"},
    )
    # Without a realm it is of every account of that id.
    of_all = begin_here(
        kind="conversations.export",
        requested_by=("importer", "root"),
        now=NOW,
        parameters={"what": "trees", "account": "c-7"},
    )

    desk(person)

    assert [words(one)[0] for one in (run, of_all)] == [{}, {}]


def test_a_file_that_is_named_after_the_person_is_forgotten(make_account, realm, person, desk, tmp_path):
    path = tmp_path / f"{NAME}.md"
    path.write_text("# no\n")
    recorded = import_recorded(
        path=path, realm=realm, asked_by=Actor(ActorKind.IMPORTER, "root"), now=NOW, account="other"
    )

    desk(person)

    run = JobRun.objects.get(pk=recorded.run_id)
    assert words(run) == ({}, None, "", "")
