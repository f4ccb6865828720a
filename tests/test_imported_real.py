"""Real ratings that were made elsewhere, brought in as finished waves: every figure equals the reference to 1e-9."""

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import File
from django.utils import timezone

from agreement import runs
from agreement.coefficients import summarise
from agreement.coefficients.ratings import Ratings
from agreement.models import GateDecision
from annotations import adjudication, eligibility, imported, publishing
from annotations.adjudication import ExampleText
from annotations.models import Annotation, Case, Draw, Wave
from annotations.rating_layouts import NESTED, Layout
from projects import guidelines, jobs
from projects.enums import Change
from projects.models import Job, Membership, Project
from tests import factories

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("CONCORD_SHARED_DATA", ROOT.parent / "shared" / "data"))
PAIRS, SNIPPETS = SHARED / "paraphrase.jsonl", SHARED / "movie_snippets.jsonl"
SETS = SHARED / "nli_multilabel.jsonl"
REFERENCE = json.loads((ROOT / "tests" / "reference" / "real_data.json").read_text(encoding="utf-8"))
pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not PAIRS.exists(), reason=f"the real ratings are not here: {PAIRS.name}"),
]


def lead_of_scale(low: int, high: int, *, gap: float = 0.0) -> Membership:
    """The lead of a project with one ordered question whose steps are the numbers from `low` to `high`."""
    project = factories.project("Elsewhere", shown_fields=[])
    project.protocol |= {"questions": {"same": {"conflict_gap": gap}}}
    project.save()
    version = factories.version(project, questions=False)
    steps = [str(step) for step in range(low, high + 1)]
    factories.question(version, "same", steps, task_type="ordinal", values=[float(step) for step in steps])
    return factories.member(project, "lea", "lead")


def bring(lead: Membership, path: Path, layout: Layout | None = None) -> Wave:
    with path.open("rb") as stream:
        job = imported.start(lead.project, upload=File(stream, name=path.name), by=lead, layout=layout)
    jobs.work_now(job)
    assert (job.state, job.message) == ("done", "")
    made = imported.confirm(job, by=lead)
    jobs.work_now(made)
    assert (made.state, made.message) == ("done", "")
    wave = imported.wave_of(made)
    assert wave is not None
    return wave


def figures(wave: Wave) -> dict[str, Any]:
    assert [draw.pk for draw in runs.sweep(at=timezone.now())] == [wave.draw.pk]
    run = runs.newest(wave.draw, "same")
    assert run is not None
    return run.result


@pytest.mark.django_db
def test_eleven_points_by_four_people_and_the_way_back_into_the_guideline() -> None:
    lead = lead_of_scale(-5, 5)
    wave = bring(lead, PAIRS)
    assert (wave.number, wave.state, wave.is_imported, wave.size, wave.draw.size) == (1, "closed", True, 500, 500)
    assert Annotation.objects.filter(draw=wave.draw).count() == 2000
    result, expected = figures(wave), REFERENCE["paraphrase_11_point"]
    names = {str(member.uuid): member.alias for member in lead.project.memberships.all()}
    assert {"|".join(sorted(names[rater] for rater in pair["raters"])) for pair in result["pairs"]} == set(
        expected["pairs"]
    )
    for pair in result["pairs"]:
        wanted = expected["pairs"]["|".join(sorted(names[rater] for rater in pair["raters"]))]
        found = pair["statistics"]
        assert pair["n"] == wanted["n"]
        assert found["cohen_kappa"]["observed"] == pytest.approx(wanted["po"], abs=1e-9)
        assert found["cohen_kappa"]["value"] == pytest.approx(wanted["cohen_kappa"], abs=1e-9)
        assert found["cohen_kappa"]["se"] == pytest.approx(wanted["ase"], abs=1e-9)
        assert found["weighted_kappa_linear"]["value"] == pytest.approx(wanted["kappa_linear"], abs=1e-9)
        assert found["weighted_kappa_quadratic"]["value"] == pytest.approx(wanted["kappa_quadratic"], abs=1e-9)
    for scale in ("nominal", "ordinal", "interval"):
        alpha = result["statistics"][f"krippendorff_alpha_{scale}"]["value"]
        assert alpha == pytest.approx(expected[f"alpha_{scale}"], abs=1e-9)
    assert result["statistics"]["fleiss_kappa"]["value"] == pytest.approx(expected["fleiss_kappa"], abs=1e-9)
    assert not GateDecision.objects.exists()
    the_way_back(lead, wave)


def the_way_back(lead: Membership, wave: Wave) -> None:
    """The lead decides the worst conflict, makes an example of it, publishes 2.0, and finds no fresh item."""
    case = Case.objects.filter(draw=wave.draw).order_by("-severity", "pk").first()
    assert case is not None
    assert case.gap == 1.0
    assert case.first.comment
    at = timezone.now()
    resolution = adjudication.resolve(
        case,
        value="0",
        rationale="Half of it is asked.",
        cause="guideline_silent",
        by=lead,
        at=at,
        example=ExampleText(content=case.item.content),
    )
    assert resolution.example is not None
    draft = guidelines.draft_of(lead.project, by=lead)
    published = publishing.publish(
        draft, change=Change.MATERIAL, reason="The middle of the scale", by=lead, at=at + timedelta(seconds=1)
    )
    assert (published.number, published.examples.count()) == ("2.0", 1)
    ledger = eligibility.ledger(lead.project)
    assert (ledger.fresh, ledger.counts["adjudicated"], ledger.counts["rated"]) == (0, 1, 499)


@pytest.mark.django_db
def test_sets_of_labels_by_four_people_who_did_not_see_everything() -> None:
    project = factories.project("Elsewhere", shown_fields=[])
    version = factories.version(project, questions=False)
    factories.question(version, "same", ("contradiction", "entailment", "neutral"), task_type="multilabel")
    wave = bring(factories.member(project, "lea", "lead"), SETS)
    rows = [json.loads(line) for line in SETS.read_text(encoding="utf-8").splitlines()]
    given = {(row["id"], rater): sorted(labels) for row in rows for rater, labels in row["labels"].items()}
    annotations = Annotation.objects.filter(wave_item__wave=wave).select_related("item", "member")
    assert {(one.item.external_id, one.member.alias): one.answers["same"] for one in annotations} == given
    assert wave.draw.size == sum(len(row["labels"]) > 1 for row in rows)
    alphas = {row["label"]: row["value"] for row in figures(wave)["statistics"]["per_class_alpha"]}
    wanted = {name: known["alpha_nominal"] for name, known in REFERENCE["nli_per_label_binary"].items()}
    assert alphas == pytest.approx(wanted, abs=1e-9)


def alphas(rows: list[dict[str, Any]]) -> dict[str, float]:
    """What the kernel says of the rows as they stand in the file; of the whole file it equals the reference."""
    steps = list(range(-4, 5))
    width = max(len(row["ratings"]) for row in rows)
    items = [row["ratings"] + [None] * (width - len(row["ratings"])) for row in rows]
    ratings = Ratings.from_patterns(items, [1.0] * len(items), steps, values=steps, exchangeable=True)
    found = summarise(ratings, "ordinal", seed=1)["statistics"]
    return {scale: found[f"krippendorff_alpha_{scale}"]["value"] for scale in ("nominal", "ordinal", "interval")}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "items",
    [400, pytest.param(10605, marks=[pytest.mark.stress, pytest.mark.timeout(900)])],
    ids=["the first 400", "all"],
)
def test_anonymous_ratings_have_no_figure_by_pair_or_rater(items: int, tmp_path: Path) -> None:
    lines = SNIPPETS.read_text(encoding="utf-8").splitlines()[:items]
    file = tmp_path / "snippets.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    lead = lead_of_scale(-4, 4, gap=0.9)
    layout = Layout(NESTED, shown=("text",), id_field="id", labels={"same": "ratings"}, anonymous=True)
    wave = bring(lead, file, layout)
    most = max(len(json.loads(line)["ratings"]) for line in lines)
    assert (wave.size, wave.draw.size, wave.ratings_per_item) == (items, items, most)
    assert Draw.objects.get().is_anonymous
    result, expected = figures(wave), alphas([json.loads(line) for line in lines])
    if items == REFERENCE["movie_snippets"]["items"]:
        expected = {scale: REFERENCE["movie_snippets"][f"alpha_{scale}"] for scale in expected}
    for scale, alpha in expected.items():
        assert result["statistics"][f"krippendorff_alpha_{scale}"]["value"] == pytest.approx(alpha, abs=1e-9)
    assert (result["pairs"], result["raters"], result["anonymous"]) == ([], [], True)
    assert [name for name in result["statistics"] if "pairwise" in name or "cohen" in name] == []
    assert (result["headline"]["key"], len(result["uses"])) == ("krippendorff_alpha_ordinal", 1)
    assert Job.objects.exclude(file="").count() == 0
    assert Project.objects.get().shown_fields == ["text"]
