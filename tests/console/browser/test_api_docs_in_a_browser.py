"""The browsable description of the API, served by ourselves under the console's own policy."""

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_description_opens_without_anything_from_elsewhere(open_page, complaints, scheme):
    page = open_page("/api/docs/", scheme=scheme)
    operation = page.locator("#operations-Key-key")

    operation.click()
    operation.get_by_text("requests_per_minute").first.wait_for()
    assert complaints == []
