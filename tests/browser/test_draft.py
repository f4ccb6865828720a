"""The draft saves itself while it is written: two leads at once, a lost connection, and a save by hand in between."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.stack import Stack

PASSWORD = "correct horse battery"
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.one_database, pytest.mark.timeout(300)]

PROJECT = """
from projects import drafts
from projects.models import Membership, Project, User
project = Project.objects.create(name="App reviews", shown_fields=["text"])
for name in ("lea", "lou"):
    user = User.objects.create_user(name, name + "@example.org", "correct horse battery")
    member = Membership.objects.create(project=project, user=user, alias=name, is_lead=True)
drafts.draft_of(project, by=member)
print("project", project.uuid)
"""


def state(page: Page):
    return page.locator("#save-state")


@pytest.fixture
def writers(stack: Stack, visit: Callable[..., Page]) -> tuple[Page, Page]:
    """Two leads with the text of the same draft before them."""
    project = stack.shell(PROJECT).split()[-1]
    pages = visit("lea", PASSWORD), visit("lou", PASSWORD)
    for page in pages:
        page.goto(f"/p/{project}/guideline/draft/")
    return pages


def test_a_draft_saves_itself_and_replaces_nobodys_text(writers: tuple[Page, Page]) -> None:
    lea, lou = writers

    lea.locator("textarea").fill("# Lea writes")
    expect(state(lea)).to_have_text("saved")
    lou.locator("textarea").fill("# Lou writes")
    expect(state(lou)).to_contain_text("somebody else saved this text")
    lou.get_by_role("button", name="Save the text").click()

    expect(lou.get_by_role("heading", name="Two people wrote at once")).to_be_visible()
    expect(lou.locator("#theirs")).to_have_value("# Lea writes")
    expect(lou.locator("[name=text]")).to_have_value("# Lou writes")
    lea.reload()
    expect(lea.locator("[name=text]")).to_have_value("# Lea writes")


def test_a_lost_connection_and_a_save_by_hand_lose_nothing(writers: tuple[Page, Page]) -> None:
    lea, _lou = writers
    lea.locator("textarea").fill("# One")
    expect(state(lea)).to_have_text("saved")

    lea.context.set_offline(True)
    lea.locator("textarea").fill("# One two")
    expect(state(lea)).to_have_text("not saved yet, will be tried again")
    lea.context.set_offline(False)
    expect(state(lea)).to_have_text("saved", timeout=20_000)

    lea.locator("textarea").fill("# One two three")
    lea.wait_for_timeout(1_450)  # just as it begins to save itself
    lea.keyboard.press("Control+s")
    expect(lea.get_by_text("The text is saved.")).to_be_visible()
    expect(lea.locator("[name=text]")).to_have_value("# One two three")
