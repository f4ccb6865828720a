"""The terms under which an item is served that is mixed in among other work: window and lease."""

from projects.models import Project


def of_major(project: Project, major: int) -> dict[str, int]:
    """Those of the work that it is mixed with, so that nothing on the page tells the one from the other; else those
    of the project's protocol."""
    names = ("window_submits", "window_minutes", "lease_minutes")
    wave = project.waves.filter(major=major, is_imported=False).last()
    return {name: int(getattr(wave, name) if wave else project.protocol[name]) for name in names}
