"""The pages of `projects`."""

from django.urls import URLPattern, path

from projects.views import accounts, drafts, examples, guidelines, imports, items, jobs, members, projects, questions

app_name = "projects"
urlpatterns: list[URLPattern] = [
    path("login/", accounts.LogIn.as_view(), name="login"),
    path("logout/", accounts.LogOut.as_view(), name="logout"),
    path("sign-up/", accounts.sign_up, name="sign-up"),
    path("account/", accounts.account, name="account"),
    path("account/token/", accounts.token, name="account-token"),
    path("account/password/", accounts.PasswordChange.as_view(), name="password-change"),
    path("password-reset/", accounts.PasswordReset.as_view(), name="password-reset"),
    path("password-reset/sent/", accounts.PasswordResetSent.as_view(), name="password-reset-sent"),
    path("password-reset/<uidb64>/<token>/", accounts.PasswordResetConfirm.as_view(), name="password-reset-confirm"),
    path("join/<str:token>/", members.join, name="join"),
    path("", projects.project_list, name="project-list"),
    path("projects/new/", projects.project_create, name="project-create"),
    path("p/<uuid:project>/settings/", projects.settings, name="settings"),
    path("p/<uuid:project>/members/", members.member_list, name="members"),
    path("p/<uuid:project>/members/add/", members.add, name="member-add"),
    path("p/<uuid:project>/members/invite/", members.invite, name="member-invite"),
    path("p/<uuid:project>/members/<uuid:member>/", members.edit, name="member"),
    path("p/<uuid:project>/members/<uuid:member>/leave/", members.deactivate, name="member-deactivate"),
    path("p/<uuid:project>/members/<uuid:member>/return/", members.reactivate, name="member-reactivate"),
    path(
        "p/<uuid:project>/members/invitations/<uuid:invitation>/withdraw/", members.withdraw, name="invitation-withdraw"
    ),
    path("p/<uuid:project>/guideline/", guidelines.guideline, name="guideline"),
    path("p/<uuid:project>/guideline/versions/", guidelines.versions, name="guideline-versions"),
    path("p/<uuid:project>/guideline/compare/", guidelines.compare, name="guideline-compare"),
    path("p/<uuid:project>/guideline/<uuid:version>/", guidelines.version, name="guideline-version"),
    path(
        "p/<uuid:project>/guideline/<uuid:old>/differences/<uuid:new>/",
        guidelines.differences,
        name="guideline-differences",
    ),
    path("p/<uuid:project>/guideline/styles/<slug:question>/", guidelines.label_styles, name="guideline-styles"),
    path("p/<uuid:project>/guideline/draft/", drafts.text, name="guideline-draft"),
    path("p/<uuid:project>/guideline/draft/start/", drafts.start, name="guideline-draft-start"),
    path("p/<uuid:project>/guideline/draft/text/", drafts.save_text, name="guideline-draft-text"),
    path("p/<uuid:project>/guideline/draft/preview/", drafts.preview, name="guideline-draft-preview"),
    path("p/<uuid:project>/guideline/draft/changes/", drafts.changes, name="guideline-draft-changes"),
    path("p/<uuid:project>/guideline/draft/discard/", drafts.discard, name="guideline-draft-discard"),
    path("p/<uuid:project>/guideline/draft/questions/", questions.questions, name="guideline-questions"),
    path("p/<uuid:project>/guideline/draft/questions/new/", questions.question_new, name="guideline-question-new"),
    path("p/<uuid:project>/guideline/draft/question/<slug:question>/", questions.question, name="guideline-question"),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/move/",
        questions.question_move,
        name="guideline-question-move",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/remove/",
        questions.question_remove,
        name="guideline-question-remove",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/labels/",
        questions.labels_add,
        name="guideline-labels-add",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/labels/<slug:label>/",
        questions.label,
        name="guideline-label",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/labels/<slug:label>/move/",
        questions.label_move,
        name="guideline-label-move",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/labels/<slug:label>/remove/",
        questions.label_remove,
        name="guideline-label-remove",
    ),
    path(
        "p/<uuid:project>/guideline/draft/question/<slug:question>/example/",
        examples.example_new,
        name="guideline-example-new",
    ),
    path("p/<uuid:project>/guideline/draft/examples/", examples.example_list, name="guideline-examples"),
    path("p/<uuid:project>/guideline/draft/examples/<uuid:example>/", examples.example, name="guideline-example"),
    path(
        "p/<uuid:project>/guideline/draft/examples/<uuid:example>/remove/",
        examples.example_remove,
        name="guideline-example-remove",
    ),
    path("p/<uuid:project>/items/", items.item_list, name="items"),
    path("p/<uuid:project>/items/<uuid:item>/", items.detail, name="item"),
    path("p/<uuid:project>/imports/new/", imports.new, name="import-new"),
    path("p/<uuid:project>/imports/<uuid:job>/", imports.detail, name="import"),
    path("p/<uuid:project>/imports/<uuid:job>/fields/", imports.fields, name="import-fields"),
    path("p/<uuid:project>/imports/<uuid:job>/confirm/", imports.confirm, name="import-confirm"),
    path("p/<uuid:project>/imports/<uuid:job>/discard/", imports.discard, name="import-discard"),
    path("p/<uuid:project>/jobs/<uuid:job>/", jobs.job, name="job"),
]
