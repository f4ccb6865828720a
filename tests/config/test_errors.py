"""The last word on an error that nobody caught."""

import json
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.http import Http404
from django.test import RequestFactory
from django.urls import reverse

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


@pytest.mark.django_db
def test_what_is_not_there_is_told_in_the_products_words_not_in_those_of_a_table(client):
    page = client.get(reverse("projects:public-guideline", args=[uuid4()]))

    assert page.status_code == 404
    assert "There is no page at this address, or it is not yours to see." in page.content.decode()
    assert "GuidelineVersion" not in page.content.decode()


def test_a_view_has_its_own_words_for_what_is_not_there():
    request = RequestFactory().get("/api/v1/projects/")

    own, djangos = Http404("There is no such label."), Http404("No Case matches the given query.")

    assert json.loads(errors.not_found(request, own).content)["error"]["message"] == "There is no such label."
    assert "Case" not in errors.not_found(request, djangos).content.decode()
    told = [errors.api_exception_handler(error, {}).data["error"]["message"] for error in (own, djangos)]
    assert told == ["There is no such label.", "There is no such thing."]
