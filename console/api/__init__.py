"""The API's addresses that span the apps: look-up by any id, search, usage, statistics of tools, jobs."""
