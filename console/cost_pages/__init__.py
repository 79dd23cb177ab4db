"""The pages of costs: sums over a period, by what they are cut, exact until they are shown."""
