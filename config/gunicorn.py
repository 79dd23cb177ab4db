"""How the web server runs; `gunicorn --config config/gunicorn.py` is all it takes."""

import os

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
# Nobody steers it from another process, so it opens no socket for that.
control_socket_disable = True
