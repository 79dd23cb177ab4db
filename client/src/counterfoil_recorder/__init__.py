"""Records the calls that an application makes to language models, into Counterfoil.

client = anthropic.Anthropic(http_client=record(anthropic.DefaultHttpxClient()))
with recording(account="customer-7", conversation="chat-42"):
    client.messages.create(...)
"""

from counterfoil_recorder.counts import Counts
from counterfoil_recorder.errors import ConfigurationError, RecorderError, StoreUnavailable
from counterfoil_recorder.holding import Limits
from counterfoil_recorder.recorder import Recorder
from counterfoil_recorder.scopes import Scope, carried, recording
from counterfoil_recorder.shared import before_effect, effectful, flush, record, recorder

__all__ = [
    "ConfigurationError",
    "Counts",
    "Limits",
    "Recorder",
    "RecorderError",
    "Scope",
    "StoreUnavailable",
    "before_effect",
    "carried",
    "effectful",
    "flush",
    "record",
    "recorder",
    "recording",
]
