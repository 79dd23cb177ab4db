"""The pages of money: effects, refunds, questions of the guard, events, the tool registry."""
