"""The parts of `evidence.capture`: calls made with the SDKs, what their callers see, what the store has."""
