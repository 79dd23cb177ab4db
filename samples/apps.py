from django.apps import AppConfig


class SamplesConfig(AppConfig):
    """Installed in a demo only: it brings the command that loads the sample company."""

    name = "samples"
