"""The closed sets of words that `projects` stores."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Role(TextChoices):
    ANNOTATOR = "annotator", _("annotator")
    LEAD = "lead", _("lead")
    ADMIN = "admin", _("admin")


class Action(TextChoices):
    """What a member may do; `access.ROLE_ACTIONS` says which role may do which."""

    VIEW = "view", _("see the project")
    LABEL = "label", _("label items")
    SEE_ITEMS = "see_items", _("see the list of items")
    IMPORT = "import", _("import items")
    EDIT_GUIDELINE = "edit_guideline", _("write the guideline")
    PUBLISH = "publish", _("publish a guideline version")
    RUN_WAVES = "run_waves", _("open and close waves")
    SEE_AGREEMENT = "see_agreement", _("see agreement")
    ADJUDICATE = "adjudicate", _("adjudicate conflicts")
    EXPORT = "export", _("export")
    SEE_MEMBERS = "see_members", _("see the members")
    MANAGE_MEMBERS = "manage_members", _("manage the members")
    SETTINGS = "settings", _("change the project's settings")
    WAIVE_GATE = "waive_gate", _("waive a gate")
    SEE_ACTIVITY = "see_activity", _("see who did what")
    MANAGE_PROJECT = "manage_project", _("clone, archive or delete the project")


class VersionState(TextChoices):
    DRAFT = "draft", _("draft")
    PUBLISHED = "published", _("published")


class Change(TextChoices):
    """What publishing a draft means: material raises MAJOR, editorial raises MINOR."""

    MATERIAL = "material", _("material")
    EDITORIAL = "editorial", _("editorial")


class Origin(TextChoices):
    WRITTEN = "written", _("written")
    ADJUDICATED = "adjudicated", _("from an adjudicated conflict")
    ASKED = "asked", _("from the answer to a question")


class ExampleKind(TextChoices):
    CLEAR = "clear", _("clear case")
    NEAR_MISS = "near_miss", _("near miss")
    EXCEPTION = "exception", _("exception")


class Standing(TextChoices):
    CURRENT = "current", _("current")
    SUPERSEDED = "superseded", _("superseded")


class JobKind(TextChoices):
    IMPORT_PREVIEW = "import_preview", _("reading a file")
    IMPORT = "import", _("importing items")
    OPEN_WAVE = "open_wave", _("opening a wave")
    RATINGS_PREVIEW = "ratings_preview", _("reading a file of ratings")
    RATINGS_IMPORT = "ratings_import", _("importing ratings")
    EXPORT = "export", _("exporting")
    MAIL = "mail", _("sending mail")
    DIGEST = "digest", _("sending a mail of notices")
    DELETE = "delete", _("deleting a project")


class JobState(TextChoices):
    WAITING = "waiting", _("waiting")
    RUNNING = "running", _("running")
    DONE = "done", _("done")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


class RowProblem(TextChoices):
    """What an import found in a row of a file. `projects.staging` says which of these can be imported all the same."""

    UNREADABLE = "unreadable", _("the row cannot be read")
    NO_ID = "no_id", _("the id is missing or empty")
    BAD_ID = "bad_id", _("the id is too long, or no text or number")
    ID_IN_PROJECT = "id_in_project", _("an item of the project has the same id")
    ID_IN_FILE = "id_in_file", _("an earlier row has the same id")
    EMPTY = "empty", _("nothing to show: every shown field is empty")
    PARTLY_EMPTY = "partly_empty", _("one of the shown fields is empty")
    SAME_IN_PROJECT = "same_in_project", _("an item of the project has exactly the same content")
    SAME_IN_FILE = "same_in_file", _("an earlier row has exactly the same content")
    LIKE_IN_PROJECT = "like_in_project", _("differs from an item of the project only in case or white space")
    LIKE_IN_FILE = "like_in_file", _("differs from an earlier row only in case or white space")


class NoticeKind(TextChoices):
    """What people are told; `notices.KINDS` says to whom, from which rows and in which words."""

    WORK = "work", _("Items wait for me")
    CONFLICTS = "conflicts", _("Conflicts wait for a decision")
    GATE = "gate", _("A gate has decided, or was waived")
    GUIDELINE = "guideline", _("A guideline version was published")
    ANSWER = "answer", _("A question about an item was answered")
    SENT_BACK = "sent_back", _("A label was sent back to me")


class MailPace(TextChoices):
    """How often somebody gets mail about what is new."""

    DAILY = "daily", _("once a day, if there is something new")
    WEEKLY = "weekly", _("once a week, if there is something new")
    NEVER = "never", _("never")
