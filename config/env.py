"""Reads settings from the environment; a value that cannot be read is refused by its name."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})


def flag(name: str, *, default: bool) -> bool:
    value = os.environ.get(name)
    if value is None:
        return default
    if value.strip().lower() in TRUE_WORDS:
        return True
    if value.strip().lower() in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} must be one of 1, 0, true, false, yes, no, on, off.")


def number(name: str, *, default: int) -> int:
    value = os.environ.get(name)
    if value is None or not value.strip():
        return default
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None


def words(name: str, *, default: list[str]) -> list[str]:
    """Read a list separated by commas; empty items are dropped."""
    value = os.environ.get(name)
    if value is None:
        return default
    return [item.strip() for item in value.split(",") if item.strip()]


def secret(name: str, *, kept_in: Path | None) -> str:
    """Return the secret of that name; with a folder given, one is made there once and kept.

    Two processes that start at once agree: the file is linked into place whole,
    and whoever comes second reads what the first one wrote.
    """
    value = os.environ.get(name, "")
    if value:
        return value
    if kept_in is None:
        raise ImproperlyConfigured(f"{name} must be set when DATABASE_URL is.")
    return kept_secret(kept_in / name.lower())


def kept_secret(path: Path) -> str:
    if path.exists():
        return path.read_text().strip()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(48))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text().strip()


def database(url: str, *, name: str = "DATABASE_URL") -> dict[str, Any]:
    """Turn postgresql://user:password@host:port/name?option=value into Django's settings.

    Options of the query go to libpq as they are; `host=/path` names a socket's folder.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(f"{name} must start with postgresql://.")
    database_name = unquote(parts.path.lstrip("/"))
    if not database_name:
        raise ImproperlyConfigured(f"{name} must name a database after the host.")
    try:
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured(f"{name} has a port that is not a number.") from None
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database_name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or "") or options.pop("host", ""),
        "PORT": str(port or options.pop("port", "")),
        "OPTIONS": {**options, **CONNECTION_OPTIONS},
    }


# Hot reads are prepared after their fifth run; that needs the server to bind the parameters.
CONNECTION_OPTIONS: Mapping[str, Any] = {"server_side_binding": True, "prepare_threshold": 5}


def choice(name: str, *, among: tuple[str, ...], default: str) -> str:
    value = os.environ.get(name) or default
    if value not in among:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(among)}, not {value!r}.")
    return value


def path(name: str, *, default: Path) -> Path:
    value = os.environ.get(name)
    return Path(value).resolve() if value else default


def blob_storage(*, default_folder: Path) -> dict[str, Any]:
    """Return the storage of blobs: a bucket if BLOB_BUCKET is set, else a folder (BLOB_FOLDER).

    The keys of an S3 account are read by its own library from AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY. Nothing in the bucket is ever public: links are signed.
    """
    bucket = os.environ.get("BLOB_BUCKET")
    if not bucket:
        folder = path("BLOB_FOLDER", default=default_folder)
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {
                "location": folder,
                "file_permissions_mode": 0o600,
                "directory_permissions_mode": 0o700,
            },
        }
    options: dict[str, Any] = {"bucket_name": bucket, "file_overwrite": False, "querystring_auth": True}
    for option, variable in (("endpoint_url", "BLOB_ENDPOINT_URL"), ("region_name", "BLOB_REGION")):
        if os.environ.get(variable):
            options[option] = os.environ[variable]
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
