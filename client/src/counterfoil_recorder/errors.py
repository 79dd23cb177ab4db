"""What the recorder raises: when it is set up, and before an effect. Never out of a call to a model."""


class RecorderError(Exception):
    """Any of the below."""


class ConfigurationError(RecorderError):
    """The recorder cannot be set up as it was told to; raised where it is made, never later."""


class StoreUnavailable(RecorderError):
    """The store does not hold what it must hold before an effect begins: do not begin it."""
