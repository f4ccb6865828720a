"""A query that is put together once answers as the same query put together anew."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations.prepared import Prepared
from projects.models import Membership

pytestmark = pytest.mark.django_db


def by_number(project: int, submits: int):
    rows = Membership.objects.filter(project=project, submits__gte=submits).order_by("pk")
    return rows.values_list("uuid", "joined_at", "active", "hotkeys", "alias")


def test_rows_are_those_of_the_query_with_its_types(project, anna, ben):
    anna.hotkeys = {"intent": {"praise": "p"}}
    anna.submits = 7
    anna.save()
    prepared = Prepared(by_number, 2)

    for submits in (0, 1, 7, 8):
        assert prepared.rows(project.pk, submits) == [list(row) for row in by_number(project.pk, submits)]


def test_it_is_one_statement_and_made_once(project, anna):
    calls = []

    def build(*numbers: int):
        calls.append(numbers)
        return by_number(*numbers)

    prepared = Prepared(build, 2)
    with CaptureQueriesContext(connection) as queries:
        for _ in range(3):
            prepared.rows(project.pk, 0)

    assert (len(calls), len(queries)) == (1, 3)


def test_a_number_that_the_query_does_not_take_as_it_is_given_is_refused(project):
    prepared = Prepared(lambda project, submits: by_number(project, submits + 1), 2)

    with pytest.raises(ValueError, match=r"\[1\]"):
        prepared.rows(project.pk, 1)


def test_its_text_stands_inside_another_statement(project, anna, ben):
    first = Prepared(lambda number: Membership.objects.filter(project=number).order_by("pk").values_list("pk")[:1], 1)
    sql, params = first.sql(project.pk)

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT alias FROM projects_membership WHERE id = ({sql})", params)
        row = cursor.fetchone()

    assert row == (Membership.objects.order_by("pk").first().alias,)
