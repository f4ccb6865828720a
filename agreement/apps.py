from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgreementConfig(AppConfig):
    name = "agreement"
    verbose_name = _("agreement")

    def ready(self) -> None:
        from agreement import acts, kits, news, sample_rows
        from annotations import exporting
        from projects import activities, notices

        activities.register(*acts.KINDS)
        notices.register(news.GATE)

        title = _("Figures with their ratings, to recompute (JSONL)")
        exporting.register("kit", exporting.Export(title, None, kits.rows, kits.total, ("jsonl",), closed_only=True))
        title = _("Repeats, bridges and spot checks: their figures")
        figures = exporting.Export(title, sample_rows.FIELDS, sample_rows.rows, sample_rows.total, closed_only=True)
        exporting.register("samples", figures)
