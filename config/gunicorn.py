"""How the web server runs; `gunicorn --config config/gunicorn.py` is all it takes."""

import os

from config import log

wsgi_app = "config.wsgi:application"
worker_class = "gthread"
workers = int(os.environ.get("WEB_WORKERS", "2"))
threads = int(os.environ.get("WEB_THREADS", "4"))
# A page that takes longer is a bug; long work is a job.
timeout = 60
graceful_timeout = 10
# A worker whose memory crept up makes room for a new one, not all at once.
max_requests = 10_000
max_requests_jitter = 1_000
# What is pasted into the search box stands in the address: 2,000 characters, some of them as three.
limit_request_line = 8190
# Its own words come out as the product's do. Addresses of pages are not logged: what
# somebody typed into the search box is in them.
logconfig_dict = {
    **log.standard_library(style=os.environ.get("LOG_FORMAT") or "json", level="INFO"),
    "loggers": {
        "gunicorn.error": {"handlers": [], "propagate": True},
        "gunicorn.access": {"handlers": [], "propagate": False},
    },
}
# Nobody steers it from another process, so it opens no socket for that.
control_socket_disable = True
