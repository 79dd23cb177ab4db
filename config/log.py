"""Logging: one event, one line. Ids, numbers and names of rules only; never what people wrote."""

import logging.config
from typing import Any

import structlog

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
        ending: list[Any] = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
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
