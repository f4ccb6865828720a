"""Many rows into a table at once, past the ORM, whose objects would cost more than the database does; and read in
chunks."""

from collections.abc import Iterable, Sequence
from typing import Any, cast

from django.db import connection
from django.db.models import Func, JSONField, Model, Q
from django.db.models.lookups import Exact


def insert(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert `rows`, each with a value for every one of `fields` as the database takes it, as they come.

    Every column without a default of the database has to be among the fields. The caller holds the transaction.
    """
    quote = connection.ops.quote_name
    known = {field.name: str(field.column) for field in model._meta.concrete_fields}
    columns = ", ".join(quote(known[name]) for name in fields)
    into = f"{quote(model._meta.db_table)} ({columns})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            places = ", ".join(["%s"] * len(fields))
            sql = f"INSERT INTO {into} VALUES ({places})"  # noqa: S608  - names of the model's, no values
            cursor.executemany(sql, cast("Sequence[Any]", iter(rows)))  # takes any iterable


class _Checked(Func):
    """A column as it is; in SQLite under a sign that changes nothing and keeps it from being looked up by."""

    template = "%(expressions)s"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="+%(expressions)s", **context)


def checked(column: str, value: object) -> Q:
    """A condition on rows that are found by their keys, chunk by chunk. SQLite, which knows no sizes, would else begin
    with `column`, and read and sort all rows that have `value` for every chunk."""
    return Q(Exact(_Checked(column), value))


def refresh_statistics(*models: type[Model]) -> None:
    """After very many new rows: let PostgreSQL look at them now, not a minute later, when it plans by what was there
    before and looks through all of them. No plan depends on what stands in texts in JSON, which cost the most."""
    if connection.vendor == "postgresql":
        quote = connection.ops.quote_name
        with connection.cursor() as cursor:
            for model in models:
                fields = [field for field in model._meta.concrete_fields if not isinstance(field, JSONField)]
                columns = ", ".join(quote(str(field.column)) for field in fields)
                cursor.execute(f"ANALYZE {quote(model._meta.db_table)} ({columns})")
