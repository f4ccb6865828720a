"""The pages of `projects`."""

from django.urls import URLPattern, path

from projects.views import accounts, members, projects

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
]
