"""A member's own keys for the labels of a project. They hold on that member's pages alone, and change no figure."""

import re
from collections.abc import Mapping

from django.utils.translation import gettext as _

from projects import reading, styles
from projects.errors import Invalid
from projects.models import GuidelineVersion, Membership
from projects.reading import QuestionReading

# "n" says "none of these", beside the labelling page's other keys.
RESERVED = styles.RESERVED | {"n"}
_KEY = re.compile(r"[a-z0-9]")

Keys = Mapping[str, Mapping[str, str]]  # question key -> label key -> key


def save(member: Membership, version: GuidelineVersion, wanted: Keys) -> None:
    """Choose own keys for the labels of `version`; an empty one goes back to the project's.

    Keys for what is in other versions only are kept. Raises Invalid for what cannot be a key, or would mean two labels.
    """
    read = reading.reading(version)
    cleaned = {
        question.key: {
            label.key: key
            for label in question.labels
            if (key := _clean(wanted.get(question.key, {}).get(label.key, ""), label.name))
        }
        for question in read.questions
    }
    _refuse_collisions(read.questions, cleaned)
    kept = {question: dict(keys) for question, keys in member.hotkeys.items() if question not in cleaned}
    hotkeys = kept | {question: keys for question, keys in cleaned.items() if keys}
    Membership.objects.filter(pk=member.pk).update(hotkeys=hotkeys)
    member.hotkeys = hotkeys


def refuse_unknown(version: GuidelineVersion, wanted: Keys) -> None:
    """For a program, which names the labels itself: Invalid for what is no label of `version`."""
    questions = reading.reading(version).questions
    known = {(question.key, label.key) for question in questions for label in question.labels}
    for question, keys in wanted.items():
        for label in keys:
            if (question, label) not in known:
                raise Invalid(
                    _("“%(label)s” is no label of the question “%(question)s” in the newest guideline: leave it out.")
                    % {"label": label, "question": question}
                )


def _clean(key: str, label: str) -> str:
    key = key.strip().lower()
    if not key:
        return ""
    if key in RESERVED:
        raise Invalid(
            _("“%(key)s” already does something else on the labelling page: take another key for “%(label)s”.")
            % {"key": key, "label": label}
        )
    if not _KEY.fullmatch(key):
        raise Invalid(
            _("“%(key)s” cannot be the key of “%(label)s”: take one letter from a to z, or a digit.")
            % {"key": key, "label": label}
        )
    return key


def _refuse_collisions(questions: tuple[QuestionReading, ...], wanted: Keys) -> None:
    """No key may mean two labels of the sheet; on one with more labels than keys, of a question."""
    labels = [(question, label) for question in questions for label in question.labels]
    of_sheet = len(labels) <= len(styles.HOTKEYS)
    holders: dict[tuple[str, str], str] = {}
    # The project's keys that stay come first: who takes one of them is the one to be told.
    for is_own in (False, True):
        for question, label in labels:
            own = wanted.get(question.key, {}).get(label.key, "")
            key = own or label.hotkey
            if bool(own) != is_own or not key:
                continue
            place = ("" if of_sheet else question.key, key)
            if is_own and place in holders:
                raise Invalid(
                    _("The key “%(key)s” is already that of “%(other)s”: take another one for “%(label)s”.")
                    % {"key": key, "other": holders[place], "label": label.name}
                )
            holders[place] = label.name
