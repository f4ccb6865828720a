"""The report of a project's closed draws, to print or hand on, and its files."""

from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from agreement import methods, protocol_words, report_files, reporting, sentences
from agreement import protocol as protocols
from agreement.report import entry_of, headline
from agreement.reporting import Paper, Scope, Sheet
from projects import access
from projects.enums import Action
from projects.models import Membership


@login_required
@require_safe
def report(request: HttpRequest, project: UUID) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    paper = _paper(request, member)
    sheets = paper.sheets
    pages = [] if paper.too_long else [(sheet, sheet.page()) for sheet in sheets]
    context = {
        "member": member,
        "nav": "agreement",
        "paper": paper,
        "at": timezone.now(),
        "kinds": report_files.KINDS.values(),
        "query": _query(paper.scope),
        "may_name": access.allows(member, Action.SEE_MEMBERS),
        "methods": methods.paragraphs(paper),
        "protocols": [(draw, protocol_words.sentences(draw, paper.questions_of(draw))) for draw in paper.draws],
        "summary": [{"sheet": sheet, "figure": headline(sheet.run), "agreement": _observed(sheet)} for sheet in sheets],
        "differences": [sheet for sheet in sheets if sheet.difference is not None],
        "noticed": [] if paper.scope.tables else [each for each in pages if each[1].diagnostics],
        "cannot_tell": list(dict.fromkeys(said for _sheet, page in pages for said in page.cannot_tell)),
        "sheets": [{"sheet": sheet, "report": page, "prefix": sheet.anchor} for sheet, page in pages]
        if paper.scope.tables
        else [],
    }
    return render(request, "agreement/report.html", context)


def _observed(sheet: Sheet) -> str:
    """Observed and expected agreement behind a headline, in words."""
    return sentences.observed(entry_of(sheet.run), sheet.run.result["statistics"])


@login_required
@never_cache
@require_safe
def file(request: HttpRequest, project: UUID, kind: str) -> HttpResponse:
    member = access.member_for(request.user, project, Action.SEE_AGREEMENT)
    wanted = report_files.KINDS.get(kind)
    if wanted is None:
        raise Http404(_("A report has no such file."))
    paper, at = _paper(request, member), timezone.now()
    answer = HttpResponse(wanted.write(paper, at), content_type=f"{wanted.media_type}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{_file_name(paper, at)}{wanted.suffix}"'
    return answer


def _paper(request: HttpRequest, member: Membership) -> Paper:
    """The report that the address asks for; what names nothing of this project is not found."""
    version, draw = request.GET.get("version", ""), request.GET.get("draw", "")
    try:
        named, tables = (request.GET.get(name) == "yes" for name in ("names", "tables"))
        scope = Scope(version, UUID(draw) if draw else None, named, tables)
    except ValueError as error:
        raise Http404(_("There is no such draw.")) from error
    paper = reporting.paper(member, scope, protocols.current_questions(member.project))
    if (version or draw) and not paper.in_scope:
        raise Http404(_("There is no closed draw of that version or name."))
    return paper


def _query(scope: Scope) -> str:
    asked = {"version": scope.version, "draw": str(scope.draw or ""), "names": "yes" if scope.named else ""}
    return urlencode({name: value for name, value in asked.items() if value})


def _file_name(paper: Paper, at: datetime) -> str:
    """Letters, digits and hyphens only, whatever the project is called."""
    return f"agreement-{slugify(paper.project.name) or 'project'}-{at.date().isoformat()}"
