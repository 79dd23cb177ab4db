"""The root of the HTTP API: its addresses, its errors, its description."""
