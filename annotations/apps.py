from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AnnotationsConfig(AppConfig):
    name = "annotations"
    verbose_name = _("annotations")

    def ready(self) -> None:
        from annotations import acts, cases, exporting, imported_rows, imported_waves, inquiries, news, opening
        from projects import activities, jobs, navigation
        from projects.enums import JobKind

        activities.register(*acts.KINDS)
        jobs.register(JobKind.EXPORT, exporting.run)
        jobs.register(JobKind.OPEN_WAVE, opening.run)
        jobs.register(JobKind.RATINGS_PREVIEW, imported_rows.check)
        jobs.register(JobKind.RATINGS_IMPORT, imported_waves.run)
        news.register()
        navigation.beside("adjudicate", cases.for_member)
        navigation.beside("inquiries", inquiries.waiting)
        navigation.beside("work", inquiries.news)
