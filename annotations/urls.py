"""The pages of `annotations`."""

from django.urls import URLPattern, path

from annotations.views import adjudication, exports, imported, items, labelling, practice, publishing, waves, work

app_name = "annotations"
urlpatterns: list[URLPattern] = [
    path("p/<uuid:project>/label/", labelling.label, name="label"),
    path("p/<uuid:project>/label/undo/", labelling.undo, name="label-undo"),
    path("p/<uuid:project>/label/undo/<uuid:annotation>/", labelling.correct, name="label-correct"),
    path("p/<uuid:project>/label/<uuid:assignment>/", labelling.submit, name="label-submit"),
    path("p/<uuid:project>/label/<uuid:assignment>/skip/", labelling.skip, name="label-skip"),
    path("p/<uuid:project>/label/<uuid:assignment>/draft/", labelling.draft, name="label-draft"),
    path("p/<uuid:project>/work/", work.history, name="my-work"),
    path("p/<uuid:project>/work/skipped/", work.skipped, name="my-skips"),
    path("p/<uuid:project>/work/<uuid:annotation>/", work.my_label, name="my-label"),
    path("p/<uuid:project>/waves/", waves.wave_list, name="waves"),
    path("p/<uuid:project>/waves/new/", waves.wave_open, name="wave-open"),
    path("p/<uuid:project>/waves/not-eligible/<slug:reason>/", waves.not_eligible, name="not-eligible"),
    path("p/<uuid:project>/waves/<uuid:wave>/", waves.wave, name="wave"),
    path("p/<uuid:project>/waves/<uuid:wave>/close/", waves.close, name="wave-close"),
    path("p/<uuid:project>/waves/<uuid:wave>/cover/", waves.release_cover, name="wave-release-cover"),
    path("p/<uuid:project>/waves/<uuid:wave>/resume/", waves.resume, name="wave-resume"),
    path("p/<uuid:project>/waves/<uuid:wave>/give-up/", waves.give_up, name="wave-give-up"),
    path("p/<uuid:project>/ratings/new/", imported.new, name="ratings-new"),
    path("p/<uuid:project>/ratings/<uuid:job>/", imported.detail, name="ratings"),
    path("p/<uuid:project>/ratings/<uuid:job>/fields/", imported.layout, name="ratings-layout"),
    path("p/<uuid:project>/ratings/<uuid:job>/confirm/", imported.confirm, name="ratings-confirm"),
    path("p/<uuid:project>/ratings/<uuid:job>/discard/", imported.discard, name="ratings-discard"),
    path("p/<uuid:project>/adjudication/", adjudication.case_list, name="adjudication"),
    path("p/<uuid:project>/adjudication/next/", adjudication.following, name="adjudication-next"),
    path("p/<uuid:project>/adjudication/<uuid:case>/", adjudication.case, name="adjudication-case"),
    path("p/<uuid:project>/adjudication/<uuid:case>/claim/", adjudication.claim, name="adjudication-claim"),
    path("p/<uuid:project>/adjudication/<uuid:case>/release/", adjudication.release, name="adjudication-release"),
    path("p/<uuid:project>/adjudication/<uuid:case>/resolve/", adjudication.resolve, name="adjudication-resolve"),
    path("p/<uuid:project>/adjudication/<uuid:case>/preview/", adjudication.preview, name="adjudication-preview"),
    path("p/<uuid:project>/adjudication/<uuid:case>/reopen/", adjudication.reopen, name="adjudication-reopen"),
    path("p/<uuid:project>/adjudication/<uuid:case>/example/", adjudication.promote, name="adjudication-example"),
    path("p/<uuid:project>/guideline/draft/publish/", publishing.publish, name="publish"),
    path("p/<uuid:project>/guideline/draft/conflicts/", publishing.conflicts, name="draft-conflicts"),
    path("p/<uuid:project>/guideline/acknowledge/", publishing.acknowledge, name="acknowledge"),
    path("p/<uuid:project>/guideline/practice/", practice.practice, name="practice"),
    path("p/<uuid:project>/guideline/<uuid:version>/readers/", publishing.readers, name="guideline-readers"),
    path("p/<uuid:project>/items/<uuid:item>/history/", items.history, name="item-history"),
    path("p/<uuid:project>/items/<uuid:item>/correct/", items.correct, name="item-correct"),
    path("p/<uuid:project>/exports/", exports.export_list, name="exports"),
    path("p/<uuid:project>/exports/<uuid:job>/file/", exports.download, name="export-file"),
]
