"""The pages of tools: how their calls went over a period, and the calls themselves."""
