"""Event streams: read event by event, accumulated as the provider's own SDK does it."""
