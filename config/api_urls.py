"""The API's addresses: the same nouns as the pages."""

from django.urls import URLPattern, include, path

from agreement import api as agreement
from agreement import api_samples as samples
from annotations import api as annotations
from annotations import api_activity
from annotations import api_imported as ratings
from annotations import api_labelling as labelling
from annotations import api_old_labels as old_labels
from projects import api as projects
from projects import api_guideline as guideline

app_name = "api"

IN_PROJECT: list[URLPattern] = [
    path("", projects.Project.as_view(), name="project"),
    path("archive/", projects.Archive.as_view(), name="archive"),
    path("members/", projects.Members.as_view(), name="members"),
    path("activity/", api_activity.ActivityList.as_view(), name="activity"),
    path("members/<uuid:member>/", projects.MemberDetail.as_view(), name="member"),
    path("protocol/", agreement.Protocol.as_view(), name="protocol"),
    path("versions/", guideline.Versions.as_view(), name="versions"),
    path("versions/<uuid:version>/", guideline.Version.as_view(), name="version"),
    path("versions/<uuid:version>/examples/", guideline.Examples.as_view(), name="examples"),
    path("versions/<uuid:version>/acknowledgement/", labelling.Acknowledge.as_view(), name="acknowledge"),
    path("draft/", guideline.Draft.as_view(), name="draft"),
    path("draft/questions/", guideline.DraftQuestions.as_view(), name="draft-questions"),
    path("draft/questions/<slug:question>/", guideline.DraftQuestion.as_view(), name="draft-question"),
    path("draft/questions/<slug:question>/labels/", guideline.DraftLabels.as_view(), name="draft-labels"),
    path("draft/questions/<slug:question>/labels/<slug:label>/", guideline.DraftLabel.as_view(), name="draft-label"),
    path("draft/examples/", guideline.DraftExamples.as_view(), name="draft-examples"),
    path("draft/examples/<uuid:example>/", guideline.DraftExample.as_view(), name="draft-example"),
    path("draft/publication/", annotations.Publish.as_view(), name="publish"),
    path("styles/<slug:question>/", guideline.Styles.as_view(), name="styles"),
    path("keys/", guideline.OwnKeys.as_view(), name="own-keys"),
    path("items/", projects.Items.as_view(), name="items"),
    path("items/<uuid:item>/", projects.ItemDetail.as_view(), name="item"),
    path("imports/", projects.Imports.as_view(), name="imports"),
    path("imports/<uuid:job>/", projects.ImportDetail.as_view(), name="import"),
    path("imports/<uuid:job>/confirmation/", projects.ImportConfirm.as_view(), name="import-confirm"),
    path("ratings/", ratings.Ratings.as_view(), name="ratings"),
    path("ratings/<uuid:job>/", ratings.RatingsDetail.as_view(), name="ratings-upload"),
    path("ratings/<uuid:job>/confirmation/", ratings.RatingsConfirm.as_view(), name="ratings-confirm"),
    path("jobs/<uuid:job>/", projects.JobDetail.as_view(), name="job"),
    path("waves/", annotations.Waves.as_view(), name="waves"),
    path("waves/not-eligible/", annotations.NotEligible.as_view(), name="not-eligible"),
    path("waves/<uuid:wave>/", annotations.WaveDetail.as_view(), name="wave"),
    path("waves/<uuid:wave>/closing/", annotations.Close.as_view(), name="wave-close"),
    path("waves/<uuid:wave>/people/", annotations.Give.as_view(), name="wave-give"),
    path("waves/<uuid:wave>/cover/", annotations.ReleaseCover.as_view(), name="wave-cover"),
    path("waves/<uuid:wave>/giving-up/", annotations.GiveUp.as_view(), name="wave-give-up"),
    path("old-labels/", old_labels.OldLabels.as_view(), name="old-labels"),
    path("old-labels/wave/", old_labels.Again.as_view(), name="old-labels-again"),
    path("samples/", samples.Samples.as_view(), name="samples"),
    path("samples/bridges/", samples.Bridges.as_view(), name="bridges"),
    path("samples/repeats/", samples.Repeats.as_view(), name="repeats"),
    path("samples/<uuid:sample>/", samples.SampleDetail.as_view(), name="sample"),
    path("waves/<uuid:wave>/spot-checks/", samples.SpotChecks.as_view(), name="spot-checks"),
    path("samples/<uuid:sample>/checks/", samples.Checks.as_view(), name="checks"),
    path("samples/<uuid:sample>/end/", samples.EndSample.as_view(), name="sample-end"),
    path("task/", labelling.NextTask.as_view(), name="task"),
    path("assignments/<uuid:assignment>/submission/", labelling.Submit.as_view(), name="submit"),
    path("assignments/<uuid:assignment>/skip/", labelling.Skip.as_view(), name="skip"),
    path("assignments/<uuid:assignment>/draft/", labelling.Unfinished.as_view(), name="unfinished"),
    path("assignments/<uuid:assignment>/question/", labelling.Ask.as_view(), name="ask"),
    path("answers/", labelling.Answers.as_view(), name="answers"),
    path("annotations/", labelling.OwnAnnotations.as_view(), name="annotations"),
    path("annotations/<uuid:annotation>/correction/", labelling.Correct.as_view(), name="correct"),
    path("agreement/", agreement.Agreement.as_view(), name="agreement"),
    path("gates/", agreement.Gates.as_view(), name="gates"),
    path("draws/<uuid:draw>/waiver/", agreement.Waive.as_view(), name="waive"),
    path("conflicts/", annotations.Conflicts.as_view(), name="conflicts"),
    path("conflicts/<uuid:case>/", annotations.Conflict.as_view(), name="conflict"),
    path("conflicts/<uuid:case>/claim/", annotations.Claim.as_view(), name="claim"),
    path("conflicts/<uuid:case>/taking-back/", annotations.TakeBack.as_view(), name="take-back"),
    path("conflicts/<uuid:case>/resolution/", annotations.Resolve.as_view(), name="resolve"),
    path("conflicts/<uuid:case>/reopening/", annotations.Reopen.as_view(), name="reopen"),
    path("conflicts/<uuid:case>/example/", annotations.Promote.as_view(), name="promote"),
    path("inquiries/", annotations.Inquiries.as_view(), name="inquiries"),
    path("inquiries/<uuid:inquiry>/answer/", annotations.InquiryAnswer.as_view(), name="inquiry-answer"),
    path("inquiries/<uuid:inquiry>/example/", annotations.InquiryExample.as_view(), name="inquiry-example"),
    path("exports/", annotations.Exports.as_view(), name="exports"),
    path("exports/<uuid:job>/file/", annotations.ExportFile.as_view(), name="export-file"),
]
urlpatterns = [
    path("projects/", projects.Projects.as_view(), name="projects"),
    path("projects/<uuid:project>/", include(IN_PROJECT)),
]
