"""The HTTP API of conversations; docs/api-conversations.md is written for those who call it."""
