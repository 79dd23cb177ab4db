"""The settings that tests run with: the product's own, quick to hash and quiet.

Tests make databases of their own. A DATABASE_URL in the environment names the server
to make them on (its user is a superuser, or may make roles and databases), so it is put
aside before the product's settings would take it for the product's database.
"""

import logging
import os

os.environ.setdefault("COUNTERFOIL_DEMO", "1")
os.environ.setdefault("LOG_LEVEL", "WARNING")
for given in ("DATABASE_URL", "BROKER_URL"):
    if os.environ.get(given):
        os.environ[f"TEST_{given}"] = os.environ.pop(given)
for given in ("MIGRATION_DATABASE_URL", "READ_DATABASE_URL"):
    os.environ.pop(given, None)

from config.settings import *
from config.settings import STORAGES

# The stream that it writes to ends with the first test; pytest has a handler of its own.
logging.getLogger().handlers.clear()

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# A test of what processes count together points the cache at the broker that runs for it.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True
