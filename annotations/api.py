"""The API of publishing, waves, conflicts and exports. Each view calls the function that its page calls."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import FileResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import (
    adjudication,
    cases,
    draws,
    eligibility,
    exporting,
    giving,
    inquiries,
    opening,
    panels,
    publishing,
    queue,
    third_ratings,
    waves,
)
from annotations import serializers as shapes
from annotations.enums import Closing, WaveState
from annotations.models import Case, Wave
from annotations.queue import Filters
from projects import guidelines
from projects.api import MemberList, MemberView
from projects.api_guideline import DraftView
from projects.enums import Action
from projects.formats import FORMATS
from projects.serializers import (
    ConsequencesSerializer,
    ExampleSerializer,
    JobSerializer,
    PublishSerializer,
    VersionSerializer,
)


class Publish(DraftView):
    """What publishing the draft would mean, and the deed. A material change ends the open draws of the MAJOR before."""

    actions: ClassVar = {"GET": Action.PUBLISH, "POST": Action.PUBLISH}

    @extend_schema(responses=ConsequencesSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        return Response(ConsequencesSerializer(guidelines.consequences(self.draft())).data)

    @extend_schema(request=PublishSerializer, responses=VersionSerializer)
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(PublishSerializer)
        made = publishing.publish(self.draft(), **sent, by=self.member, at=timezone.now())
        return Response(VersionSerializer(made).data)


# -- waves -------------------------------------------------------------------------------------------------------------


class WaveView(MemberView):
    """Whatever works on one wave."""

    actions: ClassVar = {"GET": Action.RUN_WAVES, "POST": Action.RUN_WAVES}

    def wave(self, wave: UUID) -> Wave:
        return waves.find(self.member, wave)

    def shown(self, wave: Wave, status: int = 200) -> Response:
        return Response(shapes.WaveSerializer(wave, context={"member": self.member}).data, status=status)


class Waves(WaveView, MemberList):
    @extend_schema(responses=shapes.WaveSerializer(many=True), operation_id="waves_list")
    def get(self, request: Request, project: UUID) -> Response:
        rows = self.member.project.waves.select_related("project", "version", "draw", "panel__split")
        rows = rows.defer("draw__population", "panel__split__population")
        return self.paged(rows, shapes.WaveSerializer, ordering="-number")

    @extend_schema(
        request=shapes.OpenWaveSerializer, responses={201: shapes.WaveSerializer, 202: shapes.WaveSerializer}
    )
    def post(self, request: Request, project: UUID) -> Response:
        """From many items a wave is drawn and filled by a job: 202, with the job's uuid, in state `opening`.

        Its size is 0 until it is drawn.
        """
        sent, project_row, at = self.read(shapes.OpenWaveSerializer), self.member.project, timezone.now()
        if wanted := [(one["members"], one["weight"]) for one in sent.pop("panels")]:
            declared = panels.declared(project_row, wanted)
            wave = opening.open_panels(project_row, declared, **sent, by=self.member, at=at)[0]
        else:
            wave = opening.open_wave(project_row, **sent, by=self.member, at=at)
        return self.shown(wave, status=201 if wave.state == WaveState.OPEN else 202)


class NotEligible(MemberList):
    """The ledger: the items that no new wave may take, and why."""

    actions: ClassVar = {"GET": Action.RUN_WAVES}

    @extend_schema(
        responses=shapes.NotEligibleSerializer(many=True),
        operation_id="not_eligible_list",
        parameters=[shapes.ReasonWanted],
    )
    def get(self, request: Request, project: UUID) -> Response:
        rows = eligibility.not_eligible(self.member.project, **self.wanted(shapes.ReasonWanted))
        return self.paged(rows, shapes.NotEligibleSerializer)


class WaveDetail(WaveView):
    @extend_schema(responses=shapes.WaveSerializer)
    def get(self, request: Request, project: UUID, wave: UUID) -> Response:
        return self.shown(self.wave(wave))


class Close(WaveView):
    """End the draw of a wave, short or early, or the whole wave: what is unlabelled becomes fresh again."""

    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=shapes.CloseSerializer, responses=shapes.WaveSerializer)
    def post(self, request: Request, project: UUID, wave: UUID) -> Response:
        found, sent, at = self.wave(wave), self.read(shapes.CloseSerializer), timezone.now()
        if sent["closing"] == shapes.WHOLE_WAVE:
            draws.close_wave(found, by=self.member, at=at, reason=sent["reason"])
        else:
            closing = Closing(sent["closing"])
            draws.close(draws.draw_of(found), closing=closing, reason=sent["reason"], by=self.member, at=at)
        return self.shown(self.wave(wave))


class Give(WaveView):
    """Give a wave to named people, with a due date and limits; nobody named gives it to everybody again."""

    actions: ClassVar = {"PUT": Action.RUN_WAVES}

    @extend_schema(request=shapes.GiveSerializer, responses=shapes.WaveSerializer)
    def put(self, request: Request, project: UUID, wave: UUID) -> Response:
        found, sent = self.wave(wave), self.read(shapes.GiveSerializer)
        rows = self.member.project.memberships.annotators()
        sent["members"] = [self.one(rows, uuid) for uuid in sent["members"]]
        giving.give(found, **sent, by=self.member, at=timezone.now())
        return self.shown(self.wave(wave))


class ReleaseCover(WaveView):
    """Serve the rest of a wave to anybody; from then on raters could have known, and the figure says so."""

    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=None, responses=shapes.WaveSerializer)
    def post(self, request: Request, project: UUID, wave: UUID) -> Response:
        found = self.wave(wave)
        draws.release_cover(found, by=self.member, at=timezone.now())
        return self.shown(self.wave(wave))


class GiveUp(WaveView):
    """Take no further measured item of a wave, so as to see its figures from now on. It cannot be taken back."""

    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, project: UUID, wave: UUID) -> Response:
        draws.give_up(draws.draw_of(self.wave(wave)), by=self.member, at=timezone.now())
        return Response(status=204)


# -- conflicts ---------------------------------------------------------------------------------------------------------


class Conflicts(MemberView):
    """The conflicts, the worst first; of the open ones those that you may decide, whose items you did not rate."""

    actions: ClassVar = {"GET": Action.ADJUDICATE}

    @extend_schema(
        responses=shapes.ConflictPageSerializer, operation_id="conflicts_list", parameters=[shapes.ConflictsWanted]
    )
    def get(self, request: Request, project: UUID) -> Response:
        wanted = self.wanted(shapes.ConflictsWanted)
        after = wanted.pop("after", None)
        if after is not None:
            self.one(cases.of_project(self.member.project), after)
        found = queue.page(self.member, Filters(**wanted), after)
        shown = found[: queue.PAGE]
        answer = {"next": self.further(shown[-1]) if len(found) > queue.PAGE else None, "results": shown}
        return Response(shapes.ConflictPageSerializer(answer, context={"member": self.member}).data)

    def further(self, last: Case) -> str:
        query = self.request.query_params.copy()
        query["after"] = str(last.uuid)
        return self.request.build_absolute_uri(f"?{query.urlencode()}")


class ConflictView(MemberView):
    """Whatever works on one conflict."""

    actions: ClassVar = {"GET": Action.ADJUDICATE, "POST": Action.ADJUDICATE, "DELETE": Action.ADJUDICATE}

    def case(self, case: UUID) -> Case:
        return cases.find(self.member, case)


class Conflict(ConflictView):
    """A conflict with what was said of it. It names the raters once it is decided."""

    @extend_schema(responses=shapes.DossierSerializer)
    def get(self, request: Request, project: UUID, case: UUID) -> Response:
        dossier = cases.dossier(self.case(case), self.member, at=timezone.now())
        return Response(shapes.DossierSerializer(dossier).data)


class Claim(ConflictView):
    """Hold a conflict for twenty minutes, so that no other lead decides it; let go of it with DELETE."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        adjudication.claim(self.case(case), by=self.member, at=timezone.now())
        return Response(status=204)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, case: UUID) -> Response:
        adjudication.release(self.case(case), by=self.member)
        return Response(status=204)


class TakeBack(ConflictView):
    """Wait no longer for the third rating that a conflict waits for: it is open, for a lead to decide."""

    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        third_ratings.take_back(self.case(case), by=self.member, at=timezone.now())
        return Response(status=204)


class Resolve(ConflictView):
    """Decide a conflict, and with `example` put it into the draft of the next version."""

    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=shapes.ResolveSerializer, responses=shapes.ResolutionSerializer)
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        found, sent = self.case(case), self.read(shapes.ResolveSerializer)
        text = example_text(sent.pop("example"))
        resolution = adjudication.resolve(found, **sent, example=text, by=self.member, at=timezone.now())
        return Response(shapes.ResolutionSerializer(resolution).data)


class Reopen(ConflictView):
    """Take a decision back, with a reason; it stays on record."""

    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=shapes.ReasonSerializer, responses=shapes.ResolutionSerializer)
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        found, sent = self.case(case), self.read(shapes.ReasonSerializer)
        taken_back = adjudication.reopen(found, **sent, by=self.member, at=timezone.now())
        return Response(shapes.ResolutionSerializer(taken_back).data)


class Promote(ConflictView):
    """Use the decision of a conflict as an example after the fact."""

    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=shapes.ExampleTextSerializer, responses=ExampleSerializer)
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        standing = self.case(case).resolutions.filter(standing=True).first()
        text = example_text(self.read(shapes.ExampleTextSerializer))
        if standing is None:
            raise adjudication.NotDecided(_("This case is open: decide it first."))
        made = adjudication.promote(standing, example=text, by=self.member, at=timezone.now())
        return Response(ExampleSerializer(made).data)


def example_text(sent: dict[str, Any] | None) -> adjudication.ExampleText | None:
    return adjudication.ExampleText(**sent) if sent else None


# -- what was asked about items ----------------------------------------------------------------------------------------


class Inquiries(MemberList):
    """Questions about items, the oldest first; none of a wave whose draw is open and in which you may still rate."""

    actions: ClassVar = {"GET": Action.EDIT_GUIDELINE}

    @extend_schema(
        responses=shapes.AskedSerializer(many=True), operation_id="inquiries_list", parameters=[shapes.InquiriesWanted]
    )
    def get(self, request: Request, project: UUID) -> Response:
        rows = inquiries.for_lead(self.member)
        state = self.wanted(shapes.InquiriesWanted).get("state")
        rows = {"open": rows.open, "answered": rows.answered}[state]() if state else rows
        return self.paged(rows, shapes.AskedSerializer)


class InquiryView(MemberView):
    """Whatever works on one question about an item."""

    actions: ClassVar = {"GET": Action.EDIT_GUIDELINE, "POST": Action.EDIT_GUIDELINE}

    def shown(self, inquiry: UUID) -> Response:
        found = inquiries.find(self.member, inquiry)
        return Response(shapes.AskedSerializer(found.inquiry, context={"member": self.member}).data)


class InquiryAnswer(InquiryView):
    """Answer it. Who asked and who labelled the item reads the answer once the draw of its wave has closed."""

    actions: ClassVar = {"POST": Action.EDIT_GUIDELINE}

    @extend_schema(request=shapes.InquiryAnswerSerializer, responses=shapes.AskedSerializer)
    def post(self, request: Request, project: UUID, inquiry: UUID) -> Response:
        found, sent = inquiries.find(self.member, inquiry), self.read(shapes.InquiryAnswerSerializer)
        inquiries.answer(found.inquiry, text=sent["answer"], by=self.member, at=timezone.now())
        return self.shown(inquiry)


class InquiryExample(InquiryView):
    """Put an answered question's item into the draft as an example, once the draw of its wave has closed."""

    actions: ClassVar = {"POST": Action.EDIT_GUIDELINE}

    @extend_schema(request=shapes.InquiryExampleSerializer, responses=ExampleSerializer)
    def post(self, request: Request, project: UUID, inquiry: UUID) -> Response:
        found, sent = inquiries.find(self.member, inquiry), self.read(shapes.InquiryExampleSerializer)
        made = inquiries.promote(found.inquiry, **sent, by=self.member, at=timezone.now())
        return Response(ExampleSerializer(made).data)


# -- exports -----------------------------------------------------------------------------------------------------------


class Exports(MemberList):
    actions: ClassVar = {"GET": Action.EXPORT, "POST": Action.EXPORT}

    @extend_schema(responses=JobSerializer(many=True), operation_id="exports_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(exporting.of_project(self.member.project), JobSerializer, ordering="-pk")

    @extend_schema(request=shapes.ExportSerializer, responses={202: JobSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.ExportSerializer)
        wanted = {"what": sent["what"], "file_format": sent["format"]}
        job = exporting.start(self.member.project, **wanted, by=self.member, at=timezone.now())
        return Response(JobSerializer(job).data, status=202)


class ExportFile(MemberView):
    actions: ClassVar = {"GET": Action.EXPORT}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """The file is what it is, whatever the client says that it accepts."""
        return super().perform_content_negotiation(request, force=True)

    @extend_schema(responses={(200, "text/csv"): OpenApiTypes.BINARY, (200, "application/jsonl"): OpenApiTypes.BINARY})
    def get(self, request: Request, project: UUID, job: UUID) -> FileResponse:
        found = self.one(exporting.of_project(self.member.project).select_related("project"), job)
        stream = exporting.download(found, self.member)
        media_type = f"{FORMATS[found.params['format']].media_type}; charset=utf-8"
        return FileResponse(stream, as_attachment=True, filename=found.file_name, content_type=media_type)
