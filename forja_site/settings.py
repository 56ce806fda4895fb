"""How the site is put together. The only reader of environment variables."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from kombu.entity import Queue

from forja_site.instance import broker_socket

BASE_DIR = Path(__file__).resolve().parent.parent
FORJA_HOME = Path(os.environ.get("FORJA_HOME") or BASE_DIR / "var").resolve()
FORJA_VERSION = "0.1.0"
FORJA_ENGINE_PATH = Path(os.environ.get("FORJA_ENGINE_PATH") or BASE_DIR / ".build" / "quickjs.wasm")
FORJA_TMPDIR = os.environ.get("ALISIO_TMPDIR") or None
FORJA_EXTRA_TOOLS: list[str] = []


def _port() -> int:
    text = os.environ.get("PORT") or "8000"
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= 65_535):
        raise ImproperlyConfigured(f"PORT={text} is no port: give a number from 1 to 65535, as in PORT=8080 make run.")
    return int(text)


HOST = os.environ.get("HOST") or "127.0.0.1"
PORT = _port()


def _secret_key() -> str:
    key = os.environ.get("SECRET_KEY")
    if key:
        return key
    # Before the supervisor has made the file, any key does, so long as nobody can guess it.
    try:
        return (FORJA_HOME / "secret-key").read_text().strip() or secrets.token_urlsafe(48)
    except OSError:
        return secrets.token_urlsafe(48)


SECRET_KEY = _secret_key()
DEBUG = False
ALLOWED_HOSTS = (os.environ.get("ALLOWED_HOSTS") or f"127.0.0.1,localhost,[::1],{HOST}").split(",")
CSRF_TRUSTED_ORIGINS = [origin for origin in (os.environ.get("TRUSTED_ORIGINS") or "").split(",") if origin]

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "channels",
    "ninja",
    "django_htmx",
    "template_partials",
    "csp",
    "runs",
    "settings_ui",
]
AUTH_USER_MODEL = "runs.User"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "forja_site.urls"
ASGI_APPLICATION = "forja_site.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.template.context_processors.i18n",
            ],
        },
    }
]

_SQLITE_OPTIONS = {
    "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA cache_size=-16000;",
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
}


def _database(url: str | None) -> dict[str, object]:
    if not url:
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": FORJA_HOME / "forja.sqlite3",
            "OPTIONS": _SQLITE_OPTIONS,
            "CONN_MAX_AGE": None,
        }
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "OPTIONS": {"pool": True},
    }


DATABASES = {"default": _database(os.environ.get("DATABASE_URL"))}

_SOCKET = os.environ.get("FORJA_SOCKET") or str(broker_socket(FORJA_HOME))
REDIS_URL = os.environ.get("REDIS_URL") or f"unix://{quote(_SOCKET)}"
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
# A token that is lost costs a second, since workers also look for waiting runs: it needs no acknowledgement.
CELERY_TASK_DEFAULT_QUEUE = "forja"
CELERY_TASK_QUEUES = [Queue("forja", no_ack=True)]  # type: ignore[no-untyped-call]
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("es", "Español")]
LOCALE_PATHS = [BASE_DIR / "forja_site" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = FORJA_HOME / "static"
SERVESTATIC_USE_FINDERS = True

LOGIN_URL = "/sign-in/"
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "forja_session"
CSRF_COOKIE_NAME = "forja_csrf"
CSRF_FAILURE_VIEW = "runs.views.page.csrf_failed"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = os.environ.get("SECURE_COOKIES") == "1"
if os.environ.get("BEHIND_PROXY") == "1":
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
# Every legal body fits: 1 MiB of code, each byte escaped as \uXXXX, and 1 MiB of arguments.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
SILENCED_SYSTEM_CHECKS: list[str] = []
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
