"""A sandbox that stands in for Stripe: a process of its own, for the demonstration and the tests.

It speaks the part of Stripe's API that the ledger's adapter uses, through Stripe's own SDK, and
keeps its books in SQLite. Its clock can be turned and faults can be asked for. It moves no money
and knows no cards. docs/sandbox.md says how to use it and where it differs from the real service.

Inside: `server` reads and writes the sockets, `application` decides the order of things for one
request, `routes` names the endpoints, and one file per kind of object holds its rules.
"""

API_VERSION = "2026-10-28.endive"
API_KEY = "sk_test_sandbox"
SIGNING_KEY = "whsec_sandbox"
