from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("projects")

    def ready(self) -> None:
        from projects import importing, jobs, mailing
        from projects.enums import JobKind

        jobs.register(JobKind.MAIL, mailing.send)
        jobs.register(JobKind.IMPORT_PREVIEW, importing.check)
        jobs.register(JobKind.IMPORT, importing.copy)
