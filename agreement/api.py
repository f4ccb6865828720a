"""The API of figures, gates and the protocol."""

from typing import ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agreement import gates, overview, people, report, runs
from agreement import protocol as protocols
from agreement import serializers as shapes
from annotations import draws
from annotations.models import Draw
from projects import access
from projects.api import MemberList, MemberView
from projects.enums import Action


class Agreement(MemberView):
    """The newest figure of every draw and question. Who still annotates the overlap of an open draw does not see it."""

    actions: ClassVar = {"GET": Action.SEE_AGREEMENT}

    @extend_schema(responses=shapes.RunSerializer(many=True), operation_id="agreement_list")
    def get(self, request: Request, project: UUID) -> Response:
        at = timezone.now()
        found = overview.draws_of(self.member.project)
        seen = {draw.pk: draw for draw in found if draws.may_see_figures(draw, self.member)}
        newest = [run for _key, run in sorted(runs.newest_of(seen.values()).items())]
        for run in newest:
            run.draw = seen[run.draw_id]
        for draw in {run.draw for run in newest}:
            draws.look(draw, by=self.member, at=at)
        # Who may decide a case, now or once the draw closes, must not learn here who said what.
        decides = access.allows(self.member, Action.ADJUDICATE)
        undecided = report.undecided(seen.values()) if decides else set()
        for run in newest:
            if decides and report.waits(run, undecided):
                run.result = people.kept_back(run.result, run.draw)
        return Response(shapes.RunSerializer(newest, many=True).data)


class Gates(MemberList):
    """Every decision of every gate, newest first."""

    actions: ClassVar = {"GET": Action.SEE_AGREEMENT}

    @extend_schema(responses=shapes.GateSerializer(many=True), operation_id="gates_list")
    def get(self, request: Request, project: UUID) -> Response:
        rows = gates.decisions(self.member.project).defer("draw__population")
        return self.paged(rows, shapes.GateSerializer, ordering="-pk")


class Waive(MemberView):
    """Let the next waves go although the gate of a draw holds; the reason stands with its figures."""

    actions: ClassVar = {"POST": Action.WAIVE_GATE}

    @extend_schema(request=shapes.WaiverSerializer, responses=shapes.GateSerializer)
    def post(self, request: Request, project: UUID, draw: UUID) -> Response:
        rows = Draw.objects.filter(wave__project=self.member.project).select_related("wave__project")
        found, sent = self.one(rows.defer("population"), draw), self.read(shapes.WaiverSerializer)
        decision = gates.waive(found, **sent, by=self.member, at=timezone.now())
        return Response(shapes.GateSerializer(decision).data)


class Protocol(MemberView):
    """What the draws to come will freeze; open and closed draws keep the copy that they froze."""

    actions: ClassVar = {"GET": Action.SETTINGS, "PUT": Action.SETTINGS}

    @extend_schema(responses=shapes.ProtocolSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        return Response(shapes.ProtocolSerializer(protocols.of_project(self.member.project)).data)

    @extend_schema(request=shapes.ProtocolSerializer, responses=shapes.ProtocolSerializer)
    def put(self, request: Request, project: UUID) -> Response:
        """Fields and questions that are left out stay as they are."""
        standing = protocols.of_project(self.member.project)
        sent = shapes.ProtocolSerializer(standing, data=request.data, partial=True)
        sent.is_valid(raise_exception=True)
        own = self.member.project
        raters = [str(member.uuid) for member in protocols.annotators(own)]
        wanted = shapes.changed(standing, sent.validated_data, protocols.metadata_fields(own), raters)
        protocols.save(self.member.project, wanted, by=self.member)
        return Response(shapes.ProtocolSerializer(wanted).data)
