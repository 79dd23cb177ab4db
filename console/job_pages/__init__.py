"""The pages of jobs: the schedule, the runs, and what a run says of itself."""
