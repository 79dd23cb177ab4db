import stat

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env


def test_a_database_url_becomes_settings_with_prepared_statements():
    settings = env.database("postgresql://me:p%40ss%2Fword@db.example:6432/books?sslmode=require")
    assert settings == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "books",
        "USER": "me",
        "PASSWORD": "p@ss/word",
        "HOST": "db.example",
        "PORT": "6432",
        "OPTIONS": {"sslmode": "require", "server_side_binding": True, "prepare_threshold": 5},
    }


def test_a_socket_is_named_in_the_query():
    settings = env.database("postgres:///books?host=/run/postgresql&port=5433")
    assert (settings["HOST"], settings["PORT"], settings["USER"]) == ("/run/postgresql", "5433", "")


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("mysql://me@db/books", "READ_URL must start with postgresql://."),
        ("postgresql://me@db", "READ_URL must name a database after the host."),
        ("postgresql://me@db:port/books", "READ_URL has a port that is not a number."),
    ],
)
def test_a_database_url_that_cannot_be_read_is_refused_by_its_name(url, rule):
    with pytest.raises(ImproperlyConfigured) as refusal:
        env.database(url, name="READ_URL")
    assert str(refusal.value) == rule


def test_words_that_mean_yes_and_no(monkeypatch):
    assert env.flag("SWITCH", default=True) is True
    for value, meaning in {"1": True, "Yes": True, "off": False, "": False}.items():
        monkeypatch.setenv("SWITCH", value)
        assert env.flag("SWITCH", default=not meaning) is meaning


@pytest.mark.parametrize(
    ("read", "value", "rule"),
    [
        (
            lambda: env.flag("SETTING", default=True),
            "maybe",
            "SETTING must be one of 1, 0, true, false, yes, no, on, off.",
        ),
        (lambda: env.number("SETTING", default=1), "1.5", "SETTING must be a whole number, not '1.5'."),
        (
            lambda: env.choice("SETTING", among=("json", "console"), default="json"),
            "xml",
            "SETTING must be one of json, console, not 'xml'.",
        ),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_by_its_name(monkeypatch, read, value, rule):
    monkeypatch.setenv("SETTING", value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read()
    assert str(refusal.value) == rule


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    first = env.secret("NO_SUCH_SECRET", kept_in=tmp_path)
    assert len(first) >= 64
    assert env.secret("NO_SUCH_SECRET", kept_in=tmp_path) == first
    kept = tmp_path / "no_such_secret"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [kept]


def test_with_real_servers_a_secret_must_be_given():
    with pytest.raises(ImproperlyConfigured, match=r"NO_SUCH_SECRET must be set when DATABASE_URL is\."):
        env.secret("NO_SUCH_SECRET", kept_in=None)


def test_blobs_go_to_a_bucket_when_one_is_named(monkeypatch, tmp_path):
    assert env.blob_storage(default_folder=tmp_path)["OPTIONS"]["location"] == tmp_path
    monkeypatch.setenv("BLOB_BUCKET", "books")
    monkeypatch.setenv("BLOB_ENDPOINT_URL", "https://s3.example")
    assert env.blob_storage(default_folder=tmp_path) == {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": "books",
            "file_overwrite": False,
            "querystring_auth": True,
            "endpoint_url": "https://s3.example",
        },
    }
