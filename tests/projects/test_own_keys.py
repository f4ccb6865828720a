"""A member's own keys: what may be one, what collides, and what the sheet then says."""

import pytest

from projects import own_keys, reading, styles
from projects.errors import Invalid
from projects.models import LabelStyle, Membership
from tests import factories
from tests.api import Api

pytestmark = pytest.mark.django_db


def hotkeys(member, version) -> dict[str, str]:
    read = reading.reading(version, Membership.objects.get(pk=member.pk).hotkeys)
    return {label.key: label.hotkey for question in read.questions for label in question.labels}


def save(member, version, **keys: str) -> None:
    own_keys.save(member, version, {"intent": keys})


def test_own_keys_hold_for_their_member_alone(version, anna, ben):
    save(anna, version, complaint="K", praise=" 9 ")

    assert hotkeys(anna, version) == {"complaint": "k", "praise": "9", "question": "3"}
    assert hotkeys(ben, version) == {"complaint": "1", "praise": "2", "question": "3"}


def test_two_labels_swap_their_keys(version, anna):
    save(anna, version, complaint="2", praise="1")

    assert hotkeys(anna, version) == {"complaint": "2", "praise": "1", "question": "3"}


def test_an_emptied_key_is_the_project_s_again(version, anna):
    save(anna, version, complaint="k")
    save(anna, version)

    assert hotkeys(anna, version)["complaint"] == "1"
    assert Membership.objects.get(pk=anna.pk).hotkeys == {}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"complaint": "k", "praise": "k"}, "The key “k” is already that of “complaint”"),
        ({"complaint": "2"}, "The key “2” is already that of “praise”"),
        *(({"complaint": key}, "already does something else") for key in "cgszqn"),
        ({"complaint": "ж"}, "take one letter from a to z"),
        ({"complaint": "/"}, "take one letter from a to z"),
        ({"complaint": "ab"}, "take one letter from a to z"),
    ],
)
def test_what_cannot_be_a_key_is_refused_and_nothing_is_kept(version, anna, keys, said):
    with pytest.raises(Invalid, match=said):
        save(anna, version, **keys)
    assert Membership.objects.get(pk=anna.pk).hotkeys == {}


@pytest.mark.parametrize("wanted", [{"intent": {"nothing": "k"}}, {"tone": {"praise": "k"}}])
def test_what_the_guideline_does_not_have_gets_no_key(version, anna, wanted):
    refused = Api(anna).put("own-keys", data={"keys": wanted}, status=422)

    assert "is no label of the question" in refused["error"]["message"]
    assert Membership.objects.get(pk=anna.pk).hotkeys == {}


def test_the_api_keeps_own_keys_and_refuses_what_the_page_refuses(version, anna, ben):
    api = Api(anna)

    kept = api.put("own-keys", data={"keys": {"intent": {"complaint": "K", "praise": ""}}})
    collision = api.put("own-keys", data={"keys": {"intent": {"complaint": "2"}}}, status=422)
    reserved = api.put("own-keys", data={"keys": {"intent": {"complaint": "s"}}}, status=422)

    assert kept == api.get("own-keys") == {"keys": {"intent": {"complaint": "k"}}}
    assert "already that of “praise”" in collision["error"]["message"]
    assert "already does something else" in reserved["error"]["message"]
    assert Api(ben).get("own-keys") == {"keys": {}}
    assert hotkeys(anna, version) == {"complaint": "k", "praise": "2", "question": "3"}


def test_the_api_keeps_no_keys_before_there_is_a_guideline(db):
    nobody_s = factories.member(factories.project("Nothing yet"))
    refused = Api(nobody_s).put("own-keys", data={"keys": {}}, status=409)

    assert refused["error"]["code"] == "no_guideline"


def test_a_key_means_one_label_of_the_whole_sheet(version, anna):
    factories.question(version, "tone", ("calm", "angry"))

    with pytest.raises(Invalid, match="“1” is already that of “complaint”"):
        own_keys.save(anna, version, {"tone": {"calm": "1"}})
    own_keys.save(anna, version, {"tone": {"calm": "8"}})

    assert hotkeys(anna, version) == {"complaint": "1", "praise": "2", "question": "3", "calm": "8", "angry": "5"}


def test_with_more_labels_than_keys_a_key_means_one_label_of_its_question(version, anna):
    factories.question(version, "topic", [f"topic-{n}" for n in range(len(styles.HOTKEYS))])

    own_keys.save(anna, version, {"topic": {"topic-40": "1", "topic-1": "w", "topic-28": "2"}})
    with pytest.raises(Invalid, match="already that of"):
        own_keys.save(anna, version, {"topic": {"topic-1": "1"}})


def test_a_key_that_the_project_gives_to_another_label_later_stays_one_s_own(version, anna):
    save(anna, version, complaint="k")
    LabelStyle.objects.create(project=version.project, question_key="intent", label_key="praise", hotkey="k")

    assert hotkeys(anna, version) == {"complaint": "k", "praise": "2", "question": "3"}


def test_keys_of_questions_that_this_version_does_not_have_are_kept(version, anna):
    anna.hotkeys = {"old": {"a": "9"}}
    anna.save()

    save(anna, version, complaint="k")

    assert Membership.objects.get(pk=anna.pk).hotkeys == {"old": {"a": "9"}, "intent": {"complaint": "k"}}
