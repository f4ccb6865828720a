"""A program that uses the API with its token. Every answer is held against the schema that the API publishes."""

import copy
import json
from functools import cache
from typing import Any
from urllib.parse import urlencode

import jsonschema
from django.test import Client
from django.urls import resolve, reverse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.authtoken.models import Token

from projects.models import Membership, Project, User


@cache
def schema() -> dict[str, Any]:
    """The published schema, made strict: a field that it does not name is an error."""
    made = copy.deepcopy(SchemaGenerator().get_schema(request=None, public=True))
    for name, part in made["components"]["schemas"].items():
        if "properties" in part and name != "Error":
            part.setdefault("additionalProperties", False)
    return made


def documented(address: str, method: str, status: int) -> dict[str, Any]:
    """What the schema says of an answer: its content by media type."""
    route = resolve(address).route
    for kind in ("uuid", "slug"):
        route = route.replace(f"<{kind}:", "{").replace(">", "}")
    answers = schema()["paths"][f"/{route}"][method.lower()]["responses"]
    found: dict[str, Any] = answers["4XX"] if 400 <= status < 500 else answers[str(status)]
    return found.get("content", {})


def hold_against_schema(address: str, method: str, status: int, body: Any) -> None:
    said = documented(address, method, status)
    if body is None:
        assert said == {}, f"{method} {address}: the schema promises a body"
        return
    about = {**said["application/json"]["schema"], "components": schema()["components"]}
    jsonschema.Draft202012Validator(about).validate(body)


class Api:
    """`api.get("waves")`: the address by name, inside a project where there is one."""

    def __init__(self, who: Membership | User, project: Project | None = None) -> None:
        user = who.user if isinstance(who, Membership) else who
        self.project = who.project.uuid if isinstance(who, Membership) else project and project.uuid
        self.headers = {"Authorization": f"Token {Token.objects.get_or_create(user=user)[0].key}"}
        self.client = Client(enforce_csrf_checks=True)

    def address(self, name: str, *args: Any, **query: Any) -> str:
        inside = () if name == "projects" else (self.project,)
        return reverse(f"api:{name}", args=[*inside, *args]) + (f"?{urlencode(query)}" if query else "")

    def send(self, method: str, name: str, *args: Any, data: Any = None, status: int = 200, **query: Any) -> Any:
        address = self.address(name, *args, **query)
        sent = {"data": json.dumps(data), "content_type": "application/json"} if data is not None else {}
        response = self.client.generic(method, address, **sent, headers=self.headers)
        body = json.loads(response.content) if response.content else None
        assert response.status_code == status, f"{method} {address}: {response.status_code} {body}"
        hold_against_schema(address.partition("?")[0], method, status, body)
        return body

    def get(self, name: str, *args: Any, **options: Any) -> Any:
        return self.send("GET", name, *args, **options)

    def post(self, name: str, *args: Any, **options: Any) -> Any:
        return self.send("POST", name, *args, **options)

    def put(self, name: str, *args: Any, **options: Any) -> Any:
        return self.send("PUT", name, *args, **options)

    def patch(self, name: str, *args: Any, **options: Any) -> Any:
        return self.send("PATCH", name, *args, **options)

    def delete(self, name: str, *args: Any, **options: Any) -> Any:
        return self.send("DELETE", name, *args, **options)

    def upload(self, content: Any, *, to: str = "imports", status: int = 202, **fields: Any) -> Any:
        response = self.client.post(self.address(to), {"file": content, **fields}, headers=self.headers)
        body = response.json()
        assert response.status_code == status, body
        hold_against_schema(self.address(to), "POST", status, body)
        return body

    def download(self, job: str) -> bytes:
        response = self.client.get(self.address("export-file", job), headers=self.headers | {"Accept": "text/csv"})
        assert response.status_code == 200
        return b"".join(response.streaming_content)
