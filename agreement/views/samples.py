"""What came of a repeat, a bridge or a spot check."""

from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from agreement import bridge_figures, check_figures, matrices, repeat_figures, sentences
from agreement.charts import number
from agreement.sample_entries import Entry, said
from annotations import repeats, samples, sheets, spot_checks, waves
from annotations.enums import WaveKind, WaveState
from annotations.models import Sample, Wave
from projects import access
from projects.enums import Action
from projects.models import Membership


@login_required
@require_safe
def sample(request: HttpRequest, project: UUID, sample: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    wave = samples.find(member, sample)
    sees = samples.may_see_figures(wave, member)
    context: dict[str, Any] = {
        "member": member,
        "nav": "waves",
        "wave": wave,
        "is_open": wave.state != WaveState.CLOSED,
        "sees": sees,
        "proof": _proof(wave, asked="verify" in request.GET),
    }
    if sees and wave.kind == WaveKind.REPEAT:
        context |= {
            "people": repeats.standings(wave),
            "figures": [_repeat(one) for one in repeat_figures.of_wave(wave)],
        }
    if sees and wave.kind == WaveKind.BRIDGE:
        tables = bridge_figures.of_wave(wave)
        context |= {"tables": [_bridge(one) for one in tables], "given": wave.single_all - wave.single_left}
    if wave.kind == WaveKind.SPOTCHECK:
        context |= {
            "refused": spot_checks.refusal(wave, member),
            "ready": spot_checks.ready(wave, by=member, at=timezone.now()),
        }
        context |= _spot_check(wave, member) if sees else {}
    return render(request, f"agreement/samples/{wave.kind}.html", context)


@login_required
@require_safe
def checks(request: HttpRequest, project: UUID, wave: UUID) -> HttpResponse:
    """How often the spot checks of a wave corrected a label; a part of the wave's page."""
    member = access.member_for(request.user, project, Action.RUN_WAVES)
    found = samples.of_project(member.project).filter(sample__of=waves.find(member, wave)).order_by("number")
    rows = [
        {"wave": one, "sentence": _correction_sentence(check_figures.of_wave(one)[0].corrected)}
        for one in found
        if samples.may_see_figures(one, member)
    ]
    return render(request, "agreement/samples/_checks.html", {"member": member, "checks": rows})


def _spot_check(wave: Wave, member: Membership) -> dict[str, Any]:
    found = spot_checks.checked(wave)
    rates = check_figures.of_wave(wave, found)
    fields = member.project.shown_fields
    return {
        "sentence": _correction_sentence(rates[0].corrected),
        "rates": [
            {
                "name": rate.question.text if rate.question else _("any question"),
                "n": rate.corrected["n"],
                "found": rate.corrected["found"],
                "said": said(rate.corrected),
            }
            for rate in rates
        ],
        "rows": [
            spot_checks.worded(one) | {"words": sheets.first_words(one.check.item, fields)}
            for one in found
            if one.corrected
        ],
    }


def _bridge(found: bridge_figures.Table) -> dict[str, Any]:
    return {
        "question": found.question,
        "labels": found.labels,
        "sentence": _bridge_sentence(found),
        "rows": [
            {
                "name": row.name,
                "n": row.n,
                "cells": [(cell.share["found"], said(cell.share)) for cell in row.cells],
                "predicted": _(" or ").join(label.name for label in row.predicted) or _("nothing: it is retired"),
                "hit": said(row.hit),
            }
            for row in found.rows
        ],
        "notes": _bridge_notes(found),
    }


def _bridge_sentence(found: bridge_figures.Table) -> str:
    if "value" not in found.hit:
        return _("No old item was rated again yet, so there is nothing to compare.")
    return ngettext(
        "%(hits)s of %(n)s old item has the label that the stored mapping makes of its old one: a share of %(said)s.",
        "%(hits)s of %(n)s old items have the label that the stored mapping makes of their old one: a share of "
        "%(said)s.",
        found.n,
    ) % {"hits": found.hit["found"], "n": found.n, "said": _spelled(found.hit)}


def _bridge_notes(found: bridge_figures.Table) -> str:
    notes = [_("Shares are of the row’s items, with Wilson’s interval, 95 %.")]
    notes.append(
        ngettext(
            "%(n)s of the new labels is by somebody who gave an old one of the same item, too.",
            "%(n)s of the new labels are by somebody who gave an old one of the same item, too.",
            found.same_people,
        )
        % {"n": found.same_people}
    )
    if not matrices.is_single(found.question):
        notes.append(_("An item counts under each label that it has, so rows may add up to more than their items."))
    if found.unlabelled:
        notes.append(_("Left out: %(n)s without an old final label on this question.") % {"n": found.unlabelled})
    return " ".join(notes)


def _correction_sentence(rate: Entry) -> str:
    if "value" not in rate:
        return _("Nothing was checked yet, so there is no rate of corrections.")
    return ngettext(
        "%(found)s of %(n)s checked label was corrected: a share of %(said)s.",
        "%(found)s of %(n)s checked labels were corrected: a share of %(said)s.",
        rate["n"],
    ) % {"found": rate["found"], "n": rate["n"], "said": _spelled(rate)}


def _proof(wave: Wave, *, asked: bool) -> dict[str, Any]:
    """What a sample shows of how it was drawn: seed and salt once it has ended."""
    row: Sample = wave.sample
    found: dict[str, Any] = {"commitment": row.commitment, "population": row.population_size, "size": row.size}
    if wave.state != WaveState.CLOSED:
        return found
    return found | {
        "seed": bytes(row.seed).hex(),
        "salt": bytes(row.salt).hex(),
        "verification": samples.verify(wave).sentence if asked else "",
    }


def _repeat(found: repeat_figures.QuestionFigures) -> dict[str, Any]:
    rows = [found.pooled, *found.people]
    return {
        "question": found.question,
        "title": found.title,
        "sentence": _sentence(found),
        "rows": [
            {
                "name": row.member.name if row.member else _("all together"),
                "n": row.same["n"],
                "kappa": said(row.kappa),
                "observed": _plain(row.kappa.get("observed")),
                "expected": _plain(row.kappa.get("expected")),
                "same": said(row.same),
            }
            for row in rows
        ],
        "has_kappa": bool(found.table),
        "labels": found.labels,
        "table": list(zip(found.labels, found.table, strict=True)),
        "method": _method(found.pooled.kappa),
    }


def _spelled(entry: Entry) -> str:
    """A value with its interval, as a sentence has it."""
    between = sentences.between(entry)
    return f"{number(entry['value'])}, {between}" if between else number(entry["value"])


def _plain(value: float | None) -> str:
    return "–" if value is None else number(value)


def _sentence(found: repeat_figures.QuestionFigures) -> str:
    kappa, same = found.pooled.kappa, found.pooled.same
    if "value" in kappa:
        return _("Intra-rater agreement: %(title)s %(figure)s, on %(n)s repeated items of %(people)s people.") % {
            "title": found.title,
            "figure": _spelled(kappa),
            "n": kappa["n"],
            "people": len(found.people),
        }
    if "value" in same:
        return _("The same answer was given again to %(figure)s of %(n)s repeated items. Kappa is %(kappa)s") % {
            "figure": _spelled(same),
            "n": same["n"],
            "kappa": said(kappa),
        }
    return _("Intra-rater agreement is %(why)s") % {"why": said(same)}


def _method(entry: Entry) -> str:
    if "interval" not in entry:
        return ""
    how = _("smoothed bootstrap") if entry["method"] == "smoothed" else _("percentile bootstrap")
    return _(
        "Intervals: of kappa %(how)s over items, %(replicates)s replicates, seed %(seed)s; of shares Wilson’s."
    ) % {
        "how": how,
        "replicates": entry["replicates"],
        "seed": entry["seed"],
    }
