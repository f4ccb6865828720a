"""The API of labelling, waves, conflicts and exports: what it says, and what it keeps from whom."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations import draws, exporting, opening, releasing
from annotations.models import Annotation, Assignment, Case, Draw, Wave
from projects import jobs
from projects.models import Membership
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team
from tests.api import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def both(version: Any) -> Membership:
    """A lead who also annotates."""
    return factories.member(version.project, "cora", "lead", "annotator")


def half_measured(lead: Membership, prefix: str = "item") -> Wave:
    factories.items(lead.project, 10, prefix=prefix)
    return releasing.open_wave(lead.project, by=lead, at=factories.NOW, share_percent=Decimal(50))


# -- labelling ---------------------------------------------------------------------------------------------------------


def test_task_is_the_same_until_it_is_answered(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)

    assert api.post("task") == api.post("task")


def test_task_brings_back_what_was_typed(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    task = api.post("task")
    typed = {"answers": {"intent": "praise"}, "comment": "Hm.  \n", "typed_at": 1}

    api.put("unfinished", task["assignment"], data=typed, status=204)

    assert api.post("task") == task | {"draft": typed}


def test_submit_sent_twice_is_saved_once(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    task = api.post("task")

    first, second = (api.post("submit", task["assignment"], data={"answers": {"intent": "praise"}}) for _ in range(2))
    other = api.post("submit", task["assignment"], data={"answers": {"intent": "question"}})

    assert first | {"repeated": True} == second
    assert other == second | {"differs": True}
    assert Annotation.objects.get().latest == {"intent": "praise"}


BAD = {
    "nothing": ({}, ["intent"]),
    "no such label": ({"intent": "gone"}, ["intent"]),
    "no such question": ({"intent": "praise", "tone": "kind"}, ["tone"]),
    "a list": ({"intent": ["praise"]}, ["intent"]),
    "an object": ({"intent": {"praise": True}}, ["intent"]),
    "a number": ({"intent": 1}, ["intent"]),
    "two": ({"intent": None, "tone": "kind"}, ["intent", "tone"]),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_answers_are_named_by_question(lead, anna, what) -> None:
    half_measured(lead)
    api, (answers, wrong) = Api(anna), BAD[what]
    task = api.post("task")

    error = api.post("submit", task["assignment"], data={"answers": answers}, status=422)["error"]

    assert (error["code"], sorted(error["fields"])) == ("bad_answers", wrong)
    assert not Annotation.objects.exists()


@pytest.mark.parametrize("data", [{}, {"answers": []}, {"answers": "praise"}, {"answers": {}, "seconds": "long"}])
def test_submits_of_another_shape_are_refused(lead, anna, data) -> None:
    half_measured(lead)
    api = Api(anna)

    assert api.post("submit", api.post("task")["assignment"], data=data, status=422)["error"]["code"] == "invalid"


def test_skip_needs_a_reason_that_there_is(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    task = api.post("task")

    api.post("skip", task["assignment"], data={"reason": "lunch"}, status=422)
    api.post("skip", task["assignment"], data={"reason": "unclear_item", "note": "What is it?"}, status=204)

    assert Assignment.objects.get(uuid=task["assignment"]).skip_note == "What is it?"
    assert api.post("task")["assignment"] != task["assignment"]


def test_correction_is_a_new_revision(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    saved = api.post("submit", api.post("task")["assignment"], data={"answers": {"intent": "praise"}})

    api.post("correct", saved["annotation"], data={"answers": {"intent": "question"}, "comment": "A slip."})

    (own,) = api.get("annotations")["results"]
    assert (own["uuid"], own["answers"], own["comment"]) == (saved["annotation"], {"intent": "question"}, "A slip.")
    assert Annotation.objects.get().revisions.count() == 2


def test_own_annotations_come_newest_first_in_pages(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    given = [
        api.post("submit", api.post("task")["assignment"], data={"answers": {"intent": "praise"}})["annotation"]
        for _ in range(3)
    ]

    first = api.get("annotations", size=2)
    second = api.client.get(first["next"], headers=api.headers).json()

    assert [row["uuid"] for row in [*first["results"], *second["results"]]] == given[::-1]
    assert second["next"] is None


def test_nothing_left_says_why(version, anna) -> None:
    assert Api(anna).post("task")["nothing"]["code"] == "no_wave"


def test_new_guideline_is_read_before_the_next_item(lead, anna) -> None:
    half_measured(lead)
    newer = factories.version(lead.project, 1, 1)
    api = Api(anna)

    assert api.post("task")["nothing"]["code"] == "acknowledge"
    api.post("acknowledge", newer.uuid, status=204)
    assert api.post("task")["version"] == str(newer.uuid)


# -- blindness ---------------------------------------------------------------------------------------------------------

HIDDEN = {"uuid": r"[0-9a-f]{8}-[0-9a-f-]{27}", "time": r"\d{4}-\d\d-\d\dT[\d:.]+Z", "item": r"item \d"}


def exchange(api: Api) -> list[tuple[int, dict[str, str], str]]:
    """All that an annotator is told from asking for an item to having corrected it: status, headers, body."""

    def say(method: str, name: str, *args: str, data: Any = None) -> Any:
        sent = json.dumps(data) if data is not None else ""
        address = api.address(name, *args)
        answer = api.client.generic(method, address, sent, content_type="application/json", headers=api.headers)
        text = answer.content.decode()
        for name_, pattern in HIDDEN.items():
            text = re.sub(pattern, name_, text)
        told.append((answer.status_code, {k: v for k, v in answer.headers.items() if k != "Expires"}, text))
        return json.loads(answer.content) if answer.content else None

    told: list[tuple[int, dict[str, str], str]] = []
    assignment = say("POST", "task")["assignment"]
    say("PUT", "unfinished", assignment, data={"answers": {"intent": "praise"}})
    say("POST", "task")
    say("POST", "submit", assignment, data={"answers": {"intent": "gone"}})
    with transaction.atomic():
        say("POST", "skip", assignment, data={"reason": "other"})
        say("POST", "skip", assignment, data={"reason": "other"})
        transaction.set_rollback(True)
    annotation = say("POST", "submit", assignment, data={"answers": {"intent": "praise"}})["annotation"]
    say("POST", "submit", assignment, data={"answers": {"intent": "praise"}})
    say("POST", "skip", assignment, data={"reason": "other"})
    say("GET", "annotations")
    say("POST", "correct", annotation, data={"answers": {"intent": "question"}})
    say("GET", "annotations")
    return told


@pytest.mark.parametrize("rated_before", [0, 6])
def test_overlap_and_single_items_read_the_same(lead, anna, ben, rated_before) -> None:
    half_measured(lead)
    Team([ben]).work(rated_before)
    api = Api(anna)
    told: dict[bool, Any] = {}

    for _attempt in range(60):
        with transaction.atomic():
            heard = exchange(api)
            told[Assignment.objects.filter(member=anna).latest("pk").slot.draw_id is not None] = heard
            transaction.set_rollback(True)
        if len(told) == 2:
            break

    assert [status for status, _headers, _text in told[True]] == [
        *(200, 204, 200, 422),
        *(204, 204),
        *(200, 200, 409),
        *(200, 200, 200),
    ]
    assert told[True] == told[False]


def test_task_has_no_field_that_could_tell(lead, anna) -> None:
    half_measured(lead)
    api = Api(anna)
    task = api.post("task")
    saved = api.post("submit", task["assignment"], data={"answers": {"intent": "praise"}})
    (own,) = api.get("annotations")["results"]

    assert sorted(task) == [
        "about_left",
        "assignment",
        "content",
        "done",
        "draft",
        "version",
        "window_minutes",
        "window_submits",
    ]
    assert sorted(saved) == ["annotation", "differs", "repeated"]
    assert sorted(own) == ["answers", "comment", "content", "submitted_at", "uuid", "version", "window_ends"]


def test_lead_who_annotates_sees_no_progress_by_kind_until_they_give_up(lead, both, anna) -> None:
    wave = half_measured(lead)
    Team([anna]).work(4)
    draws.release_cover(wave, by=lead, at=factories.NOW)
    api = Api(both)

    (before,) = api.get("waves")["results"]
    api.post("wave-give-up", wave.uuid, status=204)
    after = api.get("wave", wave.uuid)

    assert (before["progress"]["given"], before["progress"]["overlap"], before["progress"]["single"]) == (4, None, None)
    assert before["draw"]["known_from"] is None
    assert sum(after["progress"]["overlap"]) + sum(after["progress"]["single"]) == 4 + 15
    assert after["draw"]["known_from"] == after["progress"]["overlap"][0] + 1


def test_seed_and_salt_are_shown_when_the_draw_has_closed(lead, anna) -> None:
    wave = half_measured(lead)
    api = Api(lead)

    before = api.get("wave", wave.uuid)["draw"]
    after = api.post("wave-close", wave.uuid, data={"closing": "early", "reason": "Enough."})["draw"]

    stored = Draw.objects.get()
    assert (before["seed"], before["salt"], before["commitment"]) == (None, None, stored.commitment)
    assert (after["seed"], after["salt"]) == (bytes(stored.seed).hex(), bytes(stored.salt).hex())


def test_export_with_ratings_of_an_open_draw_is_kept_from_who_rates_there(lead, both, anna) -> None:
    half_measured(lead)
    Team([anna]).work(4)
    job = exporting.start(lead.project, what="ratings", file_format="csv", by=lead)
    jobs.run_waiting(limit=1)

    kept = Api(both).get("export-file", job.uuid, status=409)

    assert kept["error"]["code"] == "no_file"
    assert len(Api(lead).download(str(job.uuid)).splitlines()) == 1 + 4


# -- waves -------------------------------------------------------------------------------------------------------------


def test_large_wave_is_opened_by_a_job(lead, anna, monkeypatch) -> None:
    monkeypatch.setattr(opening, "AT_ONCE", 5)
    factories.items(lead.project, 6)
    api = Api(lead)

    opened = api.post("waves", data={"share_percent": "50"}, status=202)
    waiting = Api(anna).post("task")
    jobs.run_waiting(limit=1)

    assert (opened["state"], api.get("job", opened["job"])["state"]) == ("opening", "done")
    assert waiting["nothing"]["code"] == "held"
    assert (api.get("wave", opened["uuid"])["state"], api.get("wave", opened["uuid"])["job"]) == ("open", None)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"size": 0}, 422),
        ({"size": -1}, 422),
        ({"size": "many"}, 422),
        ({"size": 10**30}, 409),
        ({"share_percent": "101"}, 422),
        ({"share_percent": "-1"}, 422),
        ({"share_percent": "NaN"}, 422),
        ({"ratings_per_item": 1}, 422),
        ({"ratings_per_item": 11}, 422),
    ],
)
def test_waves_that_make_no_sense_are_refused(lead, data, status) -> None:
    factories.items(lead.project, 3)

    Api(lead).post("waves", data=data, status=status)

    assert not Wave.objects.exists()


@pytest.mark.parametrize("closing", ["early", "wave"])
def test_closing_needs_a_reason(lead, closing) -> None:
    wave = half_measured(lead)

    error = Api(lead).post("wave-close", wave.uuid, data={"closing": closing}, status=422)["error"]

    assert list(error["fields"]) == ["reason"]


def test_closing_short_waits_for_who_can_still_rate(lead, anna) -> None:
    wave = half_measured(lead)

    error = Api(lead).post("wave-close", wave.uuid, data={"closing": "short"}, status=409)["error"]

    assert error["code"] == "not_short"


def test_closing_the_whole_wave_makes_the_rest_fresh(lead) -> None:
    wave = half_measured(lead)

    closed = Api(lead).post("wave-close", wave.uuid, data={"closing": "wave", "reason": "Wrong file."})

    assert (closed["state"], closed["draw"]["closing"], closed["draw"]["reason"]) == ("closed", "early", "Wrong file.")


# -- conflicts ---------------------------------------------------------------------------------------------------------

SAID = {
    "one": ("praise", "complaint"),
    "two": ("praise", "complaint"),
    "three": ("praise", "question"),
    "four": ("question", "question"),
}
DECISION = {"value": "praise", "rationale": "It praises.", "cause": "slip"}


def test_conflicts_come_the_worst_first_in_pages(lead, anna, ben, monkeypatch) -> None:
    disputes.rated(lead.project, [anna, ben], SAID)
    monkeypatch.setattr("annotations.queue.PAGE", 2)
    api = Api(lead)

    first = api.get("conflicts")
    second = api.client.get(first["next"], headers=api.headers).json()

    found = [row["pair_key"] for row in [*first["results"], *second["results"]]]
    assert len(first["results"]) == 2
    assert found == list(Case.objects.order_by("-severity", "pair_key", "pk").values_list("pair_key", flat=True))
    assert second["next"] is None


def test_conflicts_are_found_by_state_question_pair_and_draw(lead, anna, ben) -> None:
    draw = disputes.rated(lead.project, [anna, ben], SAID)
    api, pair = Api(lead), disputes.case_of("three").pair_key

    assert len(api.get("conflicts", question="intent", draw=draw.uuid)["results"]) == 3
    assert len(api.get("conflicts", pair=pair)["results"]) == 1
    assert api.get("conflicts", state="decided") == {"next": None, "results": []}
    assert api.get("conflicts", question="tone")["results"] == []


def test_conflict_names_its_raters_only_when_decided(lead, anna, ben) -> None:
    disputes.rated(lead.project, [anna, ben], SAID)
    api, case = Api(lead), disputes.case_of("one")

    before = json.dumps([api.get("conflicts"), api.get("conflict", case.uuid)])
    api.post("resolve", case.uuid, data=DECISION)
    after = api.get("conflict", case.uuid)

    assert [name for name in ("anna", "ben", str(anna.uuid), str(ben.uuid)) if name in before] == []
    assert sorted(side["rater"] for side in after["sides"]) == ["anna", "ben"]
    assert [row["by"] for row in after["resolutions"]] == ["lea"]


def test_who_rated_an_item_does_not_decide_it(lead, both, anna) -> None:
    disputes.rated(lead.project, [anna, both], SAID)
    api, case = Api(both), disputes.case_of("one")

    assert api.get("conflicts")["results"] == []
    assert api.get("conflict", case.uuid)["own"] is True
    assert api.post("resolve", case.uuid, data=DECISION, status=403)["error"]["code"] == "own_rating"


def test_conflict_that_somebody_holds_is_not_decided_by_another(lead, anna, ben) -> None:
    disputes.rated(lead.project, [anna, ben], SAID)
    case, other = disputes.case_of("one"), Api(factories.member(lead.project, "leo", "lead"))
    Api(lead).post("claim", case.uuid, status=204)

    assert other.post("resolve", case.uuid, data=DECISION, status=409)["error"]["code"] == "held"
    assert other.get("conflict", case.uuid)["holder"] == "lea"
    Api(lead).delete("claim", case.uuid, status=204)
    assert other.post("resolve", case.uuid, data=DECISION)["by"] == "leo"


@pytest.mark.parametrize(
    "change",
    [{"value": "gone"}, {"value": {"a": 1}}, {"rationale": " "}, {"cause": "mood"}, {"example": {"content": {}}}],
)
def test_decisions_that_make_no_sense_are_refused(lead, anna, ben, change) -> None:
    disputes.rated(lead.project, [anna, ben], SAID)
    case = disputes.case_of("one")

    Api(lead).post("resolve", case.uuid, data=DECISION | change, status=422)

    case.refresh_from_db()
    assert (case.state, case.resolutions.count()) == ("open", 0)


def test_decision_is_reopened_with_a_reason_and_can_become_an_example(lead, anna, ben) -> None:
    disputes.rated(lead.project, [anna, ben], SAID)
    api, case = Api(lead), disputes.case_of("one")
    shown = {"content": {"text": "As it is to be shown"}}
    api.post("promote", case.uuid, data=shown, status=409)
    api.post("resolve", case.uuid, data=DECISION)

    made = api.post("promote", case.uuid, data=shown)
    api.post("reopen", case.uuid, data={"reason": ""}, status=422)
    back = api.post("reopen", case.uuid, data={"reason": "Read it again."})

    assert (made["content"], made["value"], made["origin"]) == (shown["content"], "praise", "adjudicated")
    assert (back["standing"], back["reopened_reason"]) == (False, "Read it again.")
    assert [row["standing"] for row in api.get("conflict", case.uuid)["resolutions"]] == [False]


# -- how much is asked of the database ---------------------------------------------------------------------------------


def queries(member: Membership, name: str) -> int:
    client = Client()
    client.force_login(member.user)
    address = reverse(f"api:{name}", args=[member.project.uuid])
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        response = client.get(address)
    assert response.status_code == 200
    return len(captured)


def test_lists_ask_as_often_for_one_row_as_for_three(lead, anna, ben) -> None:
    counted = {}
    for round_ in range(3):
        disputes.rated(lead.project, [anna, ben], {f"item {round_}": ("praise", "complaint")})
        exporting.start(lead.project, what="gold", file_format="csv", by=lead)
        people = {
            "waves": lead,
            "conflicts": lead,
            "exports": lead,
            "items": lead,
            "annotations": anna,
            "members": lead,
        }
        counted[round_] = {name: queries(who, name) for name, who in people.items()}

    assert counted[2] == counted[0]


def test_open_waves_ask_as_often_for_one_as_for_three(lead, anna) -> None:
    half_measured(lead, prefix="first")
    one = queries(lead, "waves")
    half_measured(lead, prefix="second")
    half_measured(lead, prefix="third")

    assert queries(lead, "waves") == one
