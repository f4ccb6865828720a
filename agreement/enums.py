"""The closed sets of words that `agreement` stores."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class GateOutcome(TextChoices):
    NOT_ENOUGH = "not_enough", _("not enough data")
    HOLD = "hold", _("hold")
    PASS = "pass", _("pass")
    WAIVED = "waived", _("waived")
