"""The page of the API's documentation, in Chromium on the running product: its own policy lets it work."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(300)]
PASSWORD = "correct horse battery"
PERSON = f"from projects.models import User; User.objects.create_user('lea', 'lea@example.org', {PASSWORD!r})"


def test_docs_load_from_here_alone_and_make_a_project(stack: Stack, visit: Callable[..., Page]) -> None:
    stack.shell(PERSON)
    page = visit("lea", PASSWORD)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)

    page.goto("/api/v1/docs/")
    operation = page.locator("#operations-projects-projects_create")
    operation.locator(".opblock-summary-control").click()
    operation.get_by_role("button", name="Try it out").click()
    operation.locator("textarea").fill('{"name": "Made in the documentation"}')
    operation.get_by_role("button", name="Execute").click()

    expect(operation.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("201")
    assert said == []
    assert [url for url in asked if not url.startswith((stack.url, "data:"))] == []
    page.goto("/")
    expect(page.get_by_text("Made in the documentation").first).to_be_visible()
