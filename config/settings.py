"""Settings. docs/operator.md lists the environment variables that are read here."""

import os
from datetime import timedelta
from pathlib import Path

from django.utils.csp import CSP

from config import databases, env
from config.api.description import DESCRIPTION
from config.integers import send_integers_as_text
from config.log import configure_logging
from config.schedule import BEAT_SCHEDULE

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = databases.VAR

# With servers of its own the console is a demo on one machine: secrets are made and kept in var/,
# and cookies pass over plain HTTP. Real servers demand real secrets.
DEMO = env.flag("COUNTERFOIL_DEMO", default=not databases.is_configured())
DEBUG = env.flag("DEBUG", default=False)

SECRET_KEY = env.secret("SECRET_KEY", kept_in=VAR_DIR / "secrets" if DEMO else None)
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS", default=[])
# Keys the digests of what may not be kept (erased subjects, cut card numbers). It never changes:
# with another key, an erased person would no longer be recognised.
DIGEST_KEY = env.secret("DIGEST_KEY", kept_in=VAR_DIR / "secrets" if DEMO else None)

ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "axes",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "access",
    "jobs",
    "conversations",
    "ledger",
    "retention",
    "console",
]
if DEMO:
    # Its command loads the sample company into an empty database.
    INSTALLED_APPS.append("samples")

MIDDLEWARE = [
    "access.request_ids.RequestIds",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "access.middleware.Refusals",
    "access.middleware.SignedIn",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # Last: it answers in place of the sign-in page when that refused to look.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.staff.staff",
            ],
        },
    },
]

DATABASES = databases.from_environment()
send_integers_as_text()
# What processes count together (the rate of each API key). Losing it loses no record.
CACHES = {"default": databases.cache()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
AUTHENTICATION_BACKENDS = [
    # Refuses to look at a password where too many were wrong; the second one looks.
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Failures with one user name, or from one address, after which sign-in pauses; it counts in the
# database, so all processes of the web server count together.
SIGN_IN_FAILURES = env.number("SIGN_IN_FAILURES", default=10)
SIGN_IN_PAUSE_MINUTES = env.number("SIGN_IN_PAUSE_MINUTES", default=15)
AXES_FAILURE_LIMIT = SIGN_IN_FAILURES
AXES_COOLOFF_TIME = timedelta(minutes=SIGN_IN_PAUSE_MINUTES)
AXES_LOCKOUT_PARAMETERS = ["username", "ip_address"]
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "access.views.sign_in.paused"
AXES_CLIENT_IP_CALLABLE = "access.addresses.address_of"
# What happened is in our own access log, without what was typed.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Roles that read what was said or move money need a second factor. Off in a demo, whose printed
# passwords are meant to work.
REQUIRE_SECOND_FACTOR = env.flag("REQUIRE_SECOND_FACTOR", default=not DEMO)
OTP_TOTP_ISSUER = "Counterfoil"
# The limits of a session: since the sign-in, and since the last request.
SESSION_HOURS = env.number("SESSION_HOURS", default=12)
SESSION_IDLE_MINUTES = env.number("SESSION_IDLE_MINUTES", default=60)
# How one signs in can be changed for so long after a sign-in.
FRESH_SIGN_IN_MINUTES = 10

# A reason for opening a conversation holds this long for the one who stated it.
STATED_REASON_HOURS = env.number("STATED_REASON_HOURS", default=8)
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "admin:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = "config.formats"

STATIC_URL = "static/"
STATIC_ROOT = env.path("STATIC_ROOT", default=VAR_DIR / "static")
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": VAR_DIR / "files"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    "blobs": env.blob_storage(default_folder=VAR_DIR / "blobs"),
}

# Text from customers, models and tools is on every page: nothing runs or loads that is not ours.
SECURE_CSP = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "frame-ancestors": [CSP.NONE],
    "base-uri": [CSP.NONE],
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
HTTPS_ONLY = env.flag("HTTPS_ONLY", default=not DEMO)
SECURE_SSL_REDIRECT = HTTPS_ONLY
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = env.number("HSTS_SECONDS", default=0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("HSTS_INCLUDE_SUBDOMAINS", default=False)
BEHIND_HTTPS_PROXY = env.flag("BEHIND_HTTPS_PROXY", default=False)
if BEHIND_HTTPS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# So many proxies of ours add to X-Forwarded-For; with none, the address is that of the connection.
PROXIES_IN_FRONT = env.number("PROXIES_IN_FRONT", default=1 if BEHIND_HTTPS_PROXY else 0)
SESSION_COOKIE_SECURE = HTTPS_ONLY
SESSION_COOKIE_AGE = SESSION_HOURS * 3600
CSRF_COOKIE_SECURE = HTTPS_ONLY
CSRF_COOKIE_HTTPONLY = True

# The HTTP API. A request's body is held in memory, so it has a limit; recorded exchanges have their own.
DATA_UPLOAD_MAX_MEMORY_SIZE = env.number("API_BODY_BYTES_LIMIT", default=16 * 1024 * 1024)
EXCHANGE_BYTES_LIMIT = env.number("EXCHANGE_BYTES_LIMIT", default=64 * 1024 * 1024)
# Of a key's reads of what was said, at least so many in a hundred are lines of the access log.
API_READS_LOGGED_PERCENT = env.number("API_READS_LOGGED_PERCENT", default=100)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["access.api.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "config.api.schema.ApiSchema",
    "EXCEPTION_HANDLER": "config.api.problems.answer_problem",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = DESCRIPTION

# The payment processor; docs/ledger.md says what each one does. Without a key nothing is asked or sent.
STRIPE_API_KEY = os.environ.get("STRIPE_API_KEY", "")
# Where its API is, if not at the SDK's own address: the sandbox of the demo and the tests.
STRIPE_API_BASE = os.environ.get("STRIPE_API_BASE", "")
# Several while one is exchanged for the next.
STRIPE_WEBHOOK_SECRETS = env.words("STRIPE_WEBHOOK_SECRET", default=[])
STRIPE_TIMEOUT_SECONDS = env.number("STRIPE_TIMEOUT_SECONDS", default=30)
# How long the processor remembers an idempotency key. Longer than it does would charge twice.
STRIPE_KEY_LIFE_HOURS = env.number("STRIPE_KEY_LIFE_HOURS", default=24)
OTHER_KEY_LIFE_HOURS = env.number("OTHER_KEY_LIFE_HOURS", default=0)
# Who is told of new unexplained money, of runs that failed and of runs that are overdue; nobody where
# neither is set. docs/reconciliation.md says what is sent.
ALERT_WEBHOOK_URL = os.environ.get("ALERT_WEBHOOK_URL", "")
ALERT_WEBHOOK_SECRET = os.environ.get("ALERT_WEBHOOK_SECRET", "")
ALERT_EMAILS = env.words("ALERT_EMAILS", default=[])
DEFAULT_FROM_EMAIL = os.environ.get("DEFAULT_FROM_EMAIL", "counterfoil@localhost")
MAILERS = {
    "default": {
        "BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "OPTIONS": {
            "host": os.environ.get("SMTP_HOST", "localhost"),
            "port": env.number("SMTP_PORT", default=25),
            "username": os.environ.get("SMTP_USER", ""),
            "password": os.environ.get("SMTP_PASSWORD", ""),
            "use_tls": env.flag("SMTP_TLS", default=False),
            "timeout": 15,
        },
    },
}
RECONCILIATION_OVERDUE_HOURS = env.number("RECONCILIATION_OVERDUE_HOURS", default=36)
STATEMENT_BYTES_LIMIT = env.number("STATEMENT_BYTES_LIMIT", default=512 * 1024 * 1024)
WEBHOOK_BYTES_LIMIT = env.number("WEBHOOK_BYTES_LIMIT", default=256 * 1024)

# Of its time the purge works so much; the rest is left to live traffic.
PURGE_LOAD_PERCENT = env.number("PURGE_LOAD_PERCENT", default=50)
# So long the purge keeps a file whose row is gone: a backup of the files, begun after the database's,
# has to have come to its end by then.
DELETED_FILES_STAY_HOURS = env.number("DELETED_FILES_STAY_HOURS", default=24)

CELERY_BROKER_URL = databases.broker_url()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Whoever starts a job must not wait for a broker that is away: the sweeper sends the message again.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.1,
    "socket_connect_timeout": 2,
}
# What a job did is a row of its own; the broker only wakes workers.
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = BEAT_SCHEDULE
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")

LOG_FORMAT = env.choice("LOG_FORMAT", among=("json", "console"), default="json")
LOG_LEVEL = env.choice("LOG_LEVEL", among=("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO")
LOGGING_CONFIG = None
configure_logging(style=LOG_FORMAT, level=LOG_LEVEL)
