"""The closed sets of words that `annotations` stores."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class WaveState(TextChoices):
    IMPORTING = "importing", _("being imported")
    OPENING = "opening", _("opening")
    OPEN = "open", _("open")
    CLOSED = "closed", _("closed")


class WaveKind(TextChoices):
    """What a wave is for. Those of SAMPLES are numbered by themselves and hold a sample of items that were rated."""

    FRESH = "fresh", _("fresh items")
    RELABEL = "relabel", _("labelled again")
    REPEAT = "repeat", _("repeat")
    BRIDGE = "bridge", _("bridge")
    SPOTCHECK = "spotcheck", _("spot check")
    TIEBREAK = "tiebreak", _("third ratings of wave")


SAMPLES = (WaveKind.REPEAT, WaveKind.BRIDGE, WaveKind.SPOTCHECK, WaveKind.TIEBREAK)


class OldLabel(TextChoices):
    """What becomes of single labels that were given under an earlier MAJOR."""

    MAPPING = "mapping", _("what the guideline’s mapping says")
    KEEP = "keep", _("kept as they are")
    MAP = "map", _("mapped to another label")
    AGAIN = "again", _("labelled again")


class DrawState(TextChoices):
    IMPORTING = "importing", _("being imported")
    OPEN = "open", _("open")
    CLOSED = "closed", _("closed")
    ABANDONED = "abandoned", _("abandoned")


class Closing(TextChoices):
    COMPLETE = "complete", _("complete")
    SHORT = "short", _("short")
    EARLY = "early", _("early")


class SlotKind(TextChoices):
    MEASURED = "measured", _("measured")
    SINGLE = "single", _("single")
    TIEBREAK = "tiebreak", _("tie-break")
    REPEAT = "repeat", _("repeat")
    BRIDGE = "bridge", _("bridge")
    SPOTCHECK = "spotcheck", _("spot check")
    IMPORTED = "imported", _("imported")


class SlotState(TextChoices):
    WAITING = "waiting", _("waiting for the rating before it")
    OPEN = "open", _("open")
    CLAIMED = "claimed", _("claimed")
    RATED = "rated", _("rated")
    CANCELLED = "cancelled", _("cancelled")


class AssignmentState(TextChoices):
    OPEN = "open", _("open")
    SUBMITTED = "submitted", _("submitted")
    SKIPPED = "skipped", _("skipped")
    LAPSED = "lapsed", _("lapsed")


class SkipReason(TextChoices):
    UNCLEAR_ITEM = "unclear_item", _("the item cannot be understood")
    GUIDELINE = "guideline", _("the guideline does not cover it")
    WRONG_LANGUAGE = "wrong_language", _("a language I do not read")
    DISTRESSING = "distressing", _("I would rather not read this")
    OTHER = "other", _("something else")


class CaseState(TextChoices):
    OPEN = "open", _("open")
    WAITING = "waiting", _("waiting for a third rating")
    DECIDED = "decided", _("decided")


class Cause(TextChoices):
    GUIDELINE_SILENT = "guideline_silent", _("the guideline is silent")
    GUIDELINE_AMBIGUOUS = "guideline_ambiguous", _("the guideline is ambiguous")
    SLIP = "slip", _("a slip")
    SUBJECTIVE = "subjective", _("truly subjective")
    BAD_ITEM = "bad_item", _("a bad item")


class ResolutionKind(TextChoices):
    ADJUDICATED = "adjudicated", _("adjudicated")
    CONSENSUS = "consensus", _("decided together")
    MAJORITY = "majority", _("majority")
    MEDIAN = "median", _("median")


class ResolutionRule(TextChoices):
    """What decides a conflict; where it cannot, a lead does. `rules` says which question takes which."""

    LEAD = "lead", _("a lead")
    MAJORITY = "majority", _("the majority of the measured ratings")
    MEDIAN = "median", _("the median of the measured ratings")
    THIRD_MAJORITY = "third_majority", _("a third rating, then the majority")
    THIRD_MEDIAN = "third_median", _("a third rating, then the median")


class ThirdOutcome(TextChoices):
    """What came of waiting for a third rating: all but the first leave the conflict to a lead."""

    DECIDED = "decided", _("decided with the third rating")
    TIE = "tie", _("the third rating did not settle it")
    NOBODY = "nobody", _("nobody who labels here may give a third rating")
    ENDED = "ended", _("a third rating is not asked for any more")
    TAKEN_BACK = "taken_back", _("a lead took it back before it was decided")


class Outcome(TextChoices):
    """How a second opinion came out."""

    AGREED = "agreed", _("the two said the same")
    DIFFERED = "differed", _("the two differed")
    WITHDRAWN = "withdrawn", _("taken back")


class Answer(TextChoices):
    """What the other rater said to a proposal."""

    CONFIRMED = "confirmed", _("confirmed")
    REFUSED = "refused", _("refused")
    REPLACED = "replaced", _("replaced by another")


class GoldStatus(TextChoices):
    """How a final label came about; `gold.py` has the order in which they are tried."""

    SUPERSEDED = "superseded", _("superseded")
    OPEN = "open", _("open")
    CONSENSUS = "consensus", _("consensus")
    ADJUDICATED = "adjudicated", _("adjudicated")
    MEDIAN = "median", _("median")
    MAJORITY = "majority", _("majority")
    CORRECTED = "corrected", _("corrected")
    AGREED = "agreed", _("agreed")
    WITHIN_TOLERANCE = "within_tolerance", _("within tolerance")
    PARTIAL = "partial", _("partial")
    MAPPED = "mapped", _("mapped")
    SINGLE = "single", _("single")
    UNLABELLED = "unlabelled", _("unlabelled")


class RatingProblem(TextChoices):
    """Why a row of a file of ratings, or an item of it, is left out."""

    UNREADABLE = "unreadable", _("the row cannot be read")
    NO_ID = "no_id", _("the id is missing or empty")
    BAD_ID = "bad_id", _("the id is too long, or no text or number")
    EMPTY = "empty", _("nothing to show: no row of the item has a text, and the project does not know it")
    BAD_RATINGS = "bad_ratings", _("the ratings are not in the form that was chosen")
    BAD_VALUE = "bad_value", _("a rating is no label")
    NO_RATER = "no_rater", _("a rating without a rater")
    BAD_RATER = "bad_rater", _("the rater is too long, or no text or number")
    RATER_TWICE = "rater_twice", _("the rater has rated the item in an earlier row")
    ID_IN_FILE = "id_in_file", _("an earlier row is the same item, and nobody knows whose ratings these are")
    TOO_MANY = "too_many", _("the item has more ratings than can be taken")
    OTHER_TEXT = "other_text", _("the text of the item differs from an earlier row, or from the project's item")
    GIVEN_OUT = "given_out", _("the item was given out or rated in this project before")
    OPEN_WAVE = "open_wave", _("the item is in a wave that is open")
    IN_GUIDELINE = "in_guideline", _("the item is an example in the guideline")
