"""The API of projects, guideline versions, items and jobs. Each view calls the function that its page calls."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from projects import access, drafts, examples, guidelines, importing, members
from projects import serializers as shapes
from projects.enums import Action, Role, Standing
from projects.errors import DomainError
from projects.models import GuidelineVersion, Item, Job, Membership


class Pages(CursorPagination):
    """By keyset: `next` and `previous` are addresses."""

    page_size, max_page_size, page_size_query_param, ordering = 100, 1000, "size", "pk"


class MemberView(APIView):
    """Starts from `self.member`: who asks, in this project, allowed to do what `actions` says for the method."""

    actions: ClassVar[dict[str, Action]] = {}
    member: Membership

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        action = self.actions.get(request.method or "GET", Action.VIEW)
        self.member = access.member_for(request.user, kwargs["project"], action)

    def read(self, shape: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """What was sent, checked; 422 with the fields that cannot be used."""
        found = shape(data=self.request.data)
        found.is_valid(raise_exception=True)
        return dict(found.validated_data)

    def paged(self, rows: QuerySet[Any], shape: type[BaseSerializer[Any]], ordering: str = "pk") -> Response:
        pages = Pages()
        pages.ordering = ordering
        page = pages.paginate_queryset(rows, self.request, view=self)
        return pages.get_paginated_response(shape(page, many=True).data)


class Projects(APIView):
    @extend_schema(responses=shapes.ProjectSerializer(many=True), operation_id="projects_list")
    def get(self, request: Request) -> Response:
        memberships = {member.project_id: member for member in access.projects_of(request.user)}
        rows = [member.project for member in memberships.values()]
        return Response(shapes.ProjectSerializer(rows, many=True, context={"memberships": memberships}).data)

    @extend_schema(request=shapes.ProjectSerializer, responses={201: shapes.ProjectSerializer})
    def post(self, request: Request) -> Response:
        sent = shapes.ProjectSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        fields = sent.validated_data
        made = members.found(name=fields["name"], description=fields.get("description", ""), user=request.user)
        shape = shapes.ProjectSerializer(made.project, context={"memberships": {made.project_id: made}})
        return Response(shape.data, status=201)


class Project(MemberView):
    @extend_schema(responses=shapes.ProjectSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        context = {"memberships": {self.member.project_id: self.member}}
        return Response(shapes.ProjectSerializer(self.member.project, context=context).data)


class Members(MemberView):
    actions: ClassVar = {"GET": Action.SEE_MEMBERS, "POST": Action.MANAGE_MEMBERS}

    @extend_schema(responses=shapes.MemberSerializer(many=True), operation_id="members_list")
    def get(self, request: Request, project: UUID) -> Response:
        rows = self.member.project.memberships.select_related("user")
        return self.paged(rows, shapes.MemberSerializer)

    @extend_schema(request=shapes.NewMemberSerializer, responses={201: shapes.MemberSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.NewMemberSerializer)
        roles = {Role(role) for role in sent["roles"]}
        made = members.add(self.member.project, username=sent["username"], roles=roles, by=self.member)
        return Response(shapes.MemberSerializer(made).data, status=201)


# -- guideline ---------------------------------------------------------------------------------------------------------


class Versions(MemberView):
    @extend_schema(responses=shapes.VersionSerializer(many=True), operation_id="versions_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(guidelines.published(self.member.project), shapes.VersionSerializer, ordering="-pk")


class Version(MemberView):
    @extend_schema(responses=shapes.VersionDetailSerializer)
    def get(self, request: Request, project: UUID, version: UUID) -> Response:
        found = get_object_or_404(guidelines.published(self.member.project), uuid=version)
        return Response(shapes.VersionDetailSerializer(found).data)


class Examples(MemberView):
    @extend_schema(responses=shapes.ExampleSerializer(many=True), operation_id="examples_list")
    def get(self, request: Request, project: UUID, version: UUID) -> Response:
        found = get_object_or_404(guidelines.published(self.member.project), uuid=version)
        return self.paged(found.examples.all(), shapes.ExampleSerializer)


class Draft(MemberView):
    """The one draft of the project: read it, make it, save its text."""

    actions: ClassVar = dict.fromkeys(["GET", "POST", "PUT"], Action.EDIT_GUIDELINE)

    @extend_schema(responses=shapes.VersionDetailSerializer, operation_id="draft_retrieve")
    def get(self, request: Request, project: UUID) -> Response:
        return Response(shapes.VersionDetailSerializer(self.draft()).data)

    @extend_schema(request=None, responses=shapes.VersionDetailSerializer)
    def post(self, request: Request, project: UUID) -> Response:
        draft = guidelines.draft_of(self.member.project, by=self.member, at=timezone.now())
        return Response(shapes.VersionDetailSerializer(draft).data)

    @extend_schema(request=shapes.TextSerializer, responses=shapes.VersionDetailSerializer)
    def put(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.TextSerializer)
        saved = drafts.save_text(self.draft(), text=sent["text"], revision=sent["revision"], by=self.member)
        return Response(shapes.VersionDetailSerializer(saved).data)

    def draft(self) -> GuidelineVersion:
        draft = drafts.current(self.member.project)
        if draft is None:
            raise DomainError(_("This project has no draft: POST here to make one."), code="no_draft", status=404)
        return draft


class DraftExamples(Draft):
    @extend_schema(responses=shapes.ExampleSerializer(many=True), operation_id="draft_examples_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(self.draft().examples.all(), shapes.ExampleSerializer)

    @extend_schema(request=shapes.ExampleSerializer, responses={201: shapes.ExampleSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.ExampleSerializer)
        made = examples.add_example(self.draft(), **sent, by=self.member, at=timezone.now())
        return Response(shapes.ExampleSerializer(made).data, status=201)

    @extend_schema(exclude=True)
    def put(self, request: Request, project: UUID) -> Response:
        return self.http_method_not_allowed(request)


# -- items -------------------------------------------------------------------------------------------------------------


class Items(MemberView):
    actions: ClassVar = {"GET": Action.SEE_ITEMS}

    @extend_schema(
        responses=shapes.ItemSerializer(many=True),
        operation_id="items_list",
        parameters=[OpenApiParameter("standing", enum=Standing.values), OpenApiParameter("external_id", str)],
    )
    def get(self, request: Request, project: UUID) -> Response:
        rows = Item.objects.arrived().filter(project=self.member.project).select_related("batch")
        for name in ("standing", "external_id"):
            if name in request.query_params:
                rows = rows.filter(**{name: request.query_params[name]})
        return self.paged(rows, shapes.ItemSerializer)


class ItemDetail(MemberView):
    actions: ClassVar = {"GET": Action.SEE_ITEMS}

    @extend_schema(responses=shapes.ItemSerializer)
    def get(self, request: Request, project: UUID, item: UUID) -> Response:
        rows = Item.objects.arrived().filter(project=self.member.project).select_related("batch")
        return Response(shapes.ItemSerializer(get_object_or_404(rows, uuid=item)).data)


class Imports(MemberView):
    """Upload a file: a job checks it; look at it, then confirm."""

    actions: ClassVar = {"POST": Action.IMPORT}

    @extend_schema(request={"multipart/form-data": shapes.ImportSerializer}, responses={202: shapes.JobSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.ImportSerializer)
        job = importing.start(
            self.member.project, upload=sent["file"], by=self.member, format_key=sent["format"], at=timezone.now()
        )
        if sent.get("shown"):
            metadata = sent.get("metadata", [])
            job = importing.choose(job, shown=sent["shown"], id_field=sent["id_field"], metadata=metadata)
        return Response(shapes.JobSerializer(job).data, status=202)


class ImportConfirm(MemberView):
    actions: ClassVar = {"POST": Action.IMPORT}

    @extend_schema(request=shapes.ConfirmSerializer, responses={202: shapes.JobSerializer})
    def post(self, request: Request, project: UUID, job: UUID) -> Response:
        sent = self.read(shapes.ConfirmSerializer)
        found = get_object_or_404(self.member.project.jobs.filter(kind="import_preview"), uuid=job)
        also = {"also": sent["also"]} if "also" in sent else {}
        made = importing.confirm(found, by=self.member, at=timezone.now(), **also)
        return Response(shapes.JobSerializer(made).data, status=202)


class JobDetail(MemberView):
    """A long job: its state, its progress, its result. Whoever may start such a job may look at it."""

    NEEDED: ClassVar = {"export": Action.EXPORT, "open_wave": Action.RUN_WAVES}

    @extend_schema(responses=shapes.JobSerializer)
    def get(self, request: Request, project: UUID, job: UUID) -> Response:
        found: Job = get_object_or_404(self.member.project.jobs.select_related("created_by__user"), uuid=job)
        access.require(self.member, self.NEEDED.get(found.kind, Action.IMPORT))
        return Response(shapes.JobSerializer(found).data)
