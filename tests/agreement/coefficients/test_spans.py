import pytest

from agreement.coefficients import COEFFICIENTS, spans
from agreement.coefficients.spans import Document, Span
from tests.agreement.coefficients.known_answers import extras, near

CASE = extras("spans")["cases"][0]
EXPECTED = CASE["expected"]
LABELS = ["PER", "ORG", "LOC"]


def document() -> Document:
    return Document(CASE["length"], *(tuple(Span(*span) for span in CASE[side]) for side in "ab"))


def test_exact_f1_is_the_known_one() -> None:
    assert near(spans.exact_f1([document()]).value, EXPECTED["f1_exact_boundary_and_label"])
    assert near(spans.exact_f1([document()], labels=False).value, EXPECTED["f1_exact_boundary"])


def test_overlap_is_the_known_one() -> None:
    matched = spans.mean_overlap([document()], matched_only=True)
    assert matched.n == EXPECTED["matched_pairs"]
    assert near(matched.value, EXPECTED["mean_iou_matched"])
    assert near(spans.mean_overlap([document()]).value, EXPECTED["mean_iou_all"])
    assert near(spans.label_agreement([document()]).value, EXPECTED["label_agreement_on_matched_boundaries"])


def test_units_have_the_known_figures() -> None:
    units = spans.unit_ratings([document()], LABELS)
    assert units.table().tolist() == EXPECTED["token_table"]
    assert near(COEFFICIENTS["cohen_kappa"].function(units).value, EXPECTED["token_labels_kappa"])
    assert near(COEFFICIENTS["percent_agreement"].function(units).value, EXPECTED["token_percent_agreement"])
    assert near(spans.unit_f1([document()], LABELS).value, EXPECTED["token_f1_non_O"])


def test_f1_is_symmetric_and_pools_documents() -> None:
    small = Document(5, (Span(0, 1, "PER"),), (Span(0, 1, "PER"),))
    turned = [Document(each.length, each.second, each.first) for each in (document(), small)]
    assert spans.exact_f1(turned).value == spans.exact_f1([document(), small]).value == pytest.approx(2 * 2 / 10)


def test_no_span_by_anyone_is_undefined() -> None:
    empty = [Document(5, (), ())]
    assert spans.exact_f1(empty).undefined == "no_pairs"
    assert spans.unit_f1(empty, LABELS).undefined == "no_pairs"
    assert spans.f1_interval(empty, lambda each: spans.exact_matches(each, labels=True), seed=1) is None


def test_overlap_threshold_decides_what_matches() -> None:
    pair = [Document(9, (Span(0, 4, "PER"),), (Span(2, 6, "PER"),))]
    assert [spans.overlap_f1(pair, threshold=threshold).value for threshold in (0.0, 0.5)] == [1.0, 0.0]


@pytest.mark.parametrize("threshold", [-0.1, 1.0, 7.0])
def test_an_overlap_threshold_out_of_range_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=f"An overlap threshold is 0 or more and below 1, not {threshold:g}"):
        spans.overlap_f1([document()], threshold=threshold)


def test_interval_resamples_documents() -> None:
    documents = [document()] * 3 + [Document(4, (Span(0, 2, "PER"),), (Span(0, 2, "PER"),))] * 3
    interval = spans.f1_interval(documents, lambda each: spans.exact_matches(each, labels=True), seed=1)
    value = spans.exact_f1(documents).value
    assert interval is not None
    assert value is not None
    assert interval.low < value < interval.high


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        ((Span(0, 2, "PER"), Span(1, 3, "ORG")), "overlaps another of the same rater"),
        ((Span(0, 2, "CITY"),), "Label 'CITY' of a span"),
    ],
)
def test_units_refuse_what_they_cannot_say(first: tuple[Span, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        spans.unit_ratings([Document(5, first, ())], LABELS)


def test_spans_outside_their_document_are_refused() -> None:
    with pytest.raises(ValueError, match="after the 5 units"):
        Document(5, (Span(3, 6, "PER"),), ())
    with pytest.raises(ValueError, match="holds no unit"):
        Span(3, 3, "PER")
