"""Wendelmere Travel, a company that does not exist: its customers, what they asked, what it cost.

Stories are told in the providers' own formats: the request and response bytes that a recorder
would have seen. `story` says what a story is made of, `messages_api`, `chat_api` and
`responses_api` write a provider's and its client's bytes, `stories/` tells one story per file,
`crowd` makes some hundreds of ordinary ones from a seed, and `load` hands them all to the
product's own services. Nothing here writes a table itself, and nothing else imports this.
"""
