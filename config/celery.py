"""The Celery application: `celery -A config worker`, `celery -A config beat`."""

import logging.config
import os
import warnings
from typing import Any

from celery import Celery, signals
from celery.platforms import SecurityWarning
from django.conf import settings

from config import broker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# It warns root of messages that run code as they are unpacked. Ours are JSON, which cannot.
warnings.filterwarnings("ignore", category=SecurityWarning)

broker.install()

app = Celery("concord")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def _log_as_the_pages_do(**kwargs: Any) -> None:
    """One form of log line for web, worker and beat; with a receiver here Celery sets up none of its own."""
    logging.config.dictConfig(settings.LOGGING)
