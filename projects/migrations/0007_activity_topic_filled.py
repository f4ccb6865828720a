"""Acts that were written down before the log knew topics get theirs, by their kind as it was then."""

from django.db import migrations

KINDS = {
    "settings": (
        "project_founded",
        "settings_changed",
        "token_made",
        "token_revoked",
        "protocol_changed",
    ),
    "people": (
        "member_added",
        "member_joined",
        "member_invited",
        "invitation_withdrawn",
        "roles_changed",
        "member_left",
        "member_returned",
    ),
    "items": (
        "items_imported",
        "item_corrected",
        "item_erased",
        "ratings_imported",
    ),
    "guideline": (
        "draft_discarded",
        "label_merged",
        "label_split",
        "label_retired",
        "label_becomes",
        "guideline_published",
        "guideline_shown",
        "guideline_hidden",
    ),
    "waves": (
        "wave_opened",
        "wave_closed",
        "wave_finished",
        "wave_given",
        "old_label_chosen",
    ),
    "measurement": (
        "draw_closed",
        "cover_released",
        "overlap_given_up",
        "looked",
        "sample_opened",
        "sample_ended",
        "gate_decided",
        "gate_waived",
    ),
    "conflicts": (
        "case_decided",
        "cases_decided",
        "decision_reopened",
        "label_sent_back",
        "inquiry_answered",
    ),
    "files": (
        "export_started",
    ),
}


def fill(apps, schema_editor):
    rows = apps.get_model("projects", "Activity").objects.filter(topic="")
    for topic, kinds in KINDS.items():
        rows.filter(kind__in=kinds).update(topic=topic)


class Migration(migrations.Migration):
    dependencies = [("projects", "0006_activity_topic")]
    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
