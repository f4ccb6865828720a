from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("projects")

    def ready(self) -> None:
        from projects import deleting, digests, import_runs, jobs, mailing
        from projects.enums import JobKind

        jobs.register(JobKind.MAIL, mailing.send)
        jobs.register(JobKind.DIGEST, digests.send)
        jobs.register(JobKind.IMPORT_PREVIEW, import_runs.check)
        jobs.register(JobKind.IMPORT, import_runs.copy)
        jobs.register(JobKind.DELETE, deleting.run)
