"""A project whose guideline changed its labels: old ratings under 1.0, and 2.0 in which `question` is a complaint."""

from datetime import timedelta
from decimal import Decimal

from annotations import draws, publishing, releasing
from annotations.models import Wave
from projects import guidelines, label_plans
from projects.models import GuidelineVersion, Item, Label, Membership, Project
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
LATER = AT + timedelta(days=2)
OLD = ["complaint"] * 4 + ["praise"] * 3 + ["question"] * 3


def rated(project: Project, lead: Membership, anna: Membership, said: list[str] = OLD) -> Wave:
    """A closed wave of singles, `old-0` and so on, each with its label of `said`."""
    factories.items(project, len(said), prefix="old")
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    values = {item.pk: said[int(item.external_id.split("-")[1])] for item in Item.objects.filter(project=project)}
    Team([anna], lambda member, assignment: {"intent": values[assignment.item_id]}).finish()
    draws.finish_waves(at=AT + timedelta(days=1))
    return wave


def published(project: Project, lead: Membership, *readers: Membership, mapped: bool = True) -> GuidelineVersion:
    """Guideline 2.0 without the label `question`, which is merged into `complaint` or retired; read by `readers`."""
    draft = guidelines.draft_of(project, by=lead)
    label = Label.objects.get(question__version=draft, key="question")
    if mapped:
        label_plans.merge(label, into="complaint", by=lead)
    else:
        label_plans.retire(label, becomes="", by=lead)
    made = publishing.publish(draft, change="material", reason="One kind less.", by=lead, at=LATER)
    for member in readers:
        publishing.acknowledge(member, made, at=LATER)
    return made
