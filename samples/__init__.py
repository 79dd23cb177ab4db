"""What the demonstration runs on: the sample company and the processor that stands in for Stripe."""
