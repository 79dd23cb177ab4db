"""What providers refuse in a conversation's structure, one module for each group of rules.

The strength says what to do: `refuse` what the store is asked to compose,
`warn` where model or API version decide, `replay` what matters only to a body
that is about to be sent. What was received broken is kept, marked and shown.
"""
