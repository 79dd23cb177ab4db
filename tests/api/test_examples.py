"""The examples of the documentation run: every `sh` block of docs/api*.md, page by page, in one shell."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.api.effects import register

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(DOCS.glob("api*.md"))

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.skipif(
    not all(map(shutil.which, ("curl", "jq"))), reason="the examples are written for curl and jq"
)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(live_server, issue, realm, page):
    register(realm)
    blocks = BLOCK.findall(page.read_text())
    assert blocks
    told = {"COUNTERFOIL_URL": live_server.url, "COUNTERFOIL_KEY": issue().secret}
    done = subprocess.run(
        ["bash", "-euo", "pipefail"],
        input="\n".join(blocks),
        env={**os.environ, **told, "no_proxy": "*"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
