"""Plans in words, and their form."""

import pytest

from agreement import planning, plans
from agreement.plan_forms import PlanForm
from agreement.plans import Wish

SENT = {"kappa": "0.6", "shares": "70, 30", "half_width": ".1", "against": "0.4", "power": "80", "ratings": "2"}
WISH = Wish(kappa=0.6, shares=(0.7, 0.3), half_width=0.1, against=0.4, power=0.8, ratings=2)


def test_form_reads_per_cent() -> None:
    form = PlanForm(SENT)

    assert (form.is_valid(), form.wish) == (True, WISH)


@pytest.mark.parametrize("shares", ["70;30", "70 30", "70 %, 30 %", "70.2, 29.9"])
def test_shares_as_people_type_them(shares) -> None:
    form = PlanForm({**SENT, "shares": shares})

    assert form.is_valid()
    assert form.wish.shares == pytest.approx((0.7, 0.3), abs=0.002)
    assert sum(form.wish.shares) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("shares", "50, 20", "The shares add up to 70, not 100."),
        ("shares", "100", "1 shares: write 2 to 100, one for each label."),
        ("shares", "100, 0", "Each share is more than 0 and less than 100: leave out unused labels."),
        ("shares", "a, b", "“a, b” is no list of numbers: write one for each label, by commas, such as 70, 20, 10."),
        ("shares", "nan, 50", "Each share is more than 0 and less than 100: leave out unused labels."),
        ("kappa", "1.2", "Ensure this value is less than or equal to 0.99."),
        ("kappa", "nan", "Enter a number."),
        ("half_width", "0", "Ensure this value is greater than or equal to 0.005."),
        ("ratings", "1", "Ensure this value is greater than or equal to 2."),
    ],
)
def test_numbers_that_make_no_plan_are_refused(name, value, sentence) -> None:
    form = PlanForm({**SENT, name: value})

    assert form.errors == {name: [sentence]}


def test_plan_says_what_planning_computes() -> None:
    plan = plans.plan(WISH, fresh=2000)

    width = planning.for_width(0.6, 0.1, (0.7, 0.3)).items
    apart = planning.to_tell_apart(0.4, 0.6, (0.7, 0.3)).items
    assert (plan.width.items, plan.apart.items) == (width, apart)
    assert plan.width.share_percent == planning.share_percent(width, 2000)
    assert plan.width.sentences[0].startswith(f"{width} items, rated by both of two raters: at kappa .60")


def test_share_of_the_fresh_items() -> None:
    enough, few = plans.plan(WISH, fresh=10_000).width, plans.plan(WISH, fresh=10).width

    assert enough.sentences[-1] == f"That is {enough.share_percent:g} % of the 10000 fresh items."
    assert few.sentences[-1] == f"10 items are fresh, {few.items - 10} too few: import more, or be content with less."
    assert few.share_percent is None


def test_wider_intervals_need_fewer_items() -> None:
    widths = plans.plan(WISH, fresh=0).widths

    assert [row.half_width for row in widths] == [".05", ".075", ".1", ".15", ".2"]
    assert [row.items for row in widths] == sorted((row.items for row in widths), reverse=True)
    assert [row.chosen for row in widths] == [False, False, True, False, False]


def test_equal_kappas_are_refused_with_a_sentence_and_the_rest_is_answered() -> None:
    plan = plans.plan(Wish(0.6, (0.7, 0.3), 0.1, against=0.6, power=0.8, ratings=2), fresh=100)

    assert plan.apart.refused == "Two kappas of 0.6 cannot be told apart: give two different ones."
    assert (plan.apart.items, plan.width.refused, [row.items for row in plan.further]) == (None, "", [None] * 4)


def test_third_rating_is_weighed_in_items_and_in_ratings() -> None:
    plan = plans.plan(WISH, fresh=0)
    two, three = plan.further[:2]

    more = three.total - two.total
    assert plan.further_sentence == (
        f"A third rating brings the items from {two.items} to {three.items}, {two.items - three.items} fewer, and "
        + (f"costs {more} ratings more in all." if more > 0 else f"saves {-more} ratings in all.")
    )
    assert (two.reliability, three.reliability) == (".75", ".82")


@pytest.mark.parametrize("counts", [[1, 1, 1], [997, 2, 1], [5, 4], [1] * 60, [0.0001, 1, 1]])
def test_whole_percent_adds_up_and_leaves_no_label_out(counts) -> None:
    shares = plans.whole_percent(counts)

    assert (round(sum(shares), 9), min(shares) >= 0.01, len(shares)) == (1, True, len(counts))
