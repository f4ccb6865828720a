"""The pages of `agreement`."""

from django.urls import path

from agreement.views import decisions, draws, effects, home, label_changes, planning, protocol, reports, samples

app_name = "agreement"
urlpatterns = [
    path("p/<uuid:project>/", home.home, name="home"),
    path("p/<uuid:project>/protocol/", protocol.protocol, name="protocol"),
    path("p/<uuid:project>/agreement/", draws.agreement, name="agreement"),
    path("p/<uuid:project>/agreement/report/", reports.report, name="report"),
    path("p/<uuid:project>/agreement/report/<slug:kind>/", reports.file, name="report-file"),
    path("p/<uuid:project>/adjudication/report/", decisions.decisions, name="decisions"),
    path("p/<uuid:project>/samples/<uuid:sample>/", samples.sample, name="sample"),
    path("p/<uuid:project>/waves/<uuid:wave>/checks/", samples.checks, name="wave-checks"),
    path("p/<uuid:project>/planning/", planning.planning, name="planning"),
    path("p/<uuid:project>/effect/", effects.effect, name="effect"),
    path("p/<uuid:project>/effect/<uuid:version>/", effects.effect, name="effect-version"),
    path("p/<uuid:project>/effect/example/<uuid:lineage>/", effects.effect_of_example, name="effect-example"),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/changes/",
        label_changes.label_changes,
        name="label-changes",
    ),
    path("p/<uuid:project>/agreement/<uuid:draw>/waive/", draws.waive, name="waive"),
    path("p/<uuid:project>/agreement/<uuid:draw>/<slug:question>/", draws.draw, name="draw"),
    path("p/<uuid:project>/agreement/<uuid:draw>/<slug:question>/by/", draws.by, name="by-field"),
    path("p/<uuid:project>/agreement/<uuid:draw>/<slug:question>/time/", draws.over_time, name="by-time"),
    path(
        "p/<uuid:project>/agreement/<uuid:draw>/<slug:question>/cell/<slug:one>/<slug:other>/",
        draws.cell,
        name="cell",
    ),
]
