"""The payment processor's ids that the stories speak of; the ledger's samples settle these very ones."""

# The edited question that charged twice, and the fare change that nobody knows about.
INES_FIRST_CHARGE = "ch_3SXq4kWm7TnLdR2v0bYhZp6E"
INES_FIRST_INTENT = "pi_3SXq4kWm7TnLdR2v0fHnUc8W"
INES_SECOND_CHARGE = "ch_3SXq8dWm7TnLdR2v1nKtRw3C"
INES_SECOND_INTENT = "pi_3SXq8dWm7TnLdR2v1aBzMq5K"
INES_FARE_INTENT = "pi_3SXqAfWm7TnLdR2v0LsVeY7u"

# One hotel, two rooms: the second was booked after an edit.
AMELIE_FIRST_CHARGE = "ch_3SXc0pWm7TnLdR2v1vRkMs8F"
AMELIE_SECOND_CHARGE = "ch_3SXc1kWm7TnLdR2v0wBqNd2Y"

LI_DECLINED_INTENT = "pi_3SXbYzWm7TnLdR2v0cTfPa6G"
LI_CHARGE = "ch_3SXc9tWm7TnLdR2v1bQmXe5R"

TAKUMI_FIRST_CHARGE = "ch_3SXbT2Wm7TnLdR2v0rDhQw5N"
TAKUMI_SECOND_CHARGE = "ch_3SXbT4Wm7TnLdR2v1zKvXe9L"

NOOR_CHARGE = "ch_3SXaQ7Wm7TnLdR2v1mGcZu3B"

DANA_CHARGE = "ch_3SX9hGWm7TnLdR2v1tQpEy8R"
DANA_REFUND = "re_3SWp4hWm7TnLdR2v1wJtNd6E"


JONAS_CHARGE = "ch_3SWdKzWm7TnLdR2v0hYqEb5S"
JONAS_DISPUTE = "dp_1SWdLqWm7TnLdR2vCn3RmT6y"

KOFI_INTENT = "pi_3SVr8sWm7TnLdR2v0JbTzQ4h"

SIGRUN_CHARGE = "ch_3SWn7yWm7TnLdR2v0vBxKs1P"
