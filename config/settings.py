"""Settings. Machines differ by environment only; unset means a laptop (SQLite, file-system broker)."""

import sys
from pathlib import Path

import dj_database_url
from django.utils.translation import gettext_lazy as _

from config import mail
from config.env import Env, EnvError
from config.secrets import laptop_secret

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env.text("CONCORD_VAR", str(BASE_DIR / "var"))).absolute()
try:
    DATABASE_URL = env.url("DATABASE_URL", schemes=("postgres", "postgresql", "sqlite"))
    REDIS_URL = env.url("REDIS_URL", schemes=("redis", "rediss"))
    PORT = env.whole("PORT", 8000, at_least=1, at_most=65_535)
    TEAM = env.flag("CONCORD_TEAM", default=False)
    DEMO = env.flag("CONCORD_DEMO", default=not TEAM)
    OPEN_SIGN_UP = env.flag("CONCORD_OPEN_SIGN_UP", default=False)
    LEASE_MINUTES = env.whole("CONCORD_LEASE_MINUTES", 30, at_least=1, at_most=10_080)
    DELETE_AFTER_DAYS = env.whole("CONCORD_DELETE_AFTER_DAYS", 30, at_least=0, at_most=3650)
    UPLOAD_MEGABYTES = env.whole("CONCORD_UPLOAD_MEGABYTES", 512, at_least=1)
    SWEEP_SECONDS = env.whole("CONCORD_SWEEP_SECONDS", 5, at_least=1, at_most=3600)
    WEB_PROCESSES = env.whole("CONCORD_WEB_PROCESSES", 2, at_least=1, at_most=64)
    WEB_THREADS = env.whole("CONCORD_WEB_THREADS", 8, at_least=1, at_most=64)
    # Two at least: while one is busy with a long import the other computes figures and closes draws.
    WORKER_PROCESSES = env.whole("CONCORD_WORKER_PROCESSES", 2, at_least=2, at_most=64)
    ALLOWED_HOSTS = env.listed("CONCORD_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
    CSRF_TRUSTED_ORIGINS = env.listed("CONCORD_ORIGINS")
    SECURE = env.flag("CONCORD_HTTPS", default=False)
    EMAIL_URL = env.url("CONCORD_EMAIL_URL", schemes=mail.SCHEMES)
    DEFAULT_FROM_EMAIL = env.text("CONCORD_EMAIL_FROM", "concord@localhost")
    MAIL = mail.parse(EMAIL_URL)
    DIGEST_HOUR = env.whole("CONCORD_DIGEST_HOUR", 7, at_least=0, at_most=23)
    OWN_URL = env.url("CONCORD_URL", schemes=("http", "https"))
    TIME_ZONE = env.zone("CONCORD_TIME_ZONE", "UTC")
    LOG_LEVEL = env.one_of("CONCORD_LOG_LEVEL", "INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
    OWN_SECRET_KEY = bool(env.text("CONCORD_SECRET_KEY"))
    SECRET_KEY = env.text("CONCORD_SECRET_KEY") or laptop_secret(VAR)
except EnvError as error:
    sys.exit(str(error))
except OSError as error:
    sys.exit(f"CONCORD_VAR={VAR}: expected a folder that this user may write to ({error.strerror}).")

DEBUG = False
CSRF_FAILURE_VIEW = "config.errors.csrf_failure"

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "projects",
    "annotations",
    "agreement",
    "config.apps.ConfigConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "projects.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "projects.middleware.ViewerTimeZone",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.errors.DomainErrorMiddleware",
]

# What a mail that no request has asked for puts before its links.
SITE_URL = OWN_URL or (CSRF_TRUSTED_ORIGINS or [f"http://127.0.0.1:{PORT}"])[0]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "projects.context.frame",
            ]
        },
    }
]

# A commit survives a power cut (FULL); writers wait for 20 s instead of failing; BEGIN IMMEDIATE takes the write
# lock at once, so that no transaction fails half way when it turns from reading to writing.
SQLITE_OPTIONS = {
    "timeout": 0.25,  # `config.sqlite` waits on, 20 s in all
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-20000",
}
try:
    DATABASES = {"default": dj_database_url.parse(DATABASE_URL or f"sqlite:///{VAR / 'concord.sqlite3'}")}
    if not DATABASES["default"]["NAME"]:
        raise ValueError("it names no database")
except (ValueError, KeyError) as error:
    sys.exit(str(EnvError("DATABASE_URL", DATABASE_URL, f"postgres://user:password@host:5432/name ({error})")))
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    DATABASES["default"]["CONN_MAX_AGE"] = None
else:
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("connect_timeout", 5)
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "projects.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "projects:login"
LOGIN_REDIRECT_URL = "projects:project-list"
LOGOUT_REDIRECT_URL = "projects:login"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30

USE_I18N = True
USE_TZ = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English"))]
FORMAT_MODULE_PATH = "config.formats"
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "config" / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.StaticFiles"},
}
# Pages name the hashed files only.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
MEDIA_ROOT = VAR / "files"
FILE_UPLOAD_TEMP_DIR = None
FILE_UPLOAD_PERMISSIONS = 0o600

# HTTPS is a team's matter: `manage.py check --deploy` says what is unsafe.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = SECURE
SECURE_HSTS_SECONDS = 31_536_000 if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if SECURE else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if not TEAM:
    # About TLS at a proxy, which a laptop's 127.0.0.1 has not; with CONCORD_TEAM=yes they are said.
    SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008", "security.W012", "security.W016"]

EMAIL_BACKEND = MAIL.backend
EMAIL_FILE_PATH = MAIL.folder
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.user, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.starttls, MAIL.tls
EMAIL_TIMEOUT = 10

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.errors.api_exception_handler",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["projects.parsers.TextParser", "rest_framework.parsers.MultiPartParser"],
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Concord",
    "DESCRIPTION": "Label data with a team, and be able to defend the labels. Send the token of your account page as "
    "`Authorization: Token …`, or use the session of the pages.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},  # else the page asks a server elsewhere
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "config.openapi.add_errors"],
    "ENUM_NAME_OVERRIDES": {
        "WaveState": "annotations.enums.WaveState",
        "DrawState": "annotations.enums.DrawState",
        "CaseState": "annotations.enums.CaseState",
        "VersionState": "projects.enums.VersionState",
        "JobState": "projects.enums.JobState",
        "JobKind": "projects.enums.JobKind",
        "ExampleKind": "projects.enums.ExampleKind",
        "WaveKind": "annotations.enums.WaveKind",
        "ResolutionKind": "annotations.enums.ResolutionKind",
        "ResolutionRule": "annotations.enums.ResolutionRule",
        "Change": "projects.enums.Change",
        "ItemRowProblem": "projects.enums.RowProblem",
        "RatingRowProblem": "annotations.enums.RatingProblem",
        "ImportFormat": "projects.serializers.IMPORT_FORMATS",
    },
}

BROKER = VAR / "broker"
CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "socket_connect_timeout": 2,
        "socket_timeout": 3,
        "visibility_timeout": 3600,
        # A page that asks for figures tries once and goes on; worker and beat have their own patience.
        "max_retries": 0,
    }
    if REDIS_URL
    else {
        "data_folder_in": str(BROKER / "queue"),
        "data_folder_out": str(BROKER / "queue"),
        "control_folder": str(BROKER / "control"),
    }
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = WORKER_PROCESSES
CELERY_WORKER_SEND_TASK_EVENTS = False
# `celery inspect` broadcasts; the file-system broker keeps a file for everybody who ever listened.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = bool(REDIS_URL)
CELERY_BEAT_SCHEDULER = "config.beat:Scheduler"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "agreement.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_SECONDS * 4}},
}
BANNER_SECONDS = 10  # how long a process remembers whether worker and beat were seen

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # What is said every few seconds, or for every mistyped address, hides the line that matters.
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.server": {"handlers": ["console"], "propagate": False},
        **{name: {"level": "WARNING"} for name in ("celery", "kombu", "amqp", "markdown_it")},
    },
}
