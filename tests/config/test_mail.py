import pytest

from config.env import EnvError
from config.mail import EXPECTED, Mail, parse

pytestmark = pytest.mark.one_database
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("url", "mail"),
    [
        ("", Mail()),
        ("console://", Mail()),
        ("file:///folder/sent", Mail("django.core.mail.backends.filebased.EmailBackend", folder="/folder/sent")),
        ("smtp://relay:25", Mail(SMTP, host="relay", port=25)),
        ("smtp://host", Mail(SMTP, host="host", port=587, starttls=True)),
        ("smtps://host", Mail(SMTP, host="host", port=465, tls=True)),
        (
            "smtp://a%40b.org:p%2Fw@host:2525",
            Mail(SMTP, host="host", port=2525, user="a@b.org", password="p/w", starttls=True),
        ),
    ],
)
def test_an_address_says_how_mail_is_sent(url: str, mail: Mail) -> None:
    assert parse(url) == mail


@pytest.mark.parametrize("url", ["smtp://", "smtp://:587", "file://", "file://host/folder", "smtp://host:many"])
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(EnvError) as caught:
        parse(url)

    assert str(caught.value) == f"CONCORD_EMAIL_URL={url}: expected {EXPECTED}."
