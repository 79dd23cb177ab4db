"""What every address of the HTTP API shares: keys, scopes, limits, once-only answers, one realm."""
