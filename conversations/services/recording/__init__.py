"""Recording exchanges with providers. The design is in docs/recording.md."""

from conversations.services.recording.exchange import RecordedExchange
from conversations.services.recording.once import find_attempt
from conversations.services.recording.record import record_exchange

__all__ = ["RecordedExchange", "find_attempt", "record_exchange"]
