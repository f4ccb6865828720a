"""The report and its files: who may have them, what is in them, and what they keep back."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agreement import gates, methods, reporting, runs
from agreement.charts import number
from annotations import conflicts
from annotations.models import Draw, Look
from annotations.rating_layouts import Layout
from projects.models import GuidelineVersion, Label, Membership, Question
from tests import factories
from tests.agreement import rows
from tests.annotations import ratings_files
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
SAID = [("praise", "praise")] * 6 + [("complaint", "complaint")] * 5 + [("praise", "complaint")] * 4
KINDS = ("json", "csv", "latex", "methods")


@pytest.fixture
def closed(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    return measured(version, lead, anna, ben)


def measured(version: GuidelineVersion, by: Membership, *raters: Membership, **about) -> Draw:
    said = [dict(zip(raters, pair, strict=True)) for pair in SAID]
    about = {"closing": "complete", "rules": {"intent": {"threshold": 0.7}}, **about}
    draw = rows.draw(version, said, by=by, **about)
    runs.compute(draw, at=LATER)
    return draw


def address(draw: Draw, kind: str = "", query: str = "") -> str:
    project = draw.wave.project.uuid
    made = (
        reverse("agreement:report-file", args=[project, kind]) if kind else reverse("agreement:report", args=[project])
    )
    return f"{made}?{query}" if query else made


def text(response) -> str:
    return " ".join(response.content.decode().split())


# -- access and blindness ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["", *KINDS])
@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, closed, kind, who, status) -> None:
    assert client_of(request.getfixturevalue(who)).get(address(closed, kind)).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, closed) -> None:
    assert client.get(address(closed)).status_code == 302


@pytest.mark.parametrize("query", ["version=9.9", "draw=no", f"draw={'0' * 32}"])
def test_what_is_not_there_is_not_found(client_of, closed, lead, query) -> None:
    assert client_of(lead).get(address(closed, query=query)).status_code == 404


def test_file_of_no_kind_is_not_found(client_of, closed, lead) -> None:
    assert client_of(lead).get(address(closed, "pdf")).status_code == 404


def test_report_has_no_draw_of_a_neighbour(client_of, closed, lead) -> None:
    other = factories.version(factories.project("Neighbours"))
    boss, cara, dan = (factories.member(other.project, *who) for who in (("nora", "lead"), ("cara",), ("dan",)))
    theirs = measured(other, boss, cara, dan)
    client = client_of(lead)

    found = json.loads(client.get(address(closed, "json")).content)

    assert [draw["draw"] for draw in found["draws"]] == [str(closed.uuid)]
    assert client.get(address(closed, query=f"draw={theirs.uuid}")).status_code == 404


def test_open_draw_is_not_in_a_report_and_nobody_has_looked(client_of, version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben, closing="", size=40)
    client = client_of(lead)

    page, found = text(client.get(address(draw))), json.loads(client.get(address(draw, "json")).content)

    assert ("There is nothing to report yet" in page, found["draws"], Look.objects.count()) == (True, [], 0)


@pytest.mark.parametrize("kind", ["", *KINDS])
def test_report_names_nobody_unless_asked(client_of, closed, admin, kind) -> None:
    client = client_of(admin)
    uuids = [str(uuid) for uuid in Membership.objects.exclude(pk=admin.pk).values_list("uuid", flat=True)]
    unnamed = text(client.get(address(closed, kind, "tables=yes"))).split("<main")[-1]
    named = text(client.get(address(closed, kind, "tables=yes&names=yes"))).split("<main")[-1]

    assert [word for word in ("anna", "ben", *uuids) if word in unnamed] == []
    assert ("anna" in named) is (kind in ("", "json"))


def test_report_keeps_back_who_said_which_from_those_who_decide(client_of, closed, lead) -> None:
    conflicts.open_cases(closed, at=LATER)
    query = "tables=yes&names=yes"

    page = text(client_of(lead).get(address(closed, query=query))).split("<main")[-1]
    found = json.loads(client_of(lead).get(address(closed, "json", query)).content)

    assert [word in page for word in ("anna", "ben", "Items by what")] == [False, False, False]
    assert "table" not in found["draws"][0]["questions"][0]["result"]


# -- what is in it ----------------------------------------------------------------------------------------------------


def test_page_has_sentence_protocol_engine_and_methods(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(address(closed, query="tables=yes")))

    assert "Concord, engine" in page
    assert "threshold .70 on the lower bound of its interval." in page
    assert "15 of 15 items were drawn at random and rated independently by 2 of the 2 annotators" in page
    assert "What this figure cannot tell" in page


def test_no_word_for_a_number_is_printed(client_of, closed, lead) -> None:
    client = client_of(lead)
    found = " ".join(text(client.get(address(closed, kind, "tables=yes"))).lower() for kind in ("", *KINDS))

    words = ("substantial", "moderate", "almost perfect", "excellent", "fair agreement", "nan")
    assert [word for word in words if word in found.split()] == []


def test_version_chooses_its_draws(client_of, closed, version, lead, anna, ben) -> None:
    second = measured(factories.version(version.project, 2, 0), lead, anna, ben)

    found = json.loads(client_of(lead).get(address(closed, "json", "version=2.0")).content)

    assert [draw["draw"] for draw in found["draws"]] == [str(second.uuid)]


def test_json_has_protocol_gate_and_result(client_of, closed, lead) -> None:
    found = json.loads(client_of(lead).get(address(closed, "json")).content)["draws"][0]

    question = found["questions"][0]
    assert (found["protocol"]["questions"]["intent"]["threshold"], found["gate"]["outcome"]) == (0.7, "hold")
    # 11 of 15 agree, margins 10 and 6 of 15: (11/15 - 105/225) / (1 - 105/225).
    assert question["result"]["statistics"]["cohen_kappa"]["value"] == pytest.approx(0.5)


def test_csv_has_a_row_for_each_statistic(client_of, closed, lead) -> None:
    stream = io.StringIO(client_of(lead).get(address(closed, "csv")).content.decode())
    found = list(csv.DictReader(stream))

    (headline,) = [row for row in found if row["headline"] == "true"]
    assert (headline["statistic"], float(headline["value"])) == ("cohen_kappa", pytest.approx(0.5))
    assert [row["name"] for row in found if row["statistic"] == "per_class_kappa"] == [
        label.name for label in Label.objects.filter(question__version=closed.wave.version).order_by("order")
    ]


def test_waiver_is_printed_with_every_figure(client_of, closed, lead) -> None:
    gates.waive(closed, reason="Only a 50% pilot.", by=lead, at=LATER)
    client = client_of(lead)
    files = {kind: client.get(address(closed, kind)).content.decode() for kind in KINDS}

    (row, *_more) = csv.DictReader(io.StringIO(files["csv"]))
    assert (row["waived_by"], row["waiver_reason"]) == ("lea", "Only a 50% pilot.")
    assert row["waived_at"].startswith("20")
    words = "The gate was waived by lea on "
    assert (words in files["methods"], words in files["latex"]) == (True, True)
    assert (r"Only a 50\% pilot." in files["latex"], "Only a 50% pilot." in files["methods"]) == (True, True)
    assert text(client.get(address(closed))).split('id="methods"')[0].count("Only a 50% pilot.") == 1


def test_csv_has_the_threshold_and_what_it_said_beside_the_figure(client_of, closed, lead) -> None:
    found = list(csv.DictReader(io.StringIO(client_of(lead).get(address(closed, "csv")).content.decode())))

    (headline,) = [row for row in found if row["headline"] == "true"]
    other = next(row for row in found if row["statistic"] == "percent_agreement")
    assert [headline[name] for name in ("question_text", "threshold", "threshold_on", "gate", "waived_by")] == [
        "What is the intent?",
        "0.7",
        "low",
        "hold",
        "",
    ]
    assert (other["threshold"], other["gate"]) == ("", "")
    assert headline["gate_of_question"] == other["gate_of_question"]
    assert headline["gate_of_question"].startswith("hold: lower bound .")


def test_question_without_a_threshold_passes_nowhere(client_of, version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben, rules={})
    client = client_of(lead)
    files = {kind: client.get(address(draw, kind)).content.decode() for kind in KINDS}

    page = text(client.get(address(draw))).split("<main")[-1]
    found = json.loads(files["json"])["draws"][0]
    assert (found["gate"]["outcome"], found["questions"][0]["gate"]["outcome"]) == ("no threshold",) * 2
    assert "No threshold was declared for it, so it was not judged." in files["methods"]
    assert "Not judged: no threshold is set" in page
    assert [name for name, told in {**files, "page": page}.items() if re.search(r"\bpass(es|ed)?\b", told)] == []


def test_methods_tell_threshold_skips_strata_and_seed(client_of, version, lead, anna, ben) -> None:
    draw = measured(version, lead, anna, ben, strata=["mail"] * 10 + ["chat"] * 5, strata_field="source")
    said = client_of(lead).get(address(draw, "methods")).content.decode()

    assert "The draw was made in strata by “source”." in said
    assert "0 of 30 times that a measured item was shown it was skipped (0.0 %)." in said
    assert "The gate declared beforehand for it said hold: lower bound ." in said
    assert f", seed {runs.newest(draw, 'intent').result['seed']})" in said


def test_skips_have_their_rate() -> None:
    result = {"skips": [{"n": 3}, {"n": 2}], "versions": [{"ratings": 80}, {"ratings": 15}]}

    assert methods._skips(result) == "5 of 100 times that a measured item was shown it was skipped (5.0 %)."
    assert methods._skips({"skips": [], "versions": []}) == ""


def test_report_without_tables_has_what_stands_behind_its_figures(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(address(closed)))

    # 11 of 15 agree; margins 10 and 6 of 15.
    assert "Observed agreement .73, expected by chance .47." in page
    assert ("What stands out in the ratings" in page, "What the figures cannot tell" in page) == (True, True)


def test_difference_of_two_versions_is_in_the_page_and_every_file(client_of, closed, version, lead, anna, ben) -> None:
    """1.0 has 11 of 15 agreeing (kappa .5), 2.0 all 15 of them but one."""
    said = [{anna: a, ben: b} for a, b in SAID[:6] * 2 + SAID[6:8] + SAID[-1:]]
    second = rows.draw(factories.version(version.project, 2, 0), said, by=lead, closing="complete")
    runs.compute(second, at=LATER)
    client = client_of(lead)
    # Of one version alone, too: the one before is not in the report then, and its agreement is still told.
    files = {kind: client.get(address(second, kind, "version=2.0")).content.decode() for kind in KINDS}
    page = text(client.get(address(second, query="version=2.0")))

    kept = runs.newest(second, "intent").result["difference"]
    found = json.loads(files["json"])["draws"][0]["questions"][0]["difference"]
    assert (found["value"], found["low"]) == (kept["value"], kept["interval"][0])
    assert (found["observed_new"], found["observed_old"]) == (pytest.approx(14 / 15), pytest.approx(11 / 15))
    row, percent = [row for row in csv.DictReader(io.StringIO(files["csv"])) if row["part"] == "difference"]
    assert (row["name"], float(row["value"]), float(row["high"])) == ("1.0", kept["value"], kept["interval"][1])
    assert float(percent["value"]) == pytest.approx(3 / 15)
    told = "73.3 % before, 93.3 % now: +20.0 points"
    assert (told in page, told in files["methods"], told.replace("%", r"\%") in files["latex"]) == (True, True, True)
    shown = number(kept["value"])
    assert f"2.0 minus 1.0 & Cohen's kappa & +{shown} & " in files["latex"]
    assert (f"2.0 minus 1.0, was +{shown} (95 % interval" in files["methods"], f">+{shown}<" in page) == (True, True)


def test_latex_escapes_what_people_write(client_of, closed, lead) -> None:
    Question.objects.update(text=r"50% & _more_ \input{x} #1 $x^2~")

    found = client_of(lead).get(address(closed, "latex")).content.decode()

    line = next(line for line in found.splitlines() if line.startswith("50"))
    cells = line.split(" & ")
    assert cells[0] == r"50\% \& \_more\_ \textbackslash{}input\{x\} \#1 \$x\textasciicircum{}2\textasciitilde{}"
    assert (cells[1:5], len(cells)) == (["1.0", "1", "Cohen's kappa", ".50"], 10)
    assert cells[6].startswith("smoothed bootstrap over items with ")
    assert (cells[7:9], cells[9].startswith("hold: lower bound .")) == ([r"73.3 \%", "15"], True)


def test_name_of_a_project_cannot_leave_the_comment_or_the_header(client_of, closed, lead) -> None:
    project = closed.wave.project
    project.name = 'A "b"\n\\input{x}'
    project.save()

    response = client_of(lead).get(address(closed, "latex"))

    assert [line for line in response.content.decode().splitlines() if line.startswith("\\input")] == []
    assert response["Content-Disposition"].startswith('attachment; filename="agreement-a-b-inputx-')


def test_undefined_figure_is_said_with_its_reason(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, [{anna: "praise", ben: "praise"}] * 3, by=lead, closing="complete")
    runs.compute(draw, at=LATER)
    client = client_of(lead)

    assert "is undefined on 3 items: Only one label was used" in client.get(address(draw, "methods")).content.decode()
    assert " & undefined &  &  & 100.0 \\% & 3 & no threshold " in client.get(address(draw, "latex")).content.decode()


def test_many_sheets_are_not_shown_at_once(client_of, closed, lead, monkeypatch) -> None:
    monkeypatch.setattr(reporting, "MOST_SHEETS", 0)

    page = text(client_of(lead).get(address(closed, query="tables=yes")))

    assert ("choose a version above" in page, "What this figure cannot tell" in page) == (True, False)


def test_report_costs_the_same_queries_for_more_draws(client_of, version, lead, anna, ben) -> None:
    client = client_of(lead)
    first = measured(version, lead, anna, ben)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(address(first, query="tables=yes"))
        return len(captured)

    with_one = queries()
    for _more in range(2):
        measured(version, lead, anna, ben)

    assert queries() == with_one


NOBODY = Layout("nested", shown=("text",), id_field="id", labels={"intent": "ratings"}, anonymous=True)
FOUND = [
    {"id": n, "text": f"text {n}", "ratings": pair}
    for n, pair in enumerate((["praise", "praise"], ["praise", "complaint"], ["complaint", "complaint"]))
]


def test_anonymous_ratings_have_a_report_without_raters_or_gate(client_of, lead) -> None:
    wave = ratings_files.bring(lead, FOUND, NOBODY)
    runs.compute(wave.draw, at=timezone.now())
    client = client_of(lead)

    page = text(client.get(address(wave.draw, query="tables=yes&names=yes")))

    assert ("Imported ratings have no gate." in page, "Pairs of raters" in page) == (True, False)
    assert "Ratings made elsewhere were compared on 3 items" in page
    assert [client.get(address(wave.draw, kind)).status_code for kind in KINDS] == [200] * 4
    assert client.get(reverse("agreement:draw", args=[lead.project.uuid, wave.draw.uuid, "intent"])).status_code == 200
