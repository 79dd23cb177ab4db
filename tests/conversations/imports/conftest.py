"""An import as the command makes it, of content that a test writes down."""

import pytest

from conversations.services.importing.importing import import_file
from conversations.services.importing.recorded import import_recorded
from conversations.services.importing.report import ImportReport
from tests.conversations.conftest import NOW
from tests.conversations.imports.exports import IMPORTER, ROOT
from tests.conversations.imports.reading import write


@pytest.fixture
def imported(realm, tmp_path):
    def run(content, name="export.json", *, now=NOW, account="c-7", **fields) -> ImportReport:
        path = write(tmp_path, content, name)
        return import_file(path=path, realm=realm, actor=IMPORTER, now=now, account=account, **fields)

    return run


@pytest.fixture
def recorded(realm):
    def run(path, **fields):
        return import_recorded(
            **{"path": path, "realm": realm, "asked_by": ROOT, "now": NOW, "account": "c-7", **fields}
        )

    return run


@pytest.fixture
def committed_realm(transactional_db, realm):
    return realm
