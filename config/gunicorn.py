"""How gunicorn serves the pages: `gunicorn -c python:config.gunicorn config.wsgi`."""

from pathlib import Path

from django.conf import settings

bind = f"127.0.0.1:{settings.PORT}"  # a proxy that speaks TLS stands in front of it for a team
workers = settings.WEB_PROCESSES
worker_class = "gthread"
threads = settings.WEB_THREADS
preload_app = True  # memory is shared, and an error in the code is said once
timeout = 120
graceful_timeout = 10
keepalive = 15
max_requests = 20_000
max_requests_jitter = 2_000
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # the heartbeat file, off the disk
control_socket_disable = True
loglevel = "warning"
proc_name = "concord"
