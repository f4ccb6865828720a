#!/usr/bin/env python
"""Django's command line for Concord."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError as error:
        sys.exit(f"Django is not installed in this environment ({error}). Run `make run`, which installs it.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
