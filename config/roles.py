"""The three roles of the database, and the database itself. Safe to run again and again.

    counterfoil_owner   owns the database, its schema and every table; migrations run as it
    counterfoil_app     pages and workers: rows only; no TRUNCATE, CREATE or TEMPORARY
    counterfoil_read    reads for the console: SELECT only, and of customers' rows only those of the realms
                        that the transaction names; counterfoil_app may become it (SET LOCAL ROLE)

By hand: `python -m config.roles ADMIN_URL [DATABASE]` makes them and prints the three URLs.
"""

import hashlib
import hmac
import sys
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

OWNER, APP, READ = "counterfoil_owner", "counterfoil_app", "counterfoil_read"
ROLE_OF_ALIAS = {"default": APP, "owner": OWNER, "reader": READ}
VARIABLE_OF_ALIAS = {
    "default": "DATABASE_URL",
    "owner": "MIGRATION_DATABASE_URL",
    "reader": "READ_DATABASE_URL",
}

# One maker at a time in a cluster: ALTER ROLE twice at once fails with "tuple concurrently updated".
MAKING_ROLES = 0x00C0_FF01


def derived_password(secret: str, *, role: str) -> str:
    """Return the role's password, made from the superuser's: nothing more has to be stored."""
    return hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()


def derived_passwords(admin_url: str) -> dict[str, str]:
    """Return the passwords of all roles on that admin's server, by role."""
    secret = unquote(urlsplit(admin_url).password or "") or admin_url
    return {role: derived_password(secret, role=role) for role in ROLE_OF_ALIAS.values()}


def urls(admin_url: str, *, database: str) -> dict[str, str]:
    """Return the URL by which each alias reaches that database as its role."""
    passwords = derived_passwords(admin_url)
    return {
        alias: with_role(with_database(admin_url, database), role=role, password=passwords[role])
        for alias, role in ROLE_OF_ALIAS.items()
    }


def with_database(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def with_role(url: str, *, role: str, password: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{quote(password, safe='')}@{host}"))


def ensure(admin_url: str, *, database: str) -> None:
    """Make the roles, with derived passwords, and the database where they are missing."""
    ensure_roles(admin_url, passwords=derived_passwords(admin_url))
    ensure_database(admin_url, database=database)


def ensure_roles(admin_url: str, *, passwords: dict[str, str]) -> None:
    """Make the roles where they are missing and set their passwords where those do not work.

    The admin is a superuser or has CREATEROLE. Memberships and attributes that
    would let a role do more than it must are taken away.
    """
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [MAKING_ROLES])
        for role, password in passwords.items():
            _ensure_role(connection, admin_url, role=role, password=password)
        _let_app_become_reader(connection)
        _let_app_pass_row_security(connection)
        if not is_superuser(connection):
            # From PostgreSQL 16 on, who makes a role must be its member to give it a database.
            connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(OWNER)))


def ensure_database(admin_url: str, *, database: str) -> bool:
    """Make the database, owned by the owner, with the privileges of the roles; tell if it is new."""
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [MAKING_ROLES])
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
        if not found:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(
                    sql.Identifier(database), sql.Identifier(OWNER)
                )
            )
    with psycopg.connect(with_database(admin_url, database), autocommit=True) as connection:
        grant(connection, database=database)
    return not found


def grant(connection: psycopg.Connection, *, database: str) -> None:
    """Give the roles their privileges in this database, on tables there are and on those to come."""
    names = {
        "database": sql.Identifier(database),
        "owner": sql.Identifier(OWNER),
        "app": sql.Identifier(APP),
        "read": sql.Identifier(READ),
    }
    for statement in PRIVILEGES:
        connection.execute(sql.SQL(statement).format(**names))


PRIVILEGES = (
    "ALTER DATABASE {database} OWNER TO {owner}",
    "ALTER SCHEMA public OWNER TO {owner}",
    # Trigrams serve the search in languages without spaces; only who made the database may add them.
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "REVOKE ALL ON DATABASE {database} FROM PUBLIC, {app}, {read}",
    "GRANT CONNECT ON DATABASE {database} TO {app}, {read}",
    "REVOKE ALL ON SCHEMA public FROM PUBLIC, {app}, {read}",
    "GRANT USAGE ON SCHEMA public TO {app}, {read}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT SELECT, INSERT ON TABLES TO {app}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT UPDATE, DELETE ON TABLES TO {app}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT SELECT ON TABLES TO {read}",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {app}",
    # A function is for the application, and for whom its migration names.
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
    "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO {app}",
)


def _ensure_role(connection: psycopg.Connection, admin_url: str, *, role: str, password: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    name = sql.Identifier(role)
    if found and _can_log_in(with_role(admin_url, role=role, password=password)):
        return
    verb = sql.SQL("ALTER" if found else "CREATE")
    connection.execute(
        sql.SQL("{} ROLE {} LOGIN NOCREATEDB NOCREATEROLE PASSWORD {}").format(
            verb, name, sql.Literal(password)
        )
    )


def _let_app_become_reader(connection: psycopg.Connection) -> None:
    """Let the application become the reader for a transaction, without being it all along.

    Had it the reader's rights of its own accord, it would also have the reader's limits.
    """
    names = {"app": sql.Identifier(APP), "read": sql.Identifier(READ)}
    connection.execute(sql.SQL("ALTER ROLE {app} NOINHERIT").format(**names))
    how = " WITH INHERIT FALSE, SET TRUE" if connection.info.server_version >= 160000 else ""
    connection.execute(sql.SQL("GRANT {read} TO {app}" + how).format(**names))


def _let_app_pass_row_security(connection: psycopg.Connection) -> None:
    """Spare the application the policies that are for the reader: while they are asked, COPY is refused.

    Only a superuser may give this, or from PostgreSQL 16 on whoever has it. Without it the
    application sees every row all the same, and inserts what it would copy.
    """
    may_give = is_superuser(connection) or (
        connection.info.server_version >= 160000 and _has_attribute(connection, "rolbypassrls", role=None)
    )
    if may_give and not _has_attribute(connection, "rolbypassrls", role=APP):
        connection.execute(sql.SQL("ALTER ROLE {} BYPASSRLS").format(sql.Identifier(APP)))


def _has_attribute(connection: psycopg.Connection, attribute: str, *, role: str | None) -> bool:
    statement = sql.SQL("SELECT {} FROM pg_roles WHERE rolname = coalesce(%s, CURRENT_USER)")
    row = connection.execute(statement.format(sql.Identifier(attribute)), [role]).fetchone()
    return bool(row and row[0])


def _can_log_in(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=10).close()
    except psycopg.OperationalError:
        return False
    return True


def is_superuser(connection: psycopg.Connection) -> bool:
    return _has_attribute(connection, "rolsuper", role=None)


def main(arguments: list[str]) -> int:
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write("usage: python -m config.roles ADMIN_URL [DATABASE]\n")
        return 2
    admin_url = arguments[0]
    database = arguments[1] if len(arguments) == 2 else "counterfoil"
    ensure(admin_url, database=database)
    for alias, url in urls(admin_url, database=database).items():
        sys.stdout.write(f"{VARIABLE_OF_ALIAS[alias]}={url}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
