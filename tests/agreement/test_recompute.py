"""The recompute kit: what it holds, that its figures follow from its ratings, and that a changed one is named."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agreement import kits, recomputing, runs
from agreement.coefficients import ENGINE_VERSION
from agreement.models import Run
from annotations import exporting, releasing
from annotations.enums import AssignmentState
from annotations.models import Assignment, Draw, Look
from projects import jobs
from projects.models import Membership, Project
from tests import factories
from tests.agreement import rows
from tests.annotations.team import Team

pytestmark = pytest.mark.django_db
LATER = factories.NOW + timedelta(days=1)
LABELS = ("complaint", "praise", "question")

Line = dict[str, Any]


def opinion(member: Membership, assignment: Assignment) -> dict[str, Any]:
    """Mostly what the item is, and now and then what this member makes of it."""
    about = assignment.item_id % 3 if (assignment.item_id + member.pk) % 5 else member.pk % 3
    return {"intent": LABELS[about]}


@pytest.fixture
def played(project: Project, version: Any, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    """A wave that was labelled to its end and computed."""
    factories.items(project, 60)
    wave = releasing.open_wave(project, share_percent=Decimal(50), by=lead, at=factories.NOW)
    team = Team([anna, ben], answer=opinion)
    team.finish()
    closed = Draw.objects.get(wave=wave)
    assert closed.state == "closed"
    runs.compute(closed, at=team.at)
    return closed


def lines_of(project: Project) -> list[Line]:
    return [json.loads(json.dumps(row)) for _done, row in kits.rows(project, [])]


KIT: list[Line] = []


@pytest.fixture
def kit(request: pytest.FixtureRequest) -> list[Line]:
    """The kit of the wave that was played, of which each test changes its own copy: the wave is played once."""
    if not KIT:
        KIT.extend(lines_of(request.getfixturevalue("played").wave.project))
    return deepcopy(KIT)


def write(folder: Path, lines: list[Line]) -> Path:
    path = folder / "kit.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def recompute(path: Path, *options: str) -> tuple[str, str]:
    """What the command prints, and how it refuses."""
    out = StringIO()
    try:
        call_command("recompute", str(path), *options, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def first(lines: list[Line], record: str) -> Line:
    return next(line for line in lines if line["record"] == record)


# -- what follows ------------------------------------------------------------------------------------------------------


def test_figures_of_a_played_wave_follow_from_its_ratings(played: Draw, project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, lines_of(project))

    with CaptureQueriesContext(connection) as captured:
        printed, refused = recompute(path)

    head, line = printed.splitlines()
    assert (head, refused, len(captured)) == (f"“App reviews”, figures by engine {ENGINE_VERSION}.", "", 0)
    assert line.startswith("Wave 1, guideline 1.0, intent: ")
    assert line.endswith(" figures follow from 60 ratings.")
    assert int(line.split()[5]) > 100


def test_kit_is_an_export_of_the_project(played: Draw, project: Project, lead: Membership, tmp_path: Path) -> None:
    job = jobs.work_now(exporting.start(project, what="kit", file_format="csv", by=lead))

    with exporting.download(job, lead) as stream:
        path = tmp_path / job.file_name
        path.write_bytes(stream.read())

    assert (path.suffix, job.result["rows"], recompute(path)[1]) == (".jsonl", 1 + 1 + 60 + 1, "")


def test_every_part_of_a_result_is_recomputed(
    project: Project, version: Any, lead: Membership, anna: Membership, ben: Membership, tmp_path: Path
) -> None:
    """Strata at unequal rates, missing and single ratings, a skip, pooled waves, and a difference of two versions."""
    cara = factories.member(project, "cara")

    def said(shift: int) -> list[dict[Membership, str]]:
        found = []
        for i in range(40):
            one, other = LABELS[i % 3], LABELS[(i + (i % 7 == shift)) % 3]
            found.append({anna: one, ben: other} if i % 2 else {anna: one, cara: other})
        return [*found, {ben: "praise"}]

    strata = [["mail", "chat", "chat"][i % 3] for i in range(41)] + ["mail"] * 59
    about = {"by": lead, "closing": "complete", "strata_field": "source"}
    for shift in (0, 1):
        rows.draw(version, said(shift), strata=strata, singles=59, **about)
    newer = factories.version(project, 2, 0)
    last = rows.draw(newer, said(2), strata=strata, singles=59, **about)
    slot = last.slots.first()
    Assignment.objects.create(
        slot=slot,
        wave_item=slot.wave_item,
        item=slot.item,
        member=lead,
        major=2,
        version=newer,
        state=AssignmentState.SKIPPED,
        skip_reason="unclear",
        served_at=LATER,
        ended_at=LATER,
    )
    for draw in Draw.objects.order_by("pk"):
        runs.compute(draw, at=LATER)

    results = [run.result for run in Run.objects.order_by("draw")]
    lines = lines_of(project)
    printed, refused = recompute(write(tmp_path, lines))

    assert [bool(result["difference"]) for result in results] == [False, False, True]
    assert [bool(result["pooled"]) for result in results] == [False, True, False]
    assert all(result["strata"] and "weighted" in result["statistics"]["percent_agreement"] for result in results)
    assert (results[2]["skips"], first(lines, "skip")["reason"]) == (
        [{"rater": str(lead.uuid), "reason": "unclear", "n": 1}],
        "unclear",
    )
    assert (refused, printed.count("figures follow from 81 ratings")) == ("", 3)


def test_ordinal_question_beside_a_nominal_one(
    project: Project, version: Any, lead: Membership, anna: Membership, ben: Membership, tmp_path: Path
) -> None:
    factories.question(version, "severity", ("low", "medium", "high"), task_type="ordinal", values=[1.0, 2.0, 4.0])
    said = [
        {
            anna: {"intent": "praise", "severity": ("low", "medium", "high")[i % 3]},
            ben: {"intent": LABELS[i % 2], "severity": ("low", "high", "high")[i % 3]},
        }
        for i in range(30)
    ]
    runs.compute(rows.draw(version, said, by=lead, closing="complete"), at=LATER)

    printed, refused = recompute(write(tmp_path, lines_of(project)))

    assert (refused, [line.split(":")[0] for line in printed.splitlines()[1:]]) == (
        "",
        ["Wave 1, guideline 1.0, intent", "Wave 1, guideline 1.0, severity"],
    )


def test_sets_spans_and_the_expert_are_recomputed(
    project: Project, version: Any, lead: Membership, anna: Membership, ben: Membership, tmp_path: Path
) -> None:
    """Three raters, two of them on each item; the file has the places of the tokens and no text."""
    factories.question(version, "tags", ("x", "y", "z"), task_type="multilabel")
    factories.question(version, "where", ("who", "what"), task_type="spans")
    factories.question(version, "why", (), task_type="text")
    cara = factories.member(project, "cara", "annotator", "lead")

    def answers(i: int) -> dict[str, Any]:
        span = {"field": "text", "start": i % 3, "end": 4 + i % 2, "label": ("who", "what")[i % 5 == 0]}
        return {"intent": LABELS[i % 3], "tags": ["x", "z"][: i % 3], "where": [span][: i % 4], "why": f"because {i}"}

    said = [{(anna, cara)[i % 2]: answers(i), ben: answers(i + (i % 6 == 0))} for i in range(30)]
    strata = [["mail", "chat", "chat"][i % 3] for i in range(30)] + ["mail"] * 70
    rows.draw(
        version,
        said,
        by=lead,
        closing="complete",
        strata=strata,
        singles=70,
        strata_field="source",
        expert=str(ben.uuid),
    )
    runs.compute(Draw.objects.get(), at=LATER)

    lines = lines_of(project)
    path = write(tmp_path, lines)
    results = {run.question_key: run.result for run in Run.objects.all()}

    assert recompute(path)[1] == ""
    assert {key: result["headline"]["key"] for key, result in results.items()} == {
        "intent": "expert_kappa_pooled",
        "tags": "krippendorff_alpha_masi",
        "where": "krippendorff_alpha_nominal",
    }
    assert all("value" in result["weighting"]["weighted"] for result in results.values())
    assert [each["raters"] for each in results["tags"]["strata"] if "by" in each] == [[str(anna.uuid), str(ben.uuid)]]
    assert "something of its own" not in path.read_text(encoding="utf-8")
    marked = next(line for line in lines if line["record"] == "rating" and line["answers"]["where"])
    marked["answers"]["where"][0]["end"] += 3
    checked = json.loads(recompute(write(tmp_path, lines), "--json")[0])["checked"]
    assert [each["question"] for each in checked if each["differences"]] == ["where"]


def test_older_result_is_checked_as_far_as_it_goes(played: Draw, project: Project, tmp_path: Path) -> None:
    lines = lines_of(project)
    result = first(lines, "figures")["result"]
    result["schema"] = 1
    for name in ("merged", "titles", "weighting", "expert", "per_label"):
        del result[name]

    assert recompute(write(tmp_path, lines))[1] == ""
    headline_of(first(lines, "figures"))["value"] += 1e-6
    assert recompute(write(tmp_path, lines))[1].startswith("1 of ")


# -- what the kit holds ------------------------------------------------------------------------------------------------


def test_open_draw_is_left_out_and_nobody_took_a_look(
    played: Draw, project: Project, lead: Membership, anna: Membership, ben: Membership
) -> None:
    opened = rows.draw(played.wave.version, [{anna: "praise", ben: "praise"}], by=lead)
    runs.compute(opened, at=LATER)

    job = jobs.work_now(exporting.start(project, what="kit", file_format="jsonl", by=lead))

    drawn = [line["draw"] for line in lines_of(project) if line["record"] == "draw"]
    assert (drawn, job.result["open_draws"], Look.objects.count()) == ([str(played.uuid)], [], 0)


def test_kit_names_people_by_their_ids_and_holds_no_text(played: Draw, project: Project, anna: Membership) -> None:
    written = json.dumps(lines_of(project))

    assert (str(anna.uuid) in written, "anna" in written, "says something" in written) == (True, False, False)


def test_kit_of_a_neighbour_holds_nothing_of_this_project(played: Draw) -> None:
    other = factories.project("Another")

    assert [line["record"] for line in lines_of(other)] == ["kit"]


# -- what does not follow ----------------------------------------------------------------------------------------------


def change_rating(lines: list[Line]) -> None:
    rating = first(lines, "rating")
    rating["answers"]["intent"] = next(label for label in LABELS if label != rating["answers"]["intent"])


def drop_rating(lines: list[Line]) -> None:
    lines.remove(first(lines, "rating"))


def headline_of(line: Line) -> Line:
    return line["result"]["statistics"][line["result"]["headline"]["key"]]


def change_value(lines: list[Line]) -> None:
    headline_of(first(lines, "figures"))["value"] += 1e-8


def change_interval(lines: list[Line]) -> None:
    headline_of(first(lines, "figures"))["interval"][0] += 0.01


def change_class(lines: list[Line]) -> None:
    entry = first(lines, "figures")["result"]["statistics"]["per_class_kappa"][1]
    entry["value"] = 0.99


def change_label(lines: list[Line]) -> None:
    first(lines, "draw")["questions"][0]["labels"][0]["name"] = "Grumble"


TAMPERED: dict[str, tuple[Callable[[list[Line]], None], str]] = {
    "rating changed": (change_rating, "statistics › cohen_kappa › value"),
    "rating left out": (drop_rating, "statistics › cohen_kappa › value"),
    "value changed": (change_value, "statistics › cohen_kappa › value"),
    "interval changed": (change_interval, "statistics › cohen_kappa › interval › 1"),
    "class changed": (change_class, "statistics › per_class_kappa › praise › value"),
    "label renamed": (change_label, "labels › complaint › name"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_changed_is_named(name: str, kit: list[Line], tmp_path: Path) -> None:
    change, figure = TAMPERED[name]
    change(kit)
    path = write(tmp_path, kit)

    printed, refused = recompute(path)
    answer = json.loads(recompute(path, "--json")[0])

    (checked,) = answer["checked"]
    differing = [each["figure"] for each in checked["differences"]]
    assert figure in differing
    assert refused == f"{len(differing)} of {checked['figures']} figures do not follow from the ratings in {path}."
    assert f"{len(differing)} figures do not follow from the {checked['ratings']} ratings:" in printed
    assert differing[0] in printed.splitlines()[2]
    assert name not in ("value changed", "interval changed", "class changed", "label renamed") or len(differing) == 1


def test_the_wave_with_the_changed_rating_is_the_one_that_differs(
    project: Project, version: Any, lead: Membership, anna: Membership, ben: Membership, tmp_path: Path
) -> None:
    said = [{anna: LABELS[i % 3], ben: LABELS[i % 2]} for i in range(12)]
    # Of two MAJOR versions, so that none pools with the other; the later one says how it differs from the earlier.
    for each in (version, factories.version(project, 2, 0)):
        runs.compute(rows.draw(each, said, by=lead, closing="complete"), at=LATER)
    lines = lines_of(project)
    [line for line in lines if line["record"] == "rating"][-1]["answers"]["intent"] = "complaint"

    checked = json.loads(recompute(write(tmp_path, lines), "--json")[0])["checked"]

    assert [(each["wave"], bool(each["differences"])) for each in checked] == [(1, False), (2, True)]


def test_numbers_are_compared_to_1e_9() -> None:
    stated, found = {"a": 0.5, "b": [1, 2e6], "c": None}, {"a": 0.5 + 1e-10, "b": [1.0, 2e6 + 1e-4], "c": None}

    near = list(recomputing.differences(stated, found))
    far = list(recomputing.differences({"a": 0.5, "n": 1}, {"a": 0.5 + 1e-8, "n": True}))

    assert (near, [each.figure for each in far]) == ([], ["a", "n"])


def test_undefined_in_place_of_a_value_differs() -> None:
    stated, found = {"k": {"value": 1.0}}, {"k": {"undefined": "no_variation"}}

    assert [each.figure for each in recomputing.differences(stated, found)] == ["k › undefined", "k › value"]


# -- refused -----------------------------------------------------------------------------------------------------------


def swap_first(lines: list[Line]) -> None:
    lines[0], lines[1] = lines[1], lines[0]


def repeat_rating(lines: list[Line]) -> None:
    lines.insert(3, lines[2])


def repeat_item(lines: list[Line]) -> None:
    lines.insert(5, lines[2])


def strange_rater(lines: list[Line]) -> None:
    lines[2]["rater"] = "somebody"


def no_answers(lines: list[Line]) -> None:
    del lines[2]["answers"]


def other_schema(lines: list[Line]) -> None:
    lines[0]["schema"] = 99


def unknown_record(lines: list[Line]) -> None:
    lines[2]["record"] = "opinion"


def unknown_task_type(lines: list[Line]) -> None:
    lines[1]["questions"][0]["task_type"] = "boxes"


def repeat_figures(lines: list[Line]) -> None:
    lines.append(lines[-1])


BROKEN: dict[str, tuple[Callable[[list[Line]], None], str]] = {
    "no kit": (swap_first, "Line 1: a kit begins with a line that says so"),
    "rater twice": (repeat_rating, "Line 4: rater "),
    "item in two places": (repeat_item, "Line 6: item "),
    "rater of another draw": (strange_rater, "Line 3: rater somebody is none of the raters of this draw."),
    "no answers": (no_answers, "Line 3 has no 'answers': it is no line of a kit."),
    "another schema": (other_schema, "Line 1: the kit has schema 99, and this version reads 1 to 2."),
    "unknown record": (unknown_record, "Line 3: 'opinion' is no record of a kit."),
    "unknown task type": (unknown_task_type, "Line 2: 'boxes' is no task type."),
    "figures twice": (repeat_figures, "Line 64: figures on 'intent' stand twice."),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_kit_is_refused_with_its_line(name: str, kit: list[Line], tmp_path: Path) -> None:
    change, sentence = BROKEN[name]
    change(kit)
    path = write(tmp_path, kit)

    printed, refused = recompute(path)

    assert (printed, refused.removeprefix(f"{path}: ")[: len(sentence)]) == ("", sentence)


def test_kit_without_figures_is_refused(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, lines_of(project))

    assert recompute(path)[1] == f"{path} holds no figures: there is something to check once a measurement has closed."


def test_figures_that_are_not_there_are_told(kit: list[Line], tmp_path: Path) -> None:
    second = {**first(kit, "draw"), "draw": "9f0c8e44-6a53-4f0b-9a3a-1c1a7a3f2d10", "wave": 2}

    printed, refused = recompute(write(tmp_path, [*kit, second]))

    assert (refused, printed.splitlines()[-1]) == ("", "Wave 2, intent: no figures in the file.")


def test_file_that_is_no_kit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("item,rater,label\n1,a,b\n", encoding="utf-8")

    assert recompute(path)[1].startswith(f"{path}: Line 1 is not JSON")
