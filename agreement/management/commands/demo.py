"""`manage.py demo`: build the demo project, or say who can log in."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from agreement import demo
from projects.models import Project


class Command(BaseCommand):
    help = "Build the demo project: two rounds of the loop with simulated ratings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--if-empty", action="store_true", help="do nothing where there is a project already")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["if_empty"] and Project.objects.exists():
            if Project.objects.filter(name=demo.NAME).exists():
                self.say_who_can_log_in()
            return
        if Project.objects.filter(name=demo.NAME).exists():
            raise CommandError(f"There is a project “{demo.NAME}” already: rename it first, or keep using it.")
        self.stderr.write("Building the demo project (some 20 seconds) …", style_func=str)
        start = timezone.now() - timedelta(days=21)
        with transaction.atomic():  # half a demo would only puzzle
            demo.Demo(start=start, say=lambda line: self.stderr.write(f"  {line}", style_func=str)).play()
        self.say_who_can_log_in()

    def say_who_can_log_in(self) -> None:
        """The one thing on the standard output: `make run` keeps it for the end."""
        self.stdout.write(f"Log in as one of these; the password is {demo.PASSWORD}")
        for name, role in demo.log_ins():
            self.stdout.write(f"  {name:<10}{role}")
