import json
import os
import subprocess
import sys

import pytest

SHOWN = (
    "DEBUG",
    "DEMO",
    "SESSION_COOKIE_SECURE",
    "CSRF_COOKIE_SECURE",
    "SECURE_SSL_REDIRECT",
    "SECURE_HSTS_SECONDS",
    "REQUIRE_SECOND_FACTOR",
)
SHOW = f"import json; from config import settings as s; print(json.dumps([getattr(s, n) for n in {SHOWN}]))"
SERVERS = {
    "DATABASE_URL": "postgresql://app@db.example/books",
    "SECRET_KEY": "a" * 60,
    "DIGEST_KEY": "b" * 60,
}


def settings_with(environment):
    """Return the settings of a process that starts with this environment alone."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={"PATH": os.environ["PATH"], **environment},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return done.stderr.splitlines()[-1]
    return dict(zip(SHOWN, json.loads(done.stdout), strict=True))


def test_on_real_servers_nothing_passes_over_plain_http():
    assert settings_with({**SERVERS, "HSTS_SECONDS": "3600"}) == {
        "DEBUG": False,
        "DEMO": False,
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_HSTS_SECONDS": 3600,
        "REQUIRE_SECOND_FACTOR": True,
    }


def test_a_demo_on_one_machine_works_over_plain_http_and_without_debug():
    assert settings_with({}) == {
        "DEBUG": False,
        "DEMO": True,
        "SESSION_COOKIE_SECURE": False,
        "CSRF_COOKIE_SECURE": False,
        "SECURE_SSL_REDIRECT": False,
        "SECURE_HSTS_SECONDS": 0,
        "REQUIRE_SECOND_FACTOR": False,
    }


@pytest.mark.parametrize("missing", ["SECRET_KEY", "DIGEST_KEY"])
def test_real_servers_demand_real_secrets(missing):
    given = {name: value for name, value in SERVERS.items() if name != missing}
    assert settings_with(given).endswith(f"{missing} must be set when DATABASE_URL is.")


@pytest.mark.django_db
def test_a_page_may_load_and_run_only_what_is_ours(client):
    answer = client.get("/admin/login/")
    assert answer.status_code == 200
    assert answer["Content-Security-Policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    )
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
