"""The API of labelling: the next item, a label, a skip, one's own labels.

What an annotator gets is built from `serving.Task` and from their own annotations, which tell nothing of the overlap.
"""

from typing import ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import inquiries, labelling, publishing, serving
from annotations import serializers as shapes
from projects import guidelines
from projects.api import MemberList, MemberView
from projects.enums import Action


class Acknowledge(MemberView):
    """Say that you have read a version; without it no item is served."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, project: UUID, version: UUID) -> Response:
        found = self.one(guidelines.published(self.member.project), version)
        publishing.acknowledge(self.member, found, at=timezone.now())
        return Response(status=204)


class NextTask(MemberView):
    """The item to label now, with a lease; asked again, the same one. Or why there is none."""

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
            return Response(shapes.NothingSerializer({"nothing": task}).data)
        return Response(shapes.TaskSerializer(task).data)


class Submit(MemberView):
    """Save what you answered. The same again changes nothing; the reply then says so."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.SubmitSerializer, responses=shapes.SavedSerializer)
    def post(self, request: Request, project: UUID, assignment: UUID) -> Response:
        sent = self.read(shapes.SubmitSerializer)
        saved = labelling.submit(self.member, assignment, **sent, at=timezone.now())
        return Response(shapes.SavedSerializer(saved).data)


class Skip(MemberView):
    """Leave the item to somebody else, with a reason."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.SkipSerializer, responses={204: None})
    def post(self, request: Request, project: UUID, assignment: UUID) -> Response:
        labelling.skip(self.member, assignment, **self.read(shapes.SkipSerializer), at=timezone.now())
        return Response(status=204)


class Ask(MemberView):
    """Ask about an item of yours, in hand or labelled. The same question again is the same one."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.AskSerializer, responses={201: shapes.InquiryKeptSerializer})
    def post(self, request: Request, project: UUID, assignment: UUID) -> Response:
        inquiries.assignment_of(self.member, assignment)
        kept = inquiries.ask(self.member, assignment, **self.read(shapes.AskSerializer), at=timezone.now())
        return Response(shapes.InquiryKeptSerializer({"inquiry": kept.uuid}).data, status=201)


class Answers(MemberList):
    """Your questions, and the answers about items that you labelled, newest first. An answer waits for its round."""

    actions: ClassVar = {"GET": Action.LABEL}

    @extend_schema(responses=shapes.ToldSerializer(many=True), operation_id="answers_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(inquiries.to(self.member), shapes.ToldSerializer, ordering="-pk")


class Unfinished(MemberView):
    """Keep what was typed so far; it also keeps the lease."""

    actions: ClassVar = {"PUT": Action.LABEL}

    @extend_schema(request=shapes.UnfinishedSerializer, responses={204: None})
    def put(self, request: Request, project: UUID, assignment: UUID) -> Response:
        draft = self.read(shapes.UnfinishedSerializer)
        labelling.save_draft(self.member, assignment, draft=draft, at=timezone.now())
        return Response(status=204)


class OwnAnnotations(MemberList):
    """What you have labelled, newest first."""

    actions: ClassVar = {"GET": Action.LABEL}

    @extend_schema(responses=shapes.OwnAnnotationSerializer(many=True), operation_id="annotations_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(labelling.history(self.member), shapes.OwnAnnotationSerializer, ordering="-seq")


class Correct(MemberView):
    """Change your own label: a new revision. Within the window it counts, afterwards it is kept beside."""

    actions: ClassVar = {"POST": Action.LABEL}

    @extend_schema(request=shapes.AnswersSerializer, responses=shapes.SavedSerializer)
    def post(self, request: Request, project: UUID, annotation: UUID) -> Response:
        sent = self.read(shapes.AnswersSerializer)
        saved = labelling.correct(self.member, annotation, **sent, at=timezone.now())
        return Response(shapes.SavedSerializer(saved).data)
