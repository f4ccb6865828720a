"""Queries that are put together once in a process, and then only asked.

Django makes SQL of a query anew each time. For the two large ones of serving that is more work than all the rest of a
label, and than the database's own. What changes from one time to the next are the numbers in it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import QuerySet

# Stand for the numbers while a query is put together. Every column of whole numbers takes them, and nobody's key is
# one: they are within the two billions that a small column holds, and no query has such a constant.
_FIRST_MARK = 2_000_000_011


@dataclass(frozen=True)
class _Made:
    """`places`: for each parameter which of the numbers it is, or None where it is always the same."""

    sql: str
    params: tuple[Any, ...]
    places: tuple[int | None, ...]
    converters: list[tuple[int, list[Any], Any]]

    def filled(self, numbers: tuple[int, ...]) -> list[Any]:
        both = zip(self.params, self.places, strict=True)
        return [param if place is None else numbers[place] for param, place in both]


class Prepared:
    """`Prepared(build, 2)`: `build` makes a `values_list` query of two numbers; `rows(7, 12)` asks it with these."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], numbers: int) -> None:
        self._build = build
        self._marks = {_FIRST_MARK + place: place for place in range(numbers)}
        self._made: dict[str, _Made] = {}

    def sql(self, *numbers: int) -> tuple[str, list[Any]]:
        """The query as text and parameters, to stand inside another one."""
        made = self._made.get(connection.vendor) or self._make()
        return made.sql, made.filled(numbers)

    def rows(self, *numbers: int) -> list[list[Any]]:
        made = self._made.get(connection.vendor) or self._make()
        with connection.cursor() as cursor:
            cursor.execute(made.sql, made.filled(numbers))
            found = [list(row) for row in cursor.fetchall()]
        for column, converters, expression in made.converters:
            for row in found:
                for convert in converters:
                    row[column] = convert(row[column], expression, connection)
        return found

    def _make(self) -> _Made:
        compiler = self._build(*self._marks).query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        # PostgreSQL's driver has classes of its own for whole numbers.
        places = tuple(self._marks.get(int(one)) if isinstance(one, int) else None for one in params)
        if missing := set(self._marks.values()) - set(places):
            raise ValueError(f"The numbers {sorted(missing)} are not in the query as they were given.")
        converters = compiler.get_converters(one for one, _sql, _alias in compiler.select or ())
        made = _Made(sql, tuple(params), places, [(column, *both) for column, both in converters.items()])
        self._made[connection.vendor] = made
        return made
