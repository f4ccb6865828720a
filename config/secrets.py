"""The laptop's secret key: made once, kept in `var/`, never in the repository."""

from pathlib import Path

from django.core.management.utils import get_random_secret_key


def laptop_secret(folder: Path) -> str:
    """Read the key from `folder`/secret-key, or make it on first use (readable by its owner only)."""
    path = folder / "secret-key"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        key = get_random_secret_key()
        try:
            with path.open("x", encoding="ascii") as file:
                path.chmod(0o600)
                file.write(key)
        except FileExistsError:  # another process was first
            return path.read_text(encoding="ascii").strip()
        return key
