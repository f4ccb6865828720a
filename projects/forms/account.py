"""Forms of an account: log in, sign up, one's own details."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, UserCreationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from projects import log_ins, members, zones
from projects.models import User


class LogInForm(AuthenticationForm):
    """User name or e-mail address, with the brake on guessing."""

    error_messages = {
        "invalid_login": gettext_lazy("No account has this name with this password. Capital letters count."),
        "inactive": gettext_lazy("This account is switched off."),
    }

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields["username"].label = _("User name or e-mail address")

    def clean(self) -> dict[str, Any]:
        typed, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if not typed or not password:
            return self.cleaned_data
        known = members.find_user(typed)
        name = known.username if known else typed
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        try:
            log_ins.check(name, address)
        except log_ins.TooManyAttempts as error:
            raise ValidationError(error.message, code=error.code) from error
        self.cleaned_data["username"] = name
        try:
            cleaned = super().clean()
        except ValidationError:
            log_ins.failed(name, address)
            off = User.objects.filter(username=typed, is_active=False).first()
            if off and off.check_password(password):  # only who has the password learns it
                self.confirm_login_allowed(off)
            raise
        log_ins.succeeded(name, address)
        return cleaned


# Django's forms are generic for the type checker only.
if TYPE_CHECKING:
    UserForm = UserCreationForm[User]
else:
    UserForm = UserCreationForm


class SignUpForm(UserForm):
    """A new account."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=150, required=False)

    class Meta:
        model = User
        fields = ["username", "email"]
        labels = {"username": gettext_lazy("User name"), "email": gettext_lazy("E-mail address")}
        help_texts = {"username": gettext_lazy("Letters, digits and . + - _ are allowed.")}

    field_order = ["name", "username", "email", "password1", "password2"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].required = True
        self.fields["name"].widget.attrs["autocomplete"] = "name"
        self.fields["username"].widget.attrs["autocomplete"] = "username"
        self.fields["username"].widget.attrs.pop("autofocus", None)
        self.fields["email"].widget.attrs["autocomplete"] = "email"

    def clean_username(self) -> str:
        # A user name that looks like somebody's address would stand in the way of their log-in by e-mail.
        if "@" in (username := super().clean_username() or ""):
            raise ValidationError(_("A user name has no “@” in it."))
        return username

    def clean_email(self) -> str:
        return _free_address(self.cleaned_data["email"])

    def save(self, commit: bool = True) -> User:
        self.instance.first_name = self.cleaned_data["name"]
        user: User = super().save(commit)
        return user


class AccountForm(forms.Form):
    """One's own name, address and time zone."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=150,
        required=False,
        help_text=gettext_lazy("Shown to the members of your projects instead of your user name."),
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"), required=False)
    email = forms.EmailField(
        label=gettext_lazy("E-mail address"), widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    password = forms.CharField(
        label=gettext_lazy("Your password"),
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=gettext_lazy("Needed only when the e-mail address changes."),
    )

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        initial = {"name": user.get_full_name(), "email": user.email, "time_zone": user.time_zone}
        super().__init__(data, initial=initial)
        self.user = user
        zone = self.fields["time_zone"]
        assert isinstance(zone, forms.ChoiceField)  # noqa: S101 - tells mypy what the class above says
        servers = _("as the server (%(zone)s)") % {"zone": settings.TIME_ZONE}
        zone.choices = [("", servers), *((name, name) for name in sorted(zones.names()))]

    def clean_email(self) -> str:
        return _free_address(self.cleaned_data["email"], but=self.user)

    def clean(self) -> dict[str, Any]:
        # Who finds an open session must not be able to move the password reset to an address of theirs.
        changed = self.cleaned_data.get("email", self.user.email) != self.user.email
        if changed and not self.user.check_password(self.cleaned_data.get("password", "")):
            self.add_error("password", _("Type your password to change the e-mail address."))
        return self.cleaned_data

    def save(self) -> None:
        self.user.first_name, self.user.last_name = self.cleaned_data["name"], ""
        self.user.email, self.user.time_zone = self.cleaned_data["email"], self.cleaned_data["time_zone"]
        self.user.save(update_fields=["first_name", "last_name", "email", "time_zone"])


def _free_address(address: str, *, but: User | None = None) -> str:
    """`address`, unless another account has it: people log in with it."""
    others = User.objects.filter(email__iexact=address)
    if (others.exclude(pk=but.pk) if but else others).exists():
        raise ValidationError(_("Another account has this e-mail address: log in with it, or reset its password."))
    return address
