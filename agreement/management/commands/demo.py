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
            self.stdout.write("There are projects already: the demo is left out.")
            return
        if Project.objects.filter(name=demo.NAME).exists():
            raise CommandError(f"There is a project “{demo.NAME}” already: rename it first, or keep using it.")
        self.stdout.write("Building the demo project (some 20 seconds) …")
        start = timezone.now() - timedelta(days=21)
        with transaction.atomic():  # half a demo would only puzzle
            demo.Demo(start=start, say=lambda line: self.stdout.write(f"  {line}")).play()
        self.stdout.write(f"Log in as one of these; the password is {demo.PASSWORD}")
        for name, role in demo.log_ins():
            self.stdout.write(f"  {name:<10}{role}")
