"""The API of figures and gates."""

from typing import ClassVar
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agreement import gates, runs
from agreement import serializers as shapes
from annotations import draws
from annotations.models import Draw
from projects.api import MemberView
from projects.enums import Action


class Agreement(MemberView):
    """The newest figure of every draw and question. Who still annotates the overlap of an open draw does not see it."""

    actions: ClassVar = {"GET": Action.SEE_AGREEMENT}

    @extend_schema(responses=shapes.RunSerializer(many=True), operation_id="agreement_list")
    def get(self, request: Request, project: UUID) -> Response:
        at = timezone.now()
        found = Draw.objects.filter(wave__project=self.member.project).select_related("wave__version")
        seen = [draw for draw in found.defer("population") if draws.may_see_figures(draw, self.member)]
        for draw in seen:
            draws.look(draw, by=self.member, at=at)
        by_draw = {draw.pk: draw for draw in seen}
        newest = sorted(runs.newest_of(seen).items())
        for (draw_id, _question), run in newest:
            run.draw = by_draw[draw_id]
        return Response(shapes.RunSerializer([run for _key, run in newest], many=True).data)


class Gates(MemberView):
    """Every decision of every gate, newest first."""

    actions: ClassVar = {"GET": Action.SEE_AGREEMENT}

    @extend_schema(responses=shapes.GateSerializer(many=True), operation_id="gates_list")
    def get(self, request: Request, project: UUID) -> Response:
        rows = gates.decisions(self.member.project)
        return self.paged(rows, shapes.GateSerializer, ordering="-pk")


class Waive(MemberView):
    actions: ClassVar = {"POST": Action.WAIVE_GATE}

    @extend_schema(request=shapes.WaiverSerializer, responses=shapes.GateSerializer)
    def post(self, request: Request, project: UUID, draw: UUID) -> Response:
        sent = self.read(shapes.WaiverSerializer)
        found = get_object_or_404(Draw.objects.filter(wave__project=self.member.project), uuid=draw)
        decision = gates.waive(found, reason=sent["reason"], by=self.member, at=timezone.now())
        return Response(shapes.GateSerializer(decision).data)
