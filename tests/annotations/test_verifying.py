"""Replaying draws: from the database, from an export with nothing else, and what neither lets pass (DESIGN §2.3)."""

import json
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations import draws, exporting, releasing, sampling, superseding, verifying
from annotations.models import Draw, Wave, WaveItem
from projects import jobs
from projects.models import Item, Job, Membership, Project
from tests import factories

AT = factories.NOW
SOURCES = ["mail", "mail", "chat", "phone"]


@pytest.fixture
def drawn(project: Project, lead: Membership) -> Draw:
    """The second of two closed draws, in strata, so that it has a history."""
    project.protocol |= {"strata_field": "source"}
    project.save()
    for prefix in ("first", "second"):
        factories.items(project, 60, prefix=prefix, metadata=[{"source": SOURCES[i % 4]} for i in range(60)])
        wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(15))
        draws.close(wave.draw, closing="early", reason="to replay it", by=lead, at=AT)
    return Draw.objects.get(wave__number=2)


def run(*arguments: object) -> tuple[list[str], int]:
    """What the command prints, and its exit code."""
    out = StringIO()
    try:
        call_command("verify_draw", *map(str, arguments), stdout=out)
    except CommandError as error:
        return [*out.getvalue().splitlines(), str(error)], error.returncode
    return out.getvalue().splitlines(), 0


def export(project: Project, lead: Membership) -> list[dict[str, Any]]:
    job = jobs.work_now(exporting.start(project, what="draws", file_format="csv", by=lead))
    with exporting.download(Job.objects.get(pk=job.pk), lead) as file:
        return [json.loads(line) for line in file.read().decode().splitlines()]


def written(folder: Path, lines: list[dict[str, Any]]) -> Path:
    path = folder / "draws.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_the_second_draw_without_strata_replays_from_its_export(project, lead, tmp_path):
    for prefix in ("first", "second"):
        factories.items(project, 20, prefix=prefix)
        wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(20))
        draws.close(wave.draw, closing="early", reason="to replay it", by=lead, at=AT)

    said, code = run(written(tmp_path, export(project, lead)))

    assert (said, code) == (["Wave 1: Same set: 4 of 20 items.", "Wave 2: Same set: 4 of 20 items."], 0)


# -- from the database -------------------------------------------------------------------------------------------------


def test_the_same_set_by_id(drawn):
    assert run(drawn.uuid) == (["Wave 2: Same set: 9 of 60 items."], 0)


def move(draw: Draw, *, into: str, out_of: str) -> None:
    """One overlap item more in a stratum and one less in another: as if it had been shared out by hand, by rank."""
    more = draw.wave.wave_items.filter(stratum=into, draw__isnull=True)
    ranked = sorted(more.select_related("item"), key=lambda row: sampling.rank(bytes(draw.seed), row.item.uuid))
    less = draw.wave.wave_items.filter(stratum=out_of, draw=draw).select_related("item")
    last = max(less, key=lambda row: sampling.rank(bytes(draw.seed), row.item.uuid))
    WaveItem.objects.filter(pk=ranked[0].pk).update(draw=draw)
    WaveItem.objects.filter(pk=last.pk).update(draw=None)


def test_a_draw_with_other_numbers_per_stratum_does_not_verify(drawn):
    """The lowest ranks of every stratum are in it; only how many of which is not what the shares give."""
    move(drawn, into="mail", out_of="chat")

    verdict = verifying.verify(drawn)

    assert not verdict.same
    assert verdict.sentence == "Stratum “chat”: 2 items are overlap, and the plan draws 3 of 15."
    assert run(drawn.uuid)[1] == 1


def test_a_changed_content_is_named(drawn):
    item = drawn.wave.wave_items.first().item
    Item.objects.filter(pk=item.pk).update(content={"text": "something else"})

    assert run(drawn.uuid)[0][0] == f"Wave 2: Item {item.uuid} has another content than when it was drawn."


def test_an_erased_item_is_told_and_is_no_difference(drawn, admin):
    superseding.erase(drawn.wave.wave_items.first().item, by=admin, at=AT)

    assert run(drawn.uuid) == (
        [
            "Wave 2: Same set: 9 of 60 items.",
            "  1 items were erased on request since: only their hashes are left.",
        ],
        0,
    )


def test_a_plan_cannot_be_changed_afterwards(drawn):
    Draw.objects.filter(pk=drawn.pk).update(plan=drawn.plan | {"share_percent": "20"})

    assert "commitment does not match" in run(drawn.uuid)[0][0]


def test_other_waves_before_it_are_named(drawn):
    WaveItem.objects.filter(wave__number=1, draw__isnull=False).first().delete()

    assert run(drawn.uuid)[0][0] == "Wave 2: The waves before it hold other numbers than the draw was made with."


def test_an_item_too_many_in_the_wave_is_named(drawn, project):
    (item,) = factories.items(project, 1, prefix="late")
    WaveItem.objects.create(wave=drawn.wave, item=item, stratum="mail", needed=1)

    assert run(drawn.uuid)[0][0] == f"Wave 2: Item {item.uuid} is in the wave and was not drawn from."


def test_another_probability_is_named(drawn):
    WaveItem.objects.filter(wave=drawn.wave).update(probability=0.5)

    assert "and 0.5 is stored" in run(drawn.uuid)[0][0]


def without_plan(draw: Draw) -> None:
    """As a draw was recorded before plans were: seed and population are committed to, and nothing else."""
    digest = sampling.population_digest(sampling.unpack_population(bytes(draw.population)))
    committed = sampling.commitment(bytes(draw.salt), bytes(draw.seed), digest)
    Draw.objects.filter(pk=draw.pk).update(plan=None, commitment=committed)


def test_an_older_draw_is_counted_from_the_waves_of_today_and_says_what_that_does_not_prove(drawn):
    without_plan(drawn)

    printed, code = run(drawn.uuid)
    assert (printed[0], code) == ("Wave 2: Same set: 9 of 60 items.", 0)
    assert "nobody had committed" in printed[1]
    move(Draw.objects.get(pk=drawn.pk), into="mail", out_of="chat")
    assert "the plan draws" in run(drawn.uuid)[0][0]


def test_an_open_draw_and_an_unknown_one_are_nothing_to_replay(project, lead, drawn):
    factories.items(project, 10, prefix="third")
    open_one = releasing.open_wave(project, by=lead, at=AT).draw

    assert run(open_one.uuid) == (["This draw is open: seed and population are shown when it closes."], 2)
    assert run(project.uuid) == ([f"There is no draw {project.uuid}."], 2)


def test_an_abandoned_draw_stays_on_record_and_replays(drawn, project, lead, client_of):
    Draw.objects.filter(pk=drawn.pk).update(state="abandoned")

    page = client_of(lead).get(f"/p/{project.uuid}/waves/").content.decode()
    assert "draw abandoned" in page
    assert run(drawn.uuid)[1] == 0
    assert [line["state"] for line in export(project, lead) if line["record"] == "draw"] == ["closed", "abandoned"]


# -- from a file -------------------------------------------------------------------------------------------------------


def test_a_file_replays_without_the_database(drawn, project, lead, tmp_path, django_assert_num_queries):
    path = written(tmp_path, export(project, lead))

    with django_assert_num_queries(0):
        printed = run(path)

    assert printed == (["Wave 1: Same set: 9 of 60 items.", "Wave 2: Same set: 9 of 60 items."], 0)


def test_the_file_carries_all_that_a_draw_follows_from_and_no_text(drawn, project, lead):
    lines = export(project, lead)

    head = next(line for line in lines if line["record"] == "draw" and line["wave"] == 2)
    items = lines[lines.index(head) + 1 :]
    assert head["plan"] == {
        "share_percent": "15",
        "minimum": 0,
        "own": {},
        "history": {"chat": [15, 2], "mail": [30, 5], "phone": [15, 2]},
    }
    assert (head["seed"], head["salt"], head["commitment"]) == (
        bytes(drawn.seed).hex(),
        bytes(drawn.salt).hex(),
        drawn.commitment,
    )
    assert {line["item"] for line in items if line["drawn"]} == {
        str(uuid) for uuid in WaveItem.objects.filter(draw=drawn).values_list("item__uuid", flat=True)
    }
    assert {line["content_hash"] for line in items} == set(
        drawn.wave.wave_items.values_list("item__content_hash", flat=True)
    )
    assert "says something" not in json.dumps(lines)


def test_nothing_of_an_open_draw_and_of_a_neighbour_is_in_the_file(drawn, project, lead):
    factories.items(project, 10, prefix="third")
    open_one = releasing.open_wave(project, by=lead, at=AT).draw
    other = factories.project("Neighbour")
    factories.version(other)
    boss = factories.member(other, "boss", "lead")

    assert str(open_one.uuid) not in json.dumps(export(project, lead))
    assert export(other, boss) == []


def change(lines: list[dict[str, Any]], name: str) -> None:
    head = next(line for line in lines if line["record"] == "draw" and line["wave"] == 2)
    items = lines[lines.index(head) + 1 :]
    if name == "sample":
        item = next(line for line in items if line["drawn"])
        twin = next(line for line in items if not line["drawn"] and line["stratum"] == item["stratum"])
        item["drawn"], twin["drawn"] = False, True
    elif name == "stratum":
        items[0]["stratum"] = "elsewhere"
    elif name == "missing":
        lines.remove(items[0])
    elif name == "hash":
        items[0]["content_hash"] = "0" * 64
    elif name == "counts":
        next(line for line in items if line["drawn"])["drawn"] = False
    elif name == "protocol":
        head["protocol"]["share_percent"] = "20"
    elif name == "history":
        head["plan"]["history"]["mail"] = [30, 3]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("sample", "record and replay differ"),
        ("counts", "the plan draws"),
        ("stratum", "commitment does not match"),
        ("missing", "commitment does not match"),
        ("hash", "commitment does not match"),
        ("history", "commitment does not match"),
        ("protocol", "declares other shares"),
    ],
)
def test_what_was_changed_in_a_file_is_found(drawn, project, lead, tmp_path, name, sentence):
    lines = export(project, lead)
    change(lines, name)

    printed, code = run(written(tmp_path, lines))

    assert code == 1
    assert sentence in printed[1]
    assert printed[2] == "1 of 2 draws do not follow from their records."


def test_a_file_of_an_older_draw_says_what_it_cannot_prove(drawn, project, lead, tmp_path):
    without_plan(drawn)

    printed, code = run(written(tmp_path, export(project, lead)))

    assert code == 0
    assert "taken from the sample itself, and not proved" in printed[2]


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([{"record": "item", "item": "x"}], "Line 1: an export of draws has a “draw” first"),
        ([{"record": "kit", "schema": 2}], "Line 1: an export of draws has a “draw” first"),
        ([{"record": "draw", "schema": 9}], "It has schema 9, and this version reads 1."),
        ([{"record": "draw", "schema": 1}], "Line 1 is no line of an export of draws: 'draw'."),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_line(tmp_path, lines, sentence):
    path = written(tmp_path, lines)

    printed, code = run(path)

    assert code == 2
    assert sentence in printed[0]
    assert run(tmp_path / "nowhere.jsonl")[1] == 2


def test_the_page_of_a_wave_says_what_an_older_record_cannot_prove(drawn, project, lead, client_of):
    without_plan(drawn)
    wave = Wave.objects.get(number=2)

    page = client_of(lead).get(f"/p/{project.uuid}/waves/{wave.uuid}/", {"verify": ""}).content.decode()

    assert "Same set: 9 of 60 items." in page
    assert "nobody had committed" in page
    assert str(drawn.uuid) in page
