"""The last word on an error that nobody caught."""

import json

import pytest
from django.db import OperationalError
from django.test import RequestFactory

from config import errors

AWAY = (
    "The database cannot be reached, or has no room to write: this was not saved. What you had saved is saved. Wait a "
    "moment, then send it again."
)


def answer_to(error: Exception, path: str) -> tuple[int, str]:
    try:
        raise error
    except type(error):
        response = errors.server_error(RequestFactory().get(path))
    return response.status_code, response.content.decode()


def test_a_database_that_is_away_is_said_as_that_and_passes():
    assert answer_to(OperationalError("disk I/O error"), "/p/1/") == (
        503,
        f"<!doctype html><title>Concord</title><p>{AWAY}</p>",
    )


def test_to_a_program_it_has_a_code():
    status, body = answer_to(OperationalError("disk I/O error"), "/api/v1/projects/")

    assert (status, json.loads(body)) == (503, {"error": {"code": "database_away", "message": AWAY}})


@pytest.mark.parametrize("path", ["/p/1/", "/api/v1/projects/"])
def test_any_other_error_names_nothing_of_itself(path):
    status, body = answer_to(ValueError("a secret"), path)

    assert (status, "secret" in body, "Something went wrong on the server" in body) == (500, False, True)
