"""The API's addresses: the same nouns as the pages."""

from django.urls import URLPattern, include, path

from agreement import api as agreement
from annotations import api as annotations
from projects import api as projects

app_name = "api"

IN_PROJECT: list[URLPattern] = [
    path("", projects.Project.as_view(), name="project"),
    path("members/", projects.Members.as_view(), name="members"),
    path("versions/", projects.Versions.as_view(), name="versions"),
    path("versions/<uuid:version>/", projects.Version.as_view(), name="version"),
    path("versions/<uuid:version>/examples/", projects.Examples.as_view(), name="examples"),
    path("versions/<uuid:version>/acknowledgement/", annotations.Acknowledge.as_view(), name="acknowledge"),
    path("draft/", projects.Draft.as_view(), name="draft"),
    path("draft/examples/", projects.DraftExamples.as_view(), name="draft-examples"),
    path("draft/publication/", annotations.Publish.as_view(), name="publish"),
    path("items/", projects.Items.as_view(), name="items"),
    path("items/<uuid:item>/", projects.ItemDetail.as_view(), name="item"),
    path("imports/", projects.Imports.as_view(), name="imports"),
    path("imports/<uuid:job>/confirmation/", projects.ImportConfirm.as_view(), name="import-confirm"),
    path("jobs/<uuid:job>/", projects.JobDetail.as_view(), name="job"),
    path("waves/", annotations.Waves.as_view(), name="waves"),
    path("waves/<uuid:wave>/", annotations.WaveDetail.as_view(), name="wave"),
    path("waves/<uuid:wave>/closing/", annotations.CloseDraw.as_view(), name="wave-close"),
    path("task/", annotations.NextTask.as_view(), name="task"),
    path("assignments/<uuid:assignment>/submission/", annotations.Submit.as_view(), name="submit"),
    path("assignments/<uuid:assignment>/skip/", annotations.Skip.as_view(), name="skip"),
    path("annotations/", annotations.OwnAnnotations.as_view(), name="annotations"),
    path("annotations/<uuid:annotation>/correction/", annotations.Correct.as_view(), name="correct"),
    path("agreement/", agreement.Agreement.as_view(), name="agreement"),
    path("gates/", agreement.Gates.as_view(), name="gates"),
    path("draws/<uuid:draw>/waiver/", agreement.Waive.as_view(), name="waive"),
    path("conflicts/", annotations.Conflicts.as_view(), name="conflicts"),
    path("conflicts/<uuid:case>/", annotations.Conflict.as_view(), name="conflict"),
    path("conflicts/<uuid:case>/resolution/", annotations.Resolve.as_view(), name="resolve"),
    path("conflicts/<uuid:case>/reopening/", annotations.Reopen.as_view(), name="reopen"),
    path("exports/", annotations.Exports.as_view(), name="exports"),
    path("exports/<uuid:job>/file/", annotations.ExportFile.as_view(), name="export-file"),
]
urlpatterns = [
    path("projects/", projects.Projects.as_view(), name="projects"),
    path("projects/<uuid:project>/", include(IN_PROJECT)),
]
