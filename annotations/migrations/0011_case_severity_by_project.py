"""The order of the queue by how common a confusion is in the project, no more in its draw."""

from django.db import migrations
from django.db.models import Count, F

BEHIND_THE_GAP = 1e-4


def weigh(apps, schema_editor):
    cases = apps.get_model("annotations", "Case").objects.using(schema_editor.connection.alias)
    draws = apps.get_model("annotations", "Draw").objects.using(schema_editor.connection.alias)
    of_project = {}
    for draw, project in draws.values_list("pk", "wave__project"):
        of_project.setdefault(project, []).append(draw)
    for own in of_project.values():
        rows = cases.filter(draw__in=own)
        rows.update(severity=F("gap") + BEHIND_THE_GAP / 2)
        groups = rows.order_by().values_list("question_key", "pair_key").annotate(n=Count("pk")).filter(n__gt=1)
        for question, pair, n in list(groups):
            same = rows.filter(question_key=question, pair_key=pair)
            same.update(severity=F("gap") + BEHIND_THE_GAP * n / (n + 1))


class Migration(migrations.Migration):
    dependencies = [("annotations", "0010_case_priority")]

    operations = [migrations.RunPython(weigh, migrations.RunPython.noop)]
