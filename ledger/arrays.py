"""Conditions on thousands of values: one array for the driver to send, instead of a parameter each."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, F, Field, Func, IntegerField, Q, TextField, UUIDField, Value


def among(name: str, values: Iterable[str]) -> Func:
    """Return the condition that the column is one of these texts; of none it is false."""
    return _among(name, list(values), TextField())


def among_filled(name: str, values: Iterable[str]) -> Q:
    """Return the same condition for a column whose index leaves the empty texts out.

    PostgreSQL asks the values of an array whether such an index holds them all, but of no more than a
    hundred (`MAX_SAOP_ARRAY_SIZE` in its predtest.c); past that it reads the table, unless it is told.
    """
    return Q(among(name, values)) & ~Q((name, ""))


def among_ids(name: str, values: Iterable[UUID]) -> Func:
    """Return the condition that the column is one of these ids."""
    return _among(name, list(values), UUIDField())


def among_numbers(name: str, values: Iterable[int]) -> Func:
    """Return the condition that the column is one of these numbers of messages."""
    return _among(name, list(values), IntegerField())


def _among(name: str, values: list[Any], of: "Field[Any, Any]") -> Func:
    return Func(
        F(name),
        Value(values, output_field=ArrayField(of)),
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
