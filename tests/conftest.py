"""The fixed cast: `admin`, `lead`, `anna`, `ben`, `outsider`, in one project with a published guideline."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from projects.models import GuidelineVersion, Membership, Project, User
from tests import factories
from tests.own_redis import OwnRedis
from tests.own_redis import program as redis_server

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "live_server"}
# Pages and addresses say the same on either database; what they call is asked on both.
OF_PAGES = ("views/", "test_api", "test_blindness")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What only PostgreSQL can show is left out, by name, where the suite runs on SQLite; what touches no database, or
    shows pages, is marked as needing one run only."""
    for item in items:
        uses_database = item.get_closest_marker("django_db") or DATABASE_FIXTURES & set(
            getattr(item, "fixturenames", ())
        )
        of_pages = any(part in item.nodeid for part in OF_PAGES)
        if (not uses_database or of_pages) and not item.get_closest_marker("postgres"):
            item.add_marker(pytest.mark.one_database)
    if connection.vendor != "postgresql":
        for item in items:
            if item.get_closest_marker("postgres"):
                item.add_marker(pytest.mark.skip(reason="needs PostgreSQL: set DATABASE_URL"))


@pytest.fixture
def project(db: None) -> Project:
    return factories.project()


@pytest.fixture
def version(project: Project) -> GuidelineVersion:
    return factories.version(project)


@pytest.fixture
def admin(version: GuidelineVersion) -> Membership:
    return factories.member(version.project, "ada", "admin")


@pytest.fixture
def lead(version: GuidelineVersion) -> Membership:
    return factories.member(version.project, "lea", "lead")


@pytest.fixture
def anna(version: GuidelineVersion) -> Membership:
    return factories.member(version.project, "anna")


@pytest.fixture
def ben(version: GuidelineVersion) -> Membership:
    return factories.member(version.project, "ben")


@pytest.fixture
def outsider(db: None) -> User:
    return factories.user("otto")


@pytest.fixture
def client_of() -> Callable[[Membership | User], Client]:
    """A logged-in client for a member or a user."""

    def make(who: Membership | User) -> Client:
        client = Client()
        client.force_login(who.user if isinstance(who, Membership) else who)
        return client

    return make


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    """A Redis of this test's own, to be killed; without the program redis-server the test is left out, by name."""
    program = redis_server()
    if program is None:
        pytest.skip("needs the program redis-server")
    server = OwnRedis(program, tmp_path)
    yield server
    server.kill()
