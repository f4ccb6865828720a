"""All that `make run` does before it serves: look around, migrate, collect the static files, load the demo."""

import argparse
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.core.management.base import BaseCommand

from config import readiness


class Command(BaseCommand):
    help = "Make this folder and database ready to be served. May be repeated: data is kept."
    requires_system_checks = ()

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="load no demo project into an empty database")

    def handle(self, *args: Any, no_demo: bool, **options: Any) -> None:
        try:
            readiness.folders()
            readiness.database()
            readiness.broker()
        except readiness.NotReady as error:
            raise CommandError(str(error)) from error
        try:
            self.prepare(demo=settings.DEMO and not no_demo)
        except KeyboardInterrupt as error:
            raise CommandError("Stopped before everything was ready; the next start goes on from here.") from error

    def prepare(self, *, demo: bool) -> None:
        self.say("Bringing the database up to date")
        call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
        self.say("Collecting the static files")
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["redoc*"])
        if demo:
            self.say("Looking for the demo project (an empty database gets one)")
            # What it prints are the log-ins; the launcher shows them last.
            call_command("demo", if_empty=True, stdout=self.stdout, stderr=self.stderr)
        if not get_user_model().objects.exists():
            self.stdout.write("There is no account yet: .venv/bin/python manage.py createsuperuser")

    def say(self, step: str) -> None:
        """Progress goes to the error stream: the launcher keeps the other one for the end."""
        self.stderr.write(step, style_func=str)
        self.stderr.flush()
