"""The first page: what waits for the one who looks, what they did last, and how the jobs are."""
