"""Settings of the suite: SQLite in a file unless DATABASE_URL says otherwise, fast hashing, no static manifest."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ.setdefault("CONCORD_SECRET_KEY", "only-for-tests-" + "x" * 50)
if "CONCORD_VAR" not in os.environ:  # the workers of pytest-xdist find the one that their parent made
    os.environ["CONCORD_VAR"] = tempfile.mkdtemp(prefix="concord-test-")
    atexit.register(shutil.rmtree, os.environ["CONCORD_VAR"], ignore_errors=True)

from config.settings import *
from config.settings import DATABASES, VAR

SUFFIX = os.environ.get("CONCORD_TEST_SUFFIX", "")
DATABASES["default"]["CONN_MAX_AGE"] = 0
DATABASES["default"]["TEST"] = {
    # A file, not memory: threads and live servers must meet in the same database.
    "NAME": str(Path(VAR) / "test.sqlite3")
    if DATABASES["default"]["ENGINE"].endswith("sqlite3")
    else f"test_concord_{SUFFIX}".rstrip("_")
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
BANNER_SECONDS = -1  # asked anew for every page, so that queries can be counted
WHITENOISE_AUTOREFRESH = True
