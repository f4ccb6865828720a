from typing import Any

import pytest

from config.env import Env, EnvError, without_password

pytestmark = pytest.mark.one_database


def test_unset_and_empty_mean_the_default() -> None:
    env = Env({"EMPTY": " "})

    assert [
        env.text("EMPTY", "x"),
        env.flag("EMPTY", default=True),
        env.whole("UNSET", 7, at_least=1),
        env.url("UNSET", schemes=("redis",)),
        env.one_of("UNSET", "INFO", choices=("INFO",)),
        env.zone("UNSET", "UTC"),
        env.listed("EMPTY", ("a", "b")),
    ] == ["x", True, 7, "", "INFO", "UTC", ["a", "b"]]


def test_values_are_read_by_type() -> None:
    env = Env(
        {
            "FLAG": "No",
            "WHOLE": "12",
            "URL": "redis://h:1/0",
            "LEVEL": "debug",
            "ZONE": "Europe/Berlin",
            "LIST": "a, b,",
        }
    )

    assert [
        env.flag("FLAG", default=True),
        env.whole("WHOLE", 1, at_least=1),
        env.url("URL", schemes=("redis",)),
        env.one_of("LEVEL", "INFO", choices=("INFO", "DEBUG")),
        env.zone("ZONE", "UTC"),
        env.listed("LIST"),
    ] == [False, 12, "redis://h:1/0", "DEBUG", "Europe/Berlin", ["a", "b"]]


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda e: e.flag("X", default=True), "perhaps", "X=perhaps: expected yes or no."),
        (lambda e: e.whole("X", 1, at_least=1), "soon", "X=soon: expected a whole number, 1 or more."),
        (lambda e: e.whole("X", 1, at_least=1), "٣", "X=٣: expected a whole number, 1 or more."),
        (lambda e: e.whole("X", 1, at_least=1, at_most=9), "10", "X=10: expected a whole number, 1 to 9."),
        (lambda e: e.whole("X", 1, at_least=1), "-3", "X=-3: expected a whole number, 1 or more."),
        (
            lambda e: e.url("X", schemes=("redis", "rediss")),
            "http://h",
            "X=http://h: expected an address that starts with redis:// or rediss://.",
        ),
        (
            lambda e: e.url("X", schemes=("redis",)),
            "redis://:secret@h:many/0",
            "X=redis://:***@h:many/0: expected an address that starts with redis:// and has a port of 1 to 65535.",
        ),
        (lambda e: e.one_of("X", "A", choices=("A", "B")), "c", "X=C: expected one of A, B."),
        (lambda e: e.zone("X", "UTC"), "Mars/Base", "X=Mars/Base: expected a time zone such as Europe/Berlin."),
        (lambda e: e.zone("X", "UTC"), "../etc", "X=../etc: expected a time zone such as Europe/Berlin."),
    ],
)
def test_an_error_gives_name_value_and_expectation(read: Any, value: str, sentence: str) -> None:
    with pytest.raises(EnvError) as caught:
        read(Env({"X": value}))

    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("address", "printed"),
    [
        ("postgres://anna:pa:ss@host:5432/db", "postgres://anna:***@host:5432/db"),
        ("redis://:secret@host/0", "redis://:***@host/0"),
        ("postgres://anna@host/db", "postgres://anna@host/db"),
        ("sqlite:////folder/file", "sqlite:////folder/file"),
    ],
)
def test_a_password_is_never_printed(address: str, printed: str) -> None:
    assert without_password(address) == printed
