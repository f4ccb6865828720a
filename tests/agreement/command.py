"""`manage.py agreement` as its tests call it: on a file, in this process, without a database."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

LONG = "item,rater,label\n1,anna,yes\n1,ben,yes\n2,anna,no\n2,ben,yes\n3,anna,no\n3,ben,no\n4,anna,no\n"


def run(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("agreement", str(path), *options, "--json", stdout=out)
    return json.loads(out.getvalue())


def refusal(path: Path, *options: str) -> str:
    """The sentence after the file's name; nothing was printed before it."""
    out = StringIO()
    with pytest.raises(CommandError) as refused:
        call_command("agreement", str(path), *options, stdout=out)
    assert (out.getvalue(), refused.value.returncode) == ("", 1)
    return str(refused.value).removeprefix(f"{path}: ")


def write(folder: Path, text: str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def printed(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("agreement", str(path), *options, stdout=out)
    return out.getvalue()
