from tests.conversations.recording.conftest import record

__all__ = ["record"]
