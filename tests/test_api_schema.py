"""What the API says of itself, and the one shape in which it refuses."""

import json
import re
from uuid import uuid4

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from projects.models import Membership
from tests import factories

pytestmark = pytest.mark.one_database


# -- schema and its page -----------------------------------------------------------------------------------------------


def test_schema_is_valid_and_without_warnings(capsys) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True)

    assert capsys.readouterr().out.startswith("openapi: 3.1.0")


def test_schema_is_for_who_is_logged_in(client, client_of, lead) -> None:
    address = reverse("api-schema")

    assert (client.get(address).status_code, client_of(lead).get(address).status_code) == (401, 200)


def test_docs_lead_to_the_log_in_and_back(client) -> None:
    address = reverse("api-docs")

    assert client.get(address).url == f"{reverse('projects:login')}?next={address}"


def test_docs_load_from_this_server_alone(client_of, lead) -> None:
    page = client_of(lead).get(reverse("api-docs"))

    text = page.content.decode()
    assert re.findall(r"https?://[^\s\"'<]+", text) == []
    loaded = re.findall(r"(?:src|href)=\"/static/([^\"]+)\"", text)
    assert len(loaded) == 4
    assert [path for path in loaded if not finders.find(path)] == []
    assert '"validatorUrl": null' in text


def test_docs_have_a_policy_of_their_own(client_of, lead) -> None:
    client = client_of(lead)

    docs = client.get(reverse("api-docs")).headers["Content-Security-Policy"]
    schema = client.get(reverse("api-schema")).headers["Content-Security-Policy"]

    assert ("script-src 'self' 'unsafe-inline'" in docs, "unsafe-inline'; script" in schema) == (True, False)
    assert "http" not in docs


# -- refusals ----------------------------------------------------------------------------------------------------------


def refused(client: Client, method: str, address: str, body: str | bytes = "", **options: str) -> tuple[int, str]:
    """(status, code) of an answer that has the one shape."""
    options = {"content_type": "application/json", **options}
    response = client.generic(method, address, body, **options)
    error = json.loads(response.content)
    assert list(error) == ["error"]
    assert isinstance(error["error"]["message"], str)
    assert error["error"]["message"]
    return response.status_code, error["error"]["code"]


def at(member: Membership, name: str, *args: object) -> str:
    return reverse(f"api:{name}", args=[member.project.uuid, *args])


NOT_READABLE = {
    "malformed": (b'{"text": ', 400, "parse_error"),
    "not utf-8": (b'{"text": "\xff"}', 400, "parse_error"),
    "not a number": (b'{"text": NaN}', 400, "parse_error"),
    "too deep": (b"[" * 100_000 + b"]" * 100_000, 400, "parse_error"),
    "too long a number": (b'{"revision": ' + b"9" * 5_000 + b"}", 400, "parse_error"),
    "half a character": (b'{"text": "\\ud800", "revision": 1}', 400, "parse_error"),
    "half a character in a key": (b'{"\\ud800": 1}', 400, "parse_error"),
    "NUL": (b'{"text": "\\u0000", "revision": 1}', 400, "parse_error"),
    "too large": (b'{"text": "' + b"x" * 3_000_000 + b'"}', 413, "too_large"),
    "no object": (b"[1, 2]", 422, "invalid"),
    "null": (b"null", 422, "invalid"),
    "nothing": (b"", 422, "invalid"),
}


@pytest.mark.parametrize("what", NOT_READABLE)
def test_what_cannot_be_read_is_refused(client_of, lead, what) -> None:
    body, status, code = NOT_READABLE[what]
    client = client_of(lead)
    client.post(at(lead, "draft"))

    assert refused(client, "PUT", at(lead, "draft"), body) == (status, code)


def test_other_media_types_are_refused(client_of, lead) -> None:
    found = refused(client_of(lead), "PUT", at(lead, "draft"), "text=a", content_type="text/plain")

    assert found == (415, "unsupported_media_type")


def test_wrong_methods_are_refused(client_of, lead) -> None:
    assert refused(client_of(lead), "PATCH", at(lead, "draft"), "{}") == (405, "method_not_allowed")


@pytest.mark.parametrize(
    "path", ["", "nonsense/", "projects/not-a-uuid/", "projects/0d5a5be4-1111-4222-8333-444455556666/"]
)
def test_addresses_that_lead_nowhere_answer_in_the_same_shape(client_of, lead, path) -> None:
    assert refused(client_of(lead), "GET", f"/api/v1/{path}") == (404, "not_found")


@pytest.mark.parametrize("cursor", ["x", "cD1hYmM=", "cD0tMQ==", "b3=", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OQ=="])
def test_cursors_that_were_not_made_here_lead_nowhere(client_of, lead, cursor) -> None:
    response = client_of(lead).get(at(lead, "items"), {"cursor": cursor})

    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


NOT_ASKABLE = [
    ("conflicts", {"draw": "xyz"}, "draw"),
    ("conflicts", {"after": "1"}, "after"),
    ("conflicts", {"state": "gone"}, "state"),
    ("conflicts", {"question": "\x00"}, "question"),
    ("conflicts", {"pair": "a\x00"}, "pair"),
    ("items", {"standing": "gone"}, "standing"),
    ("items", {"external_id": "\x00"}, "external_id"),
]


@pytest.mark.parametrize(("name", "query", "field"), NOT_ASKABLE)
def test_questions_that_make_no_sense_are_refused_by_field(client_of, lead, name, query, field) -> None:
    response = client_of(lead).get(at(lead, name), query)

    assert (response.status_code, list(response.json()["error"]["fields"])) == (422, [field])


def test_last_conflict_of_another_project_is_no_place_to_go_on_from(client_of, lead) -> None:
    response = client_of(lead).get(at(lead, "conflicts"), {"after": str(uuid4())})

    assert response.status_code == 404


def test_too_many_form_fields_are_refused(client_of, lead) -> None:
    fields = {f"field{number}": "x" for number in range(1_100)}

    response = client_of(lead).post(at(lead, "imports"), fields)

    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_request")


def test_unforeseen_failures_answer_in_the_same_shape(client_of, lead, monkeypatch) -> None:
    """The one place where a function of our own is replaced: a fault that we know of would be mended."""
    client = client_of(lead)
    client.raise_request_exception = False
    monkeypatch.setattr("projects.drafts.current", lambda project: 1 / 0)

    assert refused(client, "GET", at(lead, "draft")) == (500, "server_error")


def test_pages_still_refuse_with_a_page(client_of, lead) -> None:
    response = client_of(lead).get(f"/p/{factories.project('Neighbours').uuid}/guideline/")

    assert (response.status_code, response.headers["Content-Type"]) == (404, "text/html; charset=utf-8")
