"""Colours and hotkeys of labels: presentation, the same in all versions, changeable at any time."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from projects import drafts
from projects.enums import VersionState
from projects.errors import Invalid
from projects.models import Label, LabelStyle, Project
from projects.task_types import LabelLike

# Okabe and Ito's colours in their order, their black replaced by a grey that shows on a dark page too.
PALETTE = ("#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#999999")
# The labelling page's own keys: comment, guideline, ask, skip, undo.
RESERVED = frozenset("cgqsz")
HOTKEYS = "1234567890" + "".join(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in RESERVED)
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")


class Style(NamedTuple):
    """How a label looks and which key chooses it. An empty hotkey: there are more labels than keys."""

    colour: str
    hotkey: str


def chosen(project: Project | int) -> dict[tuple[str, str], Style]:
    """(question key, label key) -> what somebody chose for it; empty where nothing was."""
    return _by_label(LabelStyle.objects.filter(project=project))


def _by_label(rows: Iterable[LabelStyle]) -> dict[tuple[str, str], Style]:
    return {(row.question_key, row.label_key): Style(row.colour, row.hotkey) for row in rows}


def kept(project: Project) -> dict[tuple[str, str], Style]:
    """`chosen`, from this process's memory until somebody chooses otherwise: the project's row counts the changes."""
    return _kept(project.uuid, project.styles_revision)


@lru_cache(maxsize=64)
def _kept(project: UUID, _revision: int) -> dict[tuple[str, str], Style]:
    return _by_label(LabelStyle.objects.filter(project__uuid=project))


def with_own(
    styles: Mapping[tuple[str, str], Style], own: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], Style]:
    """The project's choices with a member's own keys (question -> label -> key) in their place. A label whose chosen
    key somebody took for another label of the question goes back to a key of its place."""
    found = {
        (question, label): style._replace(hotkey="") if style.hotkey in own.get(question, {}).values() else style
        for (question, label), style in styles.items()
    }
    for question, keys in own.items():
        for label, key in keys.items():
            found[question, label] = found.get((question, label), Style("", ""))._replace(hotkey=key)
    return found


def dressed(
    question_key: str,
    labels: Sequence[LabelLike],
    styles: Mapping[tuple[str, str], Style],
    *,
    behind: Sequence[Style] = (),
) -> dict[str, Style]:
    """Label key -> its style: what was chosen, else by its place. Of two that claim a hotkey the first has it.

    `behind`: the styles of the questions before this one on the sheet. Keys and colours go on from there, so that no
    key means two things on one sheet, as long as there are keys for all.
    """
    picked = [styles.get((question_key, label.key), Style("", "")) for label in labels]
    if len(behind) + len(labels) > len(HOTKEYS):
        behind = ()
    hotkeys = _hotkeys([style.hotkey for style in picked], frozenset(style.hotkey for style in behind))
    return {
        label.key: Style(style.colour or PALETTE[(len(behind) + place) % len(PALETTE)], hotkeys[place])
        for place, (label, style) in enumerate(zip(labels, picked, strict=True))
    }


def worn(
    questions: Iterable[tuple[str, Sequence[LabelLike]]], styles: Mapping[tuple[str, str], Style]
) -> dict[str, dict[str, Style]]:
    """Question key -> label key -> style, for all (key, labels) of a version in their order."""
    found: dict[str, dict[str, Style]] = {}
    behind: list[Style] = []
    for key, labels in questions:
        found[key] = dressed(key, labels, styles, behind=behind)
        behind += found[key].values()
    return found


def _hotkeys(wanted: Sequence[str], taken: frozenset[str]) -> list[str]:
    """The chosen ones first, then those whose place's own key is free, then the rest from what is left."""
    given = [""] * len(wanted)
    used: set[str] = set()
    free = [key for key in HOTKEYS if key not in taken]
    by_place = [free[place] if place < len(free) else "" for place in range(len(wanted))]
    for candidates in (wanted, by_place):
        for place, key in enumerate(candidates):
            if key and not given[place] and key not in used:
                given[place] = key
                used.add(key)
    left = (key for key in free if key not in used)
    return [key or next(left, "") for key in given]


def set_style(project: Project, question_key: str, label_key: str, colour: str = "", hotkey: str = "") -> None:
    """Choose colour and hotkey of one label; an empty one goes back to the default of its place."""
    set_styles(project, question_key, {label_key: Style(colour, hotkey)})


@transaction.atomic
def set_styles(project: Project, question_key: str, wanted: Mapping[str, Style]) -> None:
    """Choose colours and hotkeys of several labels at once, so that two can swap theirs.

    Refused where two labels of one version would get the same hotkey.
    """
    drafts.lock(project.pk)
    wanted = {key: _clean(key, style) for key, style in wanted.items()}
    standing = chosen(project)
    label_sets = _label_sets(project, question_key)
    known = {label.key for labels in label_sets for label in labels}
    if strange := sorted(set(wanted) - known):
        raise Invalid(
            _("There is no label “%(key)s” under the question “%(question)s”.")
            % {"key": strange[0], "question": question_key}
        )
    for labels in label_sets:
        _refuse_collisions(labels, wanted, dressed(question_key, labels, standing))
    for label_key, style in wanted.items():
        LabelStyle.objects.update_or_create(
            project=project,
            question_key=question_key,
            label_key=label_key,
            defaults={"colour": style.colour, "hotkey": style.hotkey},
        )
    Project.objects.filter(pk=project.pk).update(styles_revision=F("styles_revision") + 1)
    project.refresh_from_db(fields=["styles_revision"])


def _label_sets(project: Project, question_key: str) -> list[list[Label]]:
    """The labels of the question in the newest published version and in the draft: what people see from now on."""
    newest = project.versions.published().newest_first().first()
    shown = project.versions.filter(state=VersionState.DRAFT)
    versions = [*shown, *([newest] if newest else [])]
    rows = Label.objects.filter(question__version__in=versions, question__key=question_key).select_related("question")
    sets: dict[int, list[Label]] = {}
    for label in rows.order_by("order", "pk"):
        sets.setdefault(label.question.pk, []).append(label)
    return list(sets.values())


def _clean(label_key: str, style: Style) -> Style:
    colour, hotkey = style.colour.strip(), style.hotkey.strip().lower()
    if colour and not _COLOUR.fullmatch(colour):
        raise Invalid(
            _("“%(colour)s” is not a colour: write it as # and six digits, for example #0072B2.") % {"colour": colour}
        )
    if hotkey and (len(hotkey) != 1 or not hotkey.isalnum()):
        raise Invalid(
            _("“%(hotkey)s” cannot be the key of “%(label)s”: take one letter or digit.")
            % {"hotkey": hotkey, "label": label_key}
        )
    if hotkey in RESERVED:
        raise Invalid(
            _("“%(hotkey)s” already does something else on the labelling page: take another key for “%(label)s”.")
            % {"hotkey": hotkey, "label": label_key}
        )
    return Style(colour.upper(), hotkey)


def _refuse_collisions(labels: Sequence[Label], wanted: Mapping[str, Style], standing: Mapping[str, Style]) -> None:
    names = {label.key: label.name for label in labels}
    holders = {style.hotkey: key for key, style in standing.items() if style.hotkey and key not in wanted}
    for key, style in wanted.items():
        if key not in names or not style.hotkey:
            continue
        if style.hotkey in holders:
            raise Invalid(
                _("The key “%(hotkey)s” is already that of “%(other)s”: take another one for “%(label)s”.")
                % {"hotkey": style.hotkey, "other": names[holders[style.hotkey]], "label": names[key]}
            )
        holders[style.hotkey] = key
