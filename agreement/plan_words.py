"""What `planning` refuses, in words."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agreement.planning import Refused

REFUSALS = {
    "half_width": gettext_noop("A half-width must be above 0, not %(half_width)g."),
    "power_below_error": gettext_noop("A power of %(power)g is no more than the error of the test, %(alpha)g."),
    "raters": gettext_noop("Agreement needs two raters or more, not %(raters)s."),
    "limits": gettext_noop("The limits must lie on either side of kappa, between 0 and 1."),
    "kappa_of_one_rating": gettext_noop("kappa must lie above -1 and not above 1, not %(kappa)g."),
    "no_rater": gettext_noop("There must be one rater or more, not %(raters)s."),
    "all_so_badly": gettext_noop("%(raters)s raters cannot all agree as badly as kappa %(kappa)g with each other."),
    "no_item": gettext_noop("At least one item must be rated, not %(items)s."),
    "small_batch": gettext_noop(
        "The plan needs %(items)s items, and the batch has %(batch)s: %(missing)s are missing."
    ),
    "above_kappa_max": gettext_noop("kappa %(kappa)g exceeds %(largest).4f, the largest that these margins allow."),
    "below_kappa_min": gettext_noop("kappa %(kappa)g is below the smallest that these margins allow."),
    "one_share": gettext_noop("Two label shares or more are needed."),
    "empty_share": gettext_noop("Label shares must be above 0: leave out labels that nobody will use."),
    "sum_of_shares": gettext_noop("Label shares must add up to 1, not %(sum)g."),
    "kappa": gettext_noop("%(name)s must be 0 or more and below 1, not %(kappa)g."),
    "same_kappa": gettext_noop("Two kappas of %(kappa)g cannot be told apart: give two different ones."),
    "level_range": gettext_noop("The level must lie between 0 and 1, not %(value)g."),
    "power_range": gettext_noop("The power must lie between 0 and 1, not %(value)g."),
    "alpha_range": gettext_noop("alpha must lie between 0 and 1, not %(value)g."),
    "margin_range": gettext_noop("A margin must lie between 0 and 1, not %(value)g."),
}


def refusal(refused: Refused) -> str:
    """Why there is no such plan."""
    return _(REFUSALS[refused.code]) % refused.numbers
