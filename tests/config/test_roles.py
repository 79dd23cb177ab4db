import psycopg
import pytest
from django.contrib.auth.models import Group, Permission
from django.db import ProgrammingError, connection, connections

pytestmark = [pytest.mark.django_db, pytest.mark.schema]


def test_pages_connect_as_a_role_that_owns_nothing():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == ("counterfoil_app", False)
        cursor.execute("SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = current_user")
        assert cursor.fetchone() == (0,)


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE auth_group CASCADE",
        "CREATE TABLE public.anything (id int)",
        "CREATE TEMPORARY TABLE anything (id int)",
        "CREATE SCHEMA anything",
        "ALTER TABLE auth_group ADD COLUMN anything int",
        "DROP TABLE auth_group",
    ],
)
def test_the_application_may_only_read_and_write_rows(statement):
    with connection.cursor() as cursor, pytest.raises(ProgrammingError) as refusal:
        cursor.execute(statement)
    assert isinstance(refusal.value.__cause__, psycopg.errors.InsufficientPrivilege)


@pytest.mark.django_db(databases=["reader"])
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO auth_group (name) VALUES ('x')",
        "UPDATE auth_group SET name = 'x'",
        "DELETE FROM auth_group",
        "TRUNCATE auth_group CASCADE",
        "CREATE TEMPORARY TABLE anything (id int)",
    ],
)
def test_the_reader_may_only_read(statement):
    with connections["reader"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM auth_group")
        with pytest.raises(ProgrammingError) as refusal:
            cursor.execute(statement)
    assert isinstance(refusal.value.__cause__, psycopg.errors.InsufficientPrivilege)


@pytest.mark.django_db(databases=["owner"])
def test_the_owner_owns_every_table():
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'S', 'v')"
        )
        assert cursor.fetchall() == [("counterfoil_owner",)]
        cursor.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb FROM pg_roles WHERE rolname = current_user"
        )
        assert cursor.fetchone() == (False, False, False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_rows_of_a_test_that_commits_are_gone_for_the_next(turn):
    assert not Group.objects.filter(name="Left behind").exists()
    Group.objects.create(name="Left behind")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", [1, 2])
def test_rows_of_migrations_are_there_again_for_the_next(turn):
    assert Permission.objects.filter(codename="add_group").count() == 1
    Permission.objects.all().delete()


def test_the_application_may_become_the_reader_and_is_not_it_all_along():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role('counterfoil_read', 'MEMBER'), pg_has_role('counterfoil_read', 'USAGE')"
        )
        assert cursor.fetchone() == (True, False)
        cursor.execute("SELECT rolbypassrls FROM pg_roles WHERE rolname = 'counterfoil_read'")
        assert cursor.fetchone() == (False,)
