"""Intra-rater agreement of repeats: known tables, the pooled figure, undefined, the file and the API."""

import csv
import io

import pytest
from rest_framework.authtoken.models import Token

from agreement import repeat_figures, sample_rows
from agreement.coefficients import intrarater
from annotations import exporting
from annotations.models import Annotation
from projects import jobs
from tests.annotations import rated_twice

C, P, Q = "complaint", "praise", "question"
# Anna: observed .8, by chance (6 x 6 + 4 x 4) / 100 = .52; kappa (.8 - .52) / .48.
ANNA = [(C, C)] * 5 + [(C, P)] + [(P, P)] * 3 + [(P, C)]


@pytest.fixture
def given(project, lead, anna, ben):
    return rated_twice.given(project, lead, {anna: ANNA, ben: [(Q, Q)] * 3})


def test_each_person_and_all_pooled(given, anna, ben):
    (figures,) = repeat_figures.of_wave(given)

    rows = {row.member: row for row in figures.people}
    assert rows[anna].kappa["value"] == pytest.approx(0.28 / 0.48)
    assert (rows[anna].kappa["n"], rows[anna].kappa["observed"]) == (10, pytest.approx(0.8))
    assert rows[anna].kappa["interval"][0] < 0.28 / 0.48 < rows[anna].kappa["interval"][1]
    assert (rows[anna].same["found"], rows[anna].same["n"], rows[anna].same["method"]) == (8, 10, "wilson")
    labels = (C, P, Q)
    parts = {
        name: intrarater.repeated([a for a, _b in pairs], [b for _a, b in pairs], labels)
        for name, pairs in {"anna": ANNA, "ben": [(Q, Q)] * 3}.items()
    }
    assert figures.pooled.kappa["value"] == pytest.approx(intrarater.pooled(parts).value)
    assert figures.pooled.kappa["n"] == 13
    assert figures.table == [[5, 1, 0], [1, 3, 0], [0, 0, 3]]


def test_one_label_alone_is_undefined_with_the_reason(given, ben):
    (figures,) = repeat_figures.of_wave(given)

    own = next(row for row in figures.people if row.member == ben)
    assert (own.kappa["undefined"], "value" in own.kappa) == ("no_variation", False)
    assert own.same["value"] == 1.0


def test_what_was_corrected_after_the_window_is_not_measured_again(given):
    before = [one.to_json() for one in repeat_figures.of_wave(given)]
    Annotation.objects.update(latest={"intent": "question"})

    assert [one.to_json() for one in repeat_figures.of_wave(given)] == before


def test_the_same_record_gives_the_same_figures(given):
    assert [one.to_json() for one in repeat_figures.of_wave(given)] == [
        one.to_json() for one in repeat_figures.of_wave(given)
    ]


def test_sets_have_the_share_of_equal_answers_alone(project, version, lead, anna):
    version.questions.update(task_type="multilabel")
    given = rated_twice.given(project, lead, {anna: [([C], [C]), ([C, P], [P, C]), ([P], [Q])]}, otherwise=[P])

    (figures,) = repeat_figures.of_wave(given)

    assert figures.pooled.kappa["undefined"] == "not_offered"
    assert (figures.pooled.same["found"], figures.pooled.same["n"]) == (2, 3)


def test_the_file_has_a_row_for_each_figure(given, project, lead):
    exporting.start(project, what="samples", file_format="csv", by=lead)
    jobs.run_waiting(limit=1)
    job = project.jobs.get(kind="export")

    rows = list(csv.DictReader(io.TextIOWrapper(exporting.download(job, lead), encoding="utf-8-sig")))

    assert [(row["sample"], row["rater"], row["n"], row["found"]) for row in rows if row["found"]] == [
        ("repeat 1", "pooled", "13", "11"),
        ("repeat 1", "anna", "10", "8"),
        ("repeat 1", "ben", "3", "3"),
    ]
    assert all("intra-rater" in row["measure"] for row in rows)
    assert next(row for row in rows if row["rater"] == "ben")["undefined"].startswith("Only one label")


def test_an_open_repeat_is_in_no_file(given, project, lead):
    type(given).samples.update(state="open")

    assert list(sample_rows.rows(project, [])) == []
    ratings = [row for _done, row in exporting.EXPORTS["ratings"].rows(project, [])]
    assert {row["kind"] for row in ratings} == {"single"}


def test_the_ratings_file_names_the_sample(given, project):
    rows = [row for _done, row in exporting.EXPORTS["ratings"].rows(project, []) if row["kind"] == "repeat"]

    assert {(row["sample"], row["wave"], row["measured"]) for row in rows} == {("repeat 1", None, False)}
    assert len(rows) == 13


def test_the_api_gives_and_ends_it(given, project, lead, client):
    headers = {"Authorization": f"Token {Token.objects.create(user=lead.user).key}"}
    address = f"/api/v1/projects/{project.uuid}/samples/"

    made = client.post(
        f"{address}repeats/", {"each": 2, "items_between": 5, "days_between": 0}, "application/json", headers=headers
    )
    open_one = client.get(f"{address}{made.json()['uuid']}/", headers=headers).json()
    ended = client.post(f"{address}{made.json()['uuid']}/end/", headers=headers).json()
    listed = client.get(address, headers=headers).json()["results"]

    assert (made.status_code, open_one["name"], open_one["seed"], open_one["size"]) == (201, "repeat 2", None, 4)
    assert (ended["state"], len(ended["seed"])) == ("closed", 64)
    assert [row["name"] for row in listed] == ["repeat 2", "repeat 1"]
    first = client.get(f"{address}{given.uuid}/", headers=headers).json()
    assert first["figures"][0]["value"] == pytest.approx(repeat_figures.of_wave(given)[0].pooled.kappa["value"])
