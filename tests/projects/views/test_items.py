"""The list of items and the page of one."""

from collections.abc import Callable
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from projects import item_search
from projects.models import Item, Membership, Project
from tests import factories


def listed(page: object) -> list[str]:
    return [item.external_id for item, _content in page.context["rows"]]  # type: ignore[attr-defined]  # a test response


def test_list_shows_items_with_their_batch(project: Project, lead: Membership, client_of: Callable) -> None:
    factories.items(project, 2)
    page = client_of(lead).get(f"/p/{project.uuid}/items/")
    text = page.content.decode()
    assert listed(page) == ["item-0", "item-1"]
    assert "item 1 says something of its own" in text
    assert "2 items imported" in text


def test_empty_list_says_what_to_do(project: Project, lead: Membership, client_of: Callable) -> None:
    text = client_of(lead).get(f"/p/{project.uuid}/items/").content.decode()
    assert "There are no items yet." in text
    assert f'href="/p/{project.uuid}/imports/new/"' in text


def test_list_pages_by_key_forwards_and_back(
    project: Project, lead: Membership, client_of: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_search, "PAGE", 2)
    factories.items(project, 5)
    client, url = client_of(lead), f"/p/{project.uuid}/items/"
    first = client.get(url)
    second = client.get(f"{url}?after={first.context['page'].after}")
    third = client.get(f"{url}?after={second.context['page'].after}")
    back = client.get(f"{url}?before={third.context['page'].before}")
    assert [listed(page) for page in (first, second, third, back)] == [
        ["item-0", "item-1"],
        ["item-2", "item-3"],
        ["item-4"],
        ["item-2", "item-3"],
    ]
    assert (first.context["page"].before, third.context["page"].after) == (None, None)
    start = client.get(f"{url}?before={back.context['page'].before}")
    assert (listed(start), start.context["page"].before) == (["item-0", "item-1"], None)


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("item-2", ["item-2"]),
        ("ITEM 1 says", ["item-1"]),
        ("of its own", ["item-0", "item-1", "item-2"]),
        ("text", []),
        ("100 %", []),
    ],
)
def test_list_is_filtered_by_id_or_text(
    project: Project, lead: Membership, client_of: Callable, query: str, ids: list[str]
) -> None:
    factories.items(project, 3)
    assert listed(client_of(lead).get(f"/p/{project.uuid}/items/", {"q": query})) == ids


def test_text_is_found_whatever_its_script_and_field(project: Project, lead: Membership, client_of: Callable) -> None:
    items = factories.items(project, 2)
    Item.objects.filter(pk=items[1].pk).update(content={"über uns": "schöne Grüße 你好"})
    items[1].batch.shown_fields = ["text", "über uns"]
    items[1].batch.save()
    client = client_of(lead)
    assert listed(client.get(f"/p/{project.uuid}/items/", {"q": "Grüße 你"})) == ["item-1"]


def test_list_is_filtered_by_batch(project: Project, lead: Membership, client_of: Callable) -> None:
    factories.items(project, 1, prefix="old")
    new = factories.items(project, 1, prefix="new")
    page = client_of(lead).get(f"/p/{project.uuid}/items/", {"batch": str(new[0].batch.uuid)})
    assert listed(page) == ["new-0"]


def test_batch_of_another_project_filters_nothing(project: Project, lead: Membership, client_of: Callable) -> None:
    factories.items(project, 1)
    foreign = factories.items(factories.project("Neighbour"), 1, prefix="foreign")
    page = client_of(lead).get(f"/p/{project.uuid}/items/", {"batch": str(foreign[0].batch.uuid)})
    assert listed(page) == ["item-0"]


@pytest.mark.parametrize("query", ["after=x", "before=-1", "after=99999999999999999999999", "after=²", "batch=x"])
def test_made_up_addresses_do_no_harm(project: Project, lead: Membership, client_of: Callable, query: str) -> None:
    factories.items(project, 1)
    assert client_of(lead).get(f"/p/{project.uuid}/items/?{query}").status_code == 200


def test_list_leaves_out_superseded_items_and_imports_that_still_run(
    project: Project, lead: Membership, client_of: Callable
) -> None:
    items = factories.items(project, 2)
    Item.objects.filter(pk=items[0].pk).update(standing="superseded")
    running = factories.items(project, 1, prefix="running")
    running[0].batch.ready = False
    running[0].batch.save()
    client = client_of(lead)
    assert listed(client.get(f"/p/{project.uuid}/items/")) == ["item-1"]
    assert client.get(f"/p/{project.uuid}/items/{running[0].uuid}/").status_code == 404


def test_list_takes_as_many_queries_for_three_items_as_for_one(
    project: Project, lead: Membership, client_of: Callable
) -> None:
    client = client_of(lead)
    counts = []
    for number in (1, 2):
        factories.items(project, number, prefix=f"of{number}")
        client.get(f"/p/{project.uuid}/items/")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/p/{project.uuid}/items/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_item_page_shows_content_in_order_and_metadata(project: Project, lead: Membership, client_of: Callable) -> None:
    item = factories.items(project, 1)[0]
    item.batch.shown_fields, item.batch.metadata_fields = ["z", "a"], ["source", "n"]
    item.batch.save()
    Item.objects.filter(pk=item.pk).update(
        content={"a": "second <b>", "z": "first"}, metadata={"n": 3, "source": "forum"}
    )
    page = client_of(lead).get(f"/p/{project.uuid}/items/{item.uuid}/")
    assert page.context["content"] == [("z", "first"), ("a", "second <b>")]
    assert page.context["metadata"] == [("source", "forum"), ("n", 3)]
    text = page.content.decode()
    assert "second &lt;b&gt;" in text
    assert "second <b>" in unescape(text)


def test_superseded_item_leads_to_its_successor(project: Project, lead: Membership, client_of: Callable) -> None:
    old, new = factories.items(project, 2)
    Item.objects.filter(pk=old.pk).update(standing="superseded", superseded_by=new)
    text = client_of(lead).get(f"/p/{project.uuid}/items/{old.uuid}/").content.decode()
    assert f'href="/p/{project.uuid}/items/{new.uuid}/"' in text


@pytest.mark.parametrize("page", ["", "{item}/"])
def test_access(
    project: Project, page: str, client: Client, outsider: object, request: pytest.FixtureRequest, client_of: Callable
) -> None:
    item = factories.items(project, 1)[0]
    url = f"/p/{project.uuid}/items/{page.format(item=item.uuid)}"
    who = {"admin": 200, "lead": 200, "anna": 403, "outsider": 404}
    assert {name: client_of(request.getfixturevalue(name)).get(url).status_code for name in who} == who
    anonymous = client.get(url)
    assert (anonymous.status_code, anonymous["Location"]) == (302, f"/login/?next={url}")
    neighbour = factories.member(factories.project("Neighbour"), "nora", "admin")
    assert client_of(neighbour).get(url).status_code == 404


def test_items_of_a_neighbour_do_not_appear(project: Project, lead: Membership, client_of: Callable) -> None:
    foreign = factories.items(factories.project("Neighbour"), 1, prefix="foreign")[0]
    client = client_of(lead)
    assert listed(client.get(f"/p/{project.uuid}/items/", {"q": "foreign"})) == []
    assert client.get(f"/p/{project.uuid}/items/{foreign.uuid}/").status_code == 404
