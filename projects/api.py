"""The API of projects, members, items and jobs. Each view calls the function that its page calls."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from projects import access, archiving, importing, jobs, members
from projects import serializers as shapes
from projects.enums import Action, JobKind, Role
from projects.models import Item, Job, Membership, User
from projects.parsers import TooLarge
from projects.uploads import UploadLimit

M = TypeVar("M", bound=Model)


class Pages(CursorPagination):
    """By keyset: `next` and `previous` are addresses."""

    page_size, max_page_size, page_size_query_param, ordering = 100, 1000, "size", "pk"

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Every list is ordered by a whole number, so a cursor with anything else was not made here."""
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None and not _is_number(str(cursor.position)):
            raise NotFound(self.invalid_cursor_message)
        return cursor

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        address = {"type": ["string", "null"], "format": "uri"}
        properties = {"next": address, "previous": address, "results": schema}
        return {"type": "object", "required": list(properties), "properties": properties}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18


class MemberView(APIView):
    """Starts from `self.member`: who asks, in this project, allowed to do what `actions` says for the method."""

    actions: ClassVar[Mapping[str, Action]] = {}
    member: Membership

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        action = self.actions.get(request.method or "GET", Action.VIEW)
        self.member = access.member_for(request.user, kwargs["project"], action)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        add_never_cache_headers(answer)
        return answer

    def read(self, shape: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """What was sent, checked; 422 with the fields that cannot be used."""
        return _checked(shape, self.request.data)

    def wanted(self, shape: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """What the address asks for behind its question mark, checked in the same way."""
        return _checked(shape, self.request.query_params.dict())

    def one(self, rows: QuerySet[M], uuid: UUID) -> M:
        found = rows.filter(uuid=uuid).first()
        if found is None:
            raise Http404(_("There is no such thing in this project."))
        return found

    def paged(self, rows: QuerySet[Any], shape: type[BaseSerializer[Any]], ordering: str = "pk") -> Response:
        pages = Pages()
        pages.ordering = ordering
        page = pages.paginate_queryset(rows, self.request, view=self)
        return pages.get_paginated_response(shape(page, many=True, context={"member": self.member}).data)


class MemberList(MemberView):
    """A view whose GET is a list in pages; the name is the one that the schema's maker looks for."""

    pagination_class: ClassVar = Pages


def _checked(shape: type[BaseSerializer[Any]], data: Any) -> dict[str, Any]:
    found = shape(data=data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)


# -- projects and members ----------------------------------------------------------------------------------------------


class Projects(APIView):
    @extend_schema(responses=shapes.ProjectSerializer(many=True), operation_id="projects_list")
    def get(self, request: Request) -> Response:
        memberships = {member.project_id: member for member in access.projects_of(cast(User, request.user))}
        rows = [member.project for member in memberships.values()]
        return Response(shapes.ProjectSerializer(rows, many=True, context={"memberships": memberships}).data)

    @extend_schema(request=shapes.ProjectSerializer, responses={201: shapes.ProjectSerializer})
    def post(self, request: Request) -> Response:
        fields = _checked(shapes.ProjectSerializer, request.data)
        description = fields.get("description", "")
        made = members.found(name=fields["name"], description=description, user=cast(User, request.user))
        return Response(_project(made), status=201)


class Project(MemberView):
    @extend_schema(responses=shapes.ProjectSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        return Response(_project(self.member))


class Archive(MemberView):
    """Archive a project: it is read only for everybody from then on. DELETE takes it back. Either may be repeated."""

    actions: ClassVar = {"POST": Action.MANAGE_PROJECT, "DELETE": Action.MANAGE_PROJECT}

    @extend_schema(request=None, responses=shapes.ProjectSerializer)
    def post(self, request: Request, project: UUID) -> Response:
        archiving.archive(self.member.project, by=self.member, at=timezone.now())
        return Response(_project(self.member))

    @extend_schema(request=None, responses=shapes.ProjectSerializer)
    def delete(self, request: Request, project: UUID) -> Response:
        archiving.take_back(self.member.project, by=self.member)
        return Response(_project(self.member))


def _project(member: Membership) -> Any:
    context = {"memberships": {member.project_id: member}}
    return shapes.ProjectSerializer(member.project, context=context).data


class Members(MemberList):
    actions: ClassVar = {"GET": Action.SEE_MEMBERS, "POST": Action.MANAGE_MEMBERS}

    @extend_schema(responses=shapes.MemberSerializer(many=True), operation_id="members_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(self.member.project.memberships.select_related("user"), shapes.MemberSerializer)

    @extend_schema(request=shapes.NewMemberSerializer, responses={201: shapes.MemberSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.NewMemberSerializer)
        roles = {Role(role) for role in sent["roles"]}
        made = members.add(self.member.project, username=sent["username"], roles=roles, by=self.member)
        return Response(shapes.MemberSerializer(made).data, status=201)


class MemberDetail(MemberView):
    """One member: their roles, and whether they are active. What they made stays either way."""

    actions: ClassVar = {"GET": Action.SEE_MEMBERS, "PATCH": Action.MANAGE_MEMBERS}

    def person(self, uuid: UUID) -> Membership:
        return self.one(self.member.project.memberships.select_related("project", "user"), uuid)

    @extend_schema(responses=shapes.MemberSerializer)
    def get(self, request: Request, project: UUID, member: UUID) -> Response:
        return Response(shapes.MemberSerializer(self.person(member)).data)

    @extend_schema(request=shapes.MemberChangeSerializer, responses=shapes.MemberSerializer)
    def patch(self, request: Request, project: UUID, member: UUID) -> Response:
        person, sent = self.person(member), self.read(shapes.MemberChangeSerializer)
        if "roles" in sent:
            person = members.set_roles(person, {Role(role) for role in sent["roles"]}, by=self.member)
        if sent.get("active") is True and not person.active:
            person = members.reactivate(person, by=self.member)
        if sent.get("active") is False:
            person = members.deactivate(person, by=self.member, at=timezone.now())
        return Response(shapes.MemberSerializer(person).data)


# -- items -------------------------------------------------------------------------------------------------------------


class Items(MemberList):
    actions: ClassVar = {"GET": Action.SEE_ITEMS}

    @extend_schema(
        responses=shapes.ItemSerializer(many=True), operation_id="items_list", parameters=[shapes.ItemsWanted]
    )
    def get(self, request: Request, project: UUID) -> Response:
        rows = Item.objects.arrived().filter(project=self.member.project).select_related("batch")
        return self.paged(rows.filter(**self.wanted(shapes.ItemsWanted)), shapes.ItemSerializer)


class ItemDetail(MemberView):
    actions: ClassVar = {"GET": Action.SEE_ITEMS}

    @extend_schema(responses=shapes.ItemSerializer)
    def get(self, request: Request, project: UUID, item: UUID) -> Response:
        rows = Item.objects.arrived().filter(project=self.member.project).select_related("batch")
        return Response(shapes.ItemSerializer(self.one(rows, item)).data)


class UploadView(MemberView):
    """Takes a file that may be as large as the server says, and not larger."""

    limit: UploadLimit

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """The limit has to stand before anything reads the body, the check of the session's token included."""
        self.limit = UploadLimit(request, settings.UPLOAD_MEGABYTES * 1024 * 1024)
        request.upload_handlers.insert(0, self.limit)
        return super().initialize_request(request, *args, **kwargs)

    def read(self, shape: type[BaseSerializer[Any]]) -> dict[str, Any]:
        sent = self.request.data  # read first: only then it is known whether the file was too large
        if self.limit.exceeded:
            raise TooLarge(
                _("The file has more than %(limit)s megabytes: split it.") % {"limit": settings.UPLOAD_MEGABYTES}
            )
        return _checked(shape, sent)


class Imports(UploadView):
    """Upload a file: a job checks it; look at what it found, then confirm."""

    actions: ClassVar = {"POST": Action.IMPORT}

    @extend_schema(request={"multipart/form-data": shapes.ImportSerializer}, responses={202: shapes.JobSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.ImportSerializer)
        job = importing.start(
            self.member.project,
            upload=sent["file"],
            by=self.member,
            name=sent["name"],
            format_key=sent["format"],
            shown=sent.get("shown"),
            id_field=sent.get("id_field"),
            metadata=sent.get("metadata"),
            at=timezone.now(),
        )
        return Response(shapes.JobSerializer(job).data, status=202)


class ImportDetail(MemberView):
    """An uploaded file: what its check found, other fields for it, or away with it."""

    actions: ClassVar = dict.fromkeys(["GET", "PUT", "DELETE"], Action.IMPORT)

    def upload(self, job: UUID) -> Job:
        uploads = self.member.project.jobs.filter(kind=JobKind.IMPORT_PREVIEW)
        return self.one(uploads.select_related("project", "created_by__user"), job)

    @extend_schema(responses=shapes.UploadSerializer)
    def get(self, request: Request, project: UUID, job: UUID) -> Response:
        return Response(shapes.UploadSerializer(self.upload(job)).data)

    @extend_schema(request=shapes.FieldsSerializer, responses={202: shapes.UploadSerializer})
    def put(self, request: Request, project: UUID, job: UUID) -> Response:
        found, sent = self.upload(job), self.read(shapes.FieldsSerializer)
        return Response(shapes.UploadSerializer(importing.choose(found, **sent)).data, status=202)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, job: UUID) -> Response:
        importing.discard(self.upload(job), at=timezone.now())
        return Response(status=204)


class ImportConfirm(ImportDetail):
    actions: ClassVar = {"POST": Action.IMPORT}
    http_method_names = ["post", "options"]

    @extend_schema(request=shapes.ConfirmSerializer, responses={202: shapes.JobSerializer})
    def post(self, request: Request, project: UUID, job: UUID) -> Response:
        found, sent = self.upload(job), self.read(shapes.ConfirmSerializer)
        made = importing.confirm(found, by=self.member, at=timezone.now(), **sent)
        return Response(shapes.JobSerializer(made).data, status=202)


class JobDetail(MemberView):
    """A long job: its state, its progress, its result. Whoever may start such a job may look at it."""

    @extend_schema(responses=shapes.JobSerializer)
    def get(self, request: Request, project: UUID, job: UUID) -> Response:
        visible = [kind for kind, action in jobs.NEEDED.items() if access.allows(self.member, action)]
        rows = self.member.project.jobs.filter(kind__in=visible).select_related("created_by__user")
        return Response(shapes.JobSerializer(self.one(rows, job)).data)
