"""Django's own admin shows runs and gate decisions, read-only."""

from agreement.models import GateDecision, Run, Watch
from projects.admin import register_read_only

register_read_only(
    Run, "draw", "question_key", "n", "drawn", "interim", "engine", "created_at", search_fields=["digest"]
)
register_read_only(Watch, "draw", "computed_at", "final", list_filter=["final"])
register_read_only(GateDecision, "draw", "outcome", "by", "at", list_filter=["outcome"])
