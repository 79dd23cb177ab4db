"""Recording exchanges with providers. The design is in docs/recording.md."""

from conversations.services.recording.exchange import RecordedExchange
from conversations.services.recording.record import record_exchange

__all__ = ["RecordedExchange", "record_exchange"]
