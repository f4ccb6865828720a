from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from django.db.backends.signals import connection_created

        from config import checks, sqlite

        connection_created.connect(sqlite.on_connect, dispatch_uid="config.sqlite")
