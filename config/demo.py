"""The embedded database of a machine without servers of its own: made with its roles when missing."""

from config import databases, embedded, roles


def prepare_database(servers: embedded.Servers) -> None:
    admin_url = servers.postgres_url()
    roles.ensure_roles(admin_url, passwords=passwords(servers))
    roles.ensure_database(admin_url, database=databases.DEMO_DATABASE)


def passwords(servers: embedded.Servers) -> dict[str, str]:
    return {
        role: roles.derived_password(servers.password, role=role) for role in roles.ROLE_OF_ALIAS.values()
    }
