"""The API of waves, labelling, conflicts and exports. Each view calls the function that its page calls."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import FileResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import adjudication, cases, draws, exporting, labelling, publishing, serving
from annotations import serializers as shapes
from annotations.enums import CaseState
from annotations.models import Wave
from projects import guidelines
from projects.api import Draft, MemberView
from projects.enums import Action
from projects.serializers import JobSerializer, PublishSerializer, VersionSerializer


class Publish(Draft):
    """Publish the draft; a material change ends the open draws of the MAJOR before it."""

    actions: ClassVar = {"POST": Action.PUBLISH}
    http_method_names: ClassVar = ["post", "options"]

    @extend_schema(request=PublishSerializer, responses=VersionSerializer)
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(PublishSerializer)
        made = publishing.publish(self.draft(), **sent, by=self.member, at=timezone.now())
        return Response(VersionSerializer(made).data)


class Acknowledge(MemberView):
    """Say that you have read a version; without it no item is served."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, project: UUID, version: UUID) -> Response:
        found = get_object_or_404(guidelines.published(self.member.project), uuid=version)
        publishing.acknowledge(self.member, found, at=timezone.now())
        return Response(status=204)


# -- waves -------------------------------------------------------------------------------------------------------------


class Waves(MemberView):
    actions: ClassVar = {"GET": Action.RUN_WAVES, "POST": Action.RUN_WAVES}

    @extend_schema(responses=shapes.WaveSerializer(many=True), operation_id="waves_list")
    def get(self, request: Request, project: UUID) -> Response:
        rows = self.member.project.waves.select_related("version", "draw").defer("draw__population")
        return self.paged(rows, shapes.WaveSerializer, ordering="-number")

    @extend_schema(request=shapes.OpenWaveSerializer, responses={201: shapes.WaveSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.OpenWaveSerializer)
        wave = draws.open_wave(self.member.project, **sent, by=self.member, at=timezone.now())
        return Response(shapes.WaveSerializer(wave).data, status=201)


class WaveDetail(MemberView):
    actions: ClassVar = {"GET": Action.RUN_WAVES, "POST": Action.RUN_WAVES}

    def wave(self, wave: UUID) -> Wave:
        return get_object_or_404(self.member.project.waves.select_related("version", "draw"), uuid=wave)

    @extend_schema(responses=shapes.WaveSerializer)
    def get(self, request: Request, project: UUID, wave: UUID) -> Response:
        return Response(shapes.WaveSerializer(self.wave(wave)).data)


class CloseDraw(WaveDetail):
    """Close the draw of a wave short, or early with a reason."""

    http_method_names: ClassVar = ["post", "options"]

    @extend_schema(request=shapes.CloseSerializer, responses=shapes.DrawSerializer)
    def post(self, request: Request, project: UUID, wave: UUID) -> Response:
        sent = self.read(shapes.CloseSerializer)
        draw = draws.draw_of(self.wave(wave))
        return Response(shapes.DrawSerializer(draws.close(draw, **sent, by=self.member, at=timezone.now())).data)


# -- labelling ---------------------------------------------------------------------------------------------------------


class NextTask(MemberView):
    """The item to label now, with a lease; asked again, the same one."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(
        request=None,
        responses=PolymorphicProxySerializer(
            "TaskOrNothing", [shapes.TaskSerializer, shapes.NothingSerializer], resource_type_field_name=None
        ),
    )
    def post(self, request: Request, project: UUID) -> Response:
        task = serving.next_task(self.member, at=timezone.now())
        if isinstance(task, serving.Nothing):
            return Response({"nothing": shapes.NothingSerializer(task).data})
        return Response(shapes.TaskSerializer(task).data)


class Submit(MemberView):
    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.SubmitSerializer, responses=shapes.SavedSerializer)
    def post(self, request: Request, project: UUID, assignment: UUID) -> Response:
        sent = self.read(shapes.SubmitSerializer)
        saved = labelling.submit(self.member, assignment, **sent, at=timezone.now())
        return Response(shapes.SavedSerializer(saved).data)


class Skip(MemberView):
    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.SkipSerializer, responses={204: None})
    def post(self, request: Request, project: UUID, assignment: UUID) -> Response:
        labelling.skip(self.member, assignment, **self.read(shapes.SkipSerializer), at=timezone.now())
        return Response(status=204)


class OwnAnnotations(MemberView):
    """What you have labelled, newest first."""

    actions: ClassVar = {"GET": Action.LABEL}

    @extend_schema(responses=shapes.OwnAnnotationSerializer(many=True), operation_id="annotations_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(labelling.history(self.member), shapes.OwnAnnotationSerializer, ordering="-seq")


class Correct(MemberView):
    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.AnswersSerializer, responses=shapes.SavedSerializer)
    def post(self, request: Request, project: UUID, annotation: UUID) -> Response:
        sent = self.read(shapes.AnswersSerializer)
        saved = labelling.correct(self.member, annotation, **sent, at=timezone.now())
        return Response(shapes.SavedSerializer(saved).data)


# -- conflicts ---------------------------------------------------------------------------------------------------------


class Conflicts(MemberView):
    """The conflicts that you may decide: those whose items you did not rate."""

    actions: ClassVar = {"GET": Action.ADJUDICATE}

    @extend_schema(
        responses=shapes.ConflictSerializer(many=True),
        operation_id="conflicts_list",
        parameters=[
            OpenApiParameter("state", enum=CaseState.values),
            OpenApiParameter("question", str),
            OpenApiParameter("draw", OpenApiTypes.UUID),
        ],
    )
    def get(self, request: Request, project: UUID) -> Response:
        rows = cases.for_member(self.member).select_related("item", "draw").defer("draw__population")
        names = {"state": "state", "question": "question_key", "draw": "draw__uuid"}
        for name, field in names.items():
            if name in request.query_params:
                rows = rows.filter(**{field: request.query_params[name]})
        return self.paged(rows, shapes.ConflictSerializer)


class Conflict(MemberView):
    actions: ClassVar = {"GET": Action.ADJUDICATE}

    @extend_schema(responses=shapes.ConflictSerializer)
    def get(self, request: Request, project: UUID, case: UUID) -> Response:
        found = cases.find(self.member, case)
        shown: dict[str, Any] = dict(shapes.ConflictSerializer(found).data)
        resolutions = found.resolutions.select_related("by__user", "example").order_by("at")
        return Response(shown | {"resolutions": shapes.ResolutionSerializer(resolutions, many=True).data})


class Resolve(MemberView):
    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=shapes.ResolveSerializer, responses=shapes.ResolutionSerializer)
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        sent = self.read(shapes.ResolveSerializer)
        example = sent.pop("example")
        resolution = adjudication.resolve(
            cases.find(self.member, case),
            **sent,
            example=adjudication.ExampleText(**example) if example else None,
            by=self.member,
            at=timezone.now(),
        )
        return Response(shapes.ResolutionSerializer(resolution).data)


class Reopen(MemberView):
    actions: ClassVar = {"POST": Action.ADJUDICATE}

    @extend_schema(request=shapes.ReasonSerializer, responses=shapes.ResolutionSerializer)
    def post(self, request: Request, project: UUID, case: UUID) -> Response:
        sent = self.read(shapes.ReasonSerializer)
        found = cases.find(self.member, case)
        taken_back = adjudication.reopen(found, reason=sent["reason"], by=self.member, at=timezone.now())
        return Response(shapes.ResolutionSerializer(taken_back).data)


# -- exports -----------------------------------------------------------------------------------------------------------


class Exports(MemberView):
    actions: ClassVar = {"GET": Action.EXPORT, "POST": Action.EXPORT}

    @extend_schema(responses=JobSerializer(many=True), operation_id="exports_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(exporting.of_project(self.member.project), JobSerializer, ordering="-pk")

    @extend_schema(request=shapes.ExportSerializer, responses={202: JobSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.ExportSerializer)
        job = exporting.start(
            self.member.project, what=sent["what"], file_format=sent["format"], by=self.member, at=timezone.now()
        )
        return Response(JobSerializer(job).data, status=202)


class ExportFile(MemberView):
    actions: ClassVar = {"GET": Action.EXPORT}

    @extend_schema(responses={(200, "application/octet-stream"): OpenApiTypes.BINARY})
    def get(self, request: Request, project: UUID, job: UUID) -> FileResponse:
        found = get_object_or_404(exporting.of_project(self.member.project), uuid=job)
        file = exporting.download(found, self.member)
        return FileResponse(file, as_attachment=True, filename=exporting.file_name(found))
