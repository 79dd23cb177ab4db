"""Logging: one event, one line. Ids, numbers and names of rules only; never what people wrote."""

import logging.config
import traceback
from collections.abc import Iterator
from typing import Any

import structlog
from django.db import Error as DjangoError
from psycopg import Error as DriverError
from structlog.typing import ExcInfo

# What every event gets, whether it comes from structlog or from the standard library.
SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configure_logging(*, style: str, level: str) -> None:
    """Send structlog's events and the standard library's through one formatter to standard error."""
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(standard_library(style=style, level=level))


def standard_library(*, style: str, level: str) -> dict[str, Any]:
    """Return what `logging.config.dictConfig` takes; the web server, too, is given it."""
    if style == "json":
        told = structlog.processors.ExceptionRenderer(tell_exception)
        ending: list[Any] = [told, structlog.processors.JSONRenderer()]
    else:
        ending = [structlog.dev.ConsoleRenderer(colors=False)]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "events": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *ending],
            },
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "events"}},
        "root": {"handlers": ["stderr"], "level": level},
        # The throttle of sign-ins tells who typed what as a user name; the access log has what may be kept.
        "loggers": {"axes": {"level": "ERROR"}},
    }


def tell_exception(exc_info: ExcInfo) -> str:
    """Tell where an exception came from and what it was, without the row that the database quotes."""
    return "\n\n".join(
        "".join(traceback.format_tb(one.__traceback__)) + f"{type(one).__qualname__}: {_said(one)}"
        for one in _chain(exc_info[1])
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The causes first, as in a traceback of Python's own."""
    if error is None:
        return
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    yield from _chain(before)
    yield error


def _said(error: BaseException) -> str:
    """The server's words may hold a row or a value; what never reached the server holds none."""
    if isinstance(error, DriverError) and error.sqlstate:
        known = (error.sqlstate, error.diag.table_name, error.diag.constraint_name)
        return " ".join(one for one in known if one)
    if isinstance(error, DjangoError) and isinstance(error.__cause__, DriverError):
        return "as the database said"
    return str(error)
