"""The API of ratings that were made elsewhere: upload them, look at what was found, say what is what, confirm."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import imported, imported_report, rating_values
from annotations.enums import RatingProblem, ResolutionRule
from annotations.imported_report import Report
from annotations.rating_layouts import SHAPES, Layout
from projects.api import MemberView, UploadView
from projects.enums import Action, JobKind, JobState
from projects.errors import Invalid
from projects.models import Job
from projects.serializers import IMPORT_FORMATS, JobSerializer, JsonField, written

Values = dict[str, dict[str, str | None]]


class RatingsLayoutSerializer(serializers.Serializer[Layout]):
    """Which field is what. Long: a row for each rating. Wide: a column for each rater. Nested: all in one field."""

    shape = serializers.ChoiceField(choices=SHAPES)
    shown = serializers.ListField(
        child=written(), required=False, default=list, help_text="fields shown, in order; none: the items are here"
    )
    id_field = written(required=False, default="")
    metadata = serializers.ListField(child=written(), required=False, default=list)
    labels = serializers.DictField(
        child=written(), help_text="question key -> the field of its labels; empty where each rater has a column"
    )
    rater = written(required=False, default="", help_text="long: the field of the rater")
    raters = serializers.ListField(child=written(), required=False, default=list, help_text="wide: the columns")
    comment = written(required=False, default="")
    anonymous = serializers.BooleanField(
        required=False, default=False, help_text="raters are places of ratings, not people"
    )


class RatingsUploadSerializer(serializers.Serializer[Any]):
    """A layout that is left out is guessed from the first rows."""

    file = serializers.FileField(allow_empty_file=True)
    name = serializers.CharField(required=False, default="", allow_blank=True, help_text="of the batch")
    format = serializers.ChoiceField(choices=IMPORT_FORMATS, required=False, default="")
    layout = serializers.JSONField(required=False, help_text="as JSON, as the answer has it")

    def validate_layout(self, sent: Any) -> Layout:
        found = RatingsLayoutSerializer(data=sent)
        found.is_valid(raise_exception=True)
        return Layout.of(found.validated_data)


class RatingsKindSerializer(serializers.Serializer[Any]):
    """Rows with one kind of problem. They are left out."""

    problem = serializers.ChoiceField(choices=RatingProblem.choices)
    count = serializers.IntegerField()


class RatingsProblemSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField(help_text="of the row, as an editor counts lines")
    problem = serializers.ChoiceField(choices=RatingProblem.choices)
    message = serializers.CharField()
    external_id = serializers.CharField()


class RatingsValueSerializer(serializers.Serializer[Any]):
    """A value of the file and the label that it speaks for; null where it has to be said."""

    question = serializers.CharField()
    value = JsonField(source="raw")
    count = serializers.IntegerField()
    rows = serializers.ListField(child=serializers.IntegerField(), help_text="the first of them")
    label_key = serializers.CharField(source="guess", allow_null=True)


class RatingsReportSerializer(serializers.Serializer[Report]):
    """`overlap`: items with two ratings or more; `unrated`: with none, left out; `bad`: rows that are left out."""

    rows = serializers.IntegerField()
    items = serializers.IntegerField()
    unrated = serializers.IntegerField()
    overlap = serializers.IntegerField()
    ratings = serializers.IntegerField()
    bad = serializers.IntegerField()
    raters = serializers.DictField(child=serializers.IntegerField(), help_text="name -> ratings")
    kinds = RatingsKindSerializer(many=True)
    values = RatingsValueSerializer(many=True)


class RatingsPreviewSerializer(JobSerializer):
    """An uploaded file with what its check found: nothing until the job is done."""

    fields_found = serializers.SerializerMethodField()
    layout = serializers.SerializerMethodField()
    report = serializers.SerializerMethodField()
    problems = serializers.SerializerMethodField(help_text="the first 100 rows with one")
    attempt = serializers.IntegerField(source="attempts", help_text="of reading the file; a confirmation may name it")
    note = serializers.SerializerMethodField(help_text="what stands beside every figure of these ratings")

    class Meta(JobSerializer.Meta):
        fields = [
            *JobSerializer.Meta.fields,
            *("fields_found", "layout", "report", "problems", "attempt", "note"),
        ]
        read_only_fields = fields

    def get_fields_found(self, job: Job) -> list[str]:
        return [field["name"] for field in job.params["fields"]]

    @extend_schema_field(RatingsLayoutSerializer)
    def get_layout(self, job: Job) -> Any:
        return RatingsLayoutSerializer(imported.layout_of(job)).data

    @extend_schema_field(RatingsReportSerializer(allow_null=True))
    def get_report(self, job: Job) -> Any:
        return RatingsReportSerializer(imported_report.of(job)).data if job.state == JobState.DONE else None

    @extend_schema_field(RatingsProblemSerializer(many=True))
    def get_problems(self, job: Job) -> Any:
        found = imported_report.problems(job) if job.state == JobState.DONE else []
        return RatingsProblemSerializer(found, many=True).data

    def get_note(self, job: Job) -> str:
        return str(imported.NOT_KNOWN)


class RatingsChoiceSerializer(serializers.Serializer[Any]):
    """The label that a value of the file stands for; null leaves its ratings out."""

    question = serializers.CharField(required=False, default="", help_text="may be left out if there is one")
    value = JsonField()
    label_key = serializers.CharField(allow_null=True)


class RatingsConfirmSerializer(serializers.Serializer[Any]):
    """`raters`: name in the file -> uuid of the member who that is; the others become members without an account."""

    values = RatingsChoiceSerializer(many=True, required=False, default=list)
    raters = serializers.DictField(child=serializers.UUIDField(), required=False, default=dict)
    attempt = serializers.IntegerField(required=False, default=None, allow_null=True)
    resolution_rule = serializers.ChoiceField(
        choices=ResolutionRule.choices,
        required=False,
        allow_blank=True,
        default="",
        help_text="what decides the conflicts; left out: what the project's protocol says",
    )


class Ratings(UploadView):
    """Upload a file of ratings: a job checks it; look at what it found, then confirm."""

    actions: ClassVar = {"POST": Action.IMPORT}

    @extend_schema(request={"multipart/form-data": RatingsUploadSerializer}, responses={202: JobSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(RatingsUploadSerializer)
        job = imported.start(
            self.member.project,
            upload=sent["file"],
            by=self.member,
            name=sent["name"],
            format_key=sent["format"],
            layout=sent.get("layout"),
            at=timezone.now(),
        )
        return Response(JobSerializer(job).data, status=202)


class RatingsDetail(MemberView):
    """An uploaded file of ratings: what its check found, another layout for it, or away with it."""

    actions: ClassVar = dict.fromkeys(["GET", "PUT", "DELETE"], Action.IMPORT)

    def upload(self, job: UUID) -> Job:
        uploads = self.member.project.jobs.filter(kind=JobKind.RATINGS_PREVIEW)
        return self.one(uploads.select_related("project", "created_by__user"), job)

    @extend_schema(responses=RatingsPreviewSerializer)
    def get(self, request: Request, project: UUID, job: UUID) -> Response:
        return Response(RatingsPreviewSerializer(self.upload(job)).data)

    @extend_schema(request=RatingsLayoutSerializer, responses={202: RatingsPreviewSerializer})
    def put(self, request: Request, project: UUID, job: UUID) -> Response:
        found, layout = self.upload(job), Layout.of(self.read(RatingsLayoutSerializer))
        return Response(RatingsPreviewSerializer(imported.choose(found, layout)).data, status=202)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, job: UUID) -> Response:
        imported.discard(self.upload(job), at=timezone.now())
        return Response(status=204)


class RatingsConfirm(RatingsDetail):
    actions: ClassVar = {"POST": Action.IMPORT}
    http_method_names = ["post", "options"]

    @extend_schema(request=RatingsConfirmSerializer, responses={202: JobSerializer})
    def post(self, request: Request, project: UUID, job: UUID) -> Response:
        found, sent = self.upload(job), self.read(RatingsConfirmSerializer)
        values = _chosen(found, sent["values"]) if found.state == JobState.DONE else {}
        chosen = {name: sent[name] for name in ("raters", "attempt", "resolution_rule")}
        made = imported.confirm(found, by=self.member, values=values, **chosen, at=timezone.now())
        return Response(JobSerializer(made).data, status=202)


def _chosen(job: Job, sent: Sequence[Mapping[str, Any]]) -> Values:
    """The `values` of `imported.confirm`; Invalid for a value that the file does not have."""
    known = {(value.question, value.token) for value in imported_report.of(job).values}
    questions = list(job.result["values"])
    chosen: Values = {}
    for one in sent:
        question = one["question"] or (questions[0] if len(questions) == 1 else "")
        token = rating_values.token(one["value"])
        if (question, token) not in known:
            raise Invalid(
                _("The file has no rating %(value)s of “%(question)s”; its questions are: %(known)s.")
                % {"value": token, "question": question, "known": ", ".join(questions)},
                code="unknown_value",
            )
        chosen.setdefault(question, {})[token] = one["label_key"]
    return chosen
