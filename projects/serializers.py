"""The shapes of `projects` in the API."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from projects import access, importing, styles
from projects.enums import Change, ExampleKind, JobState, Role, RowProblem, Standing
from projects.formats import FORMATS
from projects.models import (
    Example,
    GuidelineVersion,
    Item,
    Job,
    Label,
    Membership,
    Project,
    Question,
)
from projects.staging import OPTIONAL

IMPORT_FORMATS = sorted(FORMATS)


def written(**options: Any) -> serializers.CharField:
    """Text as it was sent, white space and all; the domain says what of it is kept."""
    return serializers.CharField(allow_blank=True, trim_whitespace=False, **options)


# Said to the schema, since "anything" and "null" side by side are one too many for it.
@extend_schema_field({"type": ["object", "array", "string", "number", "boolean"]})
class JsonField(serializers.JSONField):
    """A value as the question's task type has it."""


class ProjectSerializer(serializers.ModelSerializer[Project]):
    roles = serializers.SerializerMethodField(help_text="Your roles in the project.")

    class Meta:
        model = Project
        fields = [
            "uuid",
            "name",
            "description",
            "notice",
            "shown_fields",
            "comment_required",
            "created_at",
            "archived_at",
            "roles",
        ]
        read_only_fields = ["uuid", "notice", "shown_fields", "comment_required", "created_at", "archived_at"]

    def get_roles(self, project: Project) -> list[str]:
        member: Membership | None = self.context.get("memberships", {}).get(project.pk)
        return sorted(role.value for role in access.roles(member)) if member else []


class LabelSerializer(serializers.ModelSerializer[Label]):
    class Meta:
        model = Label
        fields = ["key", "name", "definition", "value", "order"]


class QuestionSerializer(serializers.ModelSerializer[Question]):
    labels = LabelSerializer(many=True, read_only=True)

    class Meta:
        model = Question
        fields = ["key", "text", "help", "task_type", "required", "order", "labels"]


class ExampleSerializer(serializers.ModelSerializer[Example]):
    value = JsonField()
    confused_with = JsonField(allow_null=True)
    content = serializers.DictField(help_text="field -> what is shown")

    class Meta:
        model = Example
        fields = [
            "uuid",
            "lineage",
            "question_key",
            "content",
            "value",
            "confused_with",
            "rationale",
            "kind",
            "origin",
            "created_at",
        ]
        read_only_fields = fields


class ExampleChangeSerializer(serializers.Serializer[Any]):
    content = serializers.DictField(child=written(), help_text="field -> text")
    value = JsonField()
    confused_with = JsonField(required=False, allow_null=True, default=None)
    rationale = written(required=False, default="")
    kind = serializers.ChoiceField(choices=ExampleKind.choices, default=ExampleKind.CLEAR)


class NewExampleSerializer(ExampleChangeSerializer):
    question_key = serializers.CharField()


class VersionSerializer(serializers.ModelSerializer[GuidelineVersion]):
    number = serializers.CharField(read_only=True, help_text="empty for a draft")
    change = serializers.ChoiceField(choices=Change.choices, allow_blank=True, help_text="empty for a draft")

    class Meta:
        model = GuidelineVersion
        fields = ["uuid", "number", "state", "change", "reason", "revision", "digest", "published_at"]
        read_only_fields = fields


class VersionDetailSerializer(VersionSerializer):
    questions = QuestionSerializer(many=True, read_only=True)
    examples = ExampleSerializer(many=True, read_only=True)
    styles = serializers.SerializerMethodField(help_text="question -> label -> colour and hotkey")

    class Meta(VersionSerializer.Meta):
        fields = [*VersionSerializer.Meta.fields, "text", "questions", "examples", "styles", "label_mapping"]
        read_only_fields = fields

    def get_styles(self, version: GuidelineVersion) -> dict[str, dict[str, dict[str, str]]]:
        questions = [(question.key, list(question.labels.all())) for question in version.questions.all()]
        worn = styles.worn(questions, styles.chosen(version.project_id))
        return {
            question: {key: {"colour": style.colour, "hotkey": style.hotkey} for key, style in labels.items()}
            for question, labels in worn.items()
        }


class LabelTextSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    definition = written(required=False, default="")
    value = serializers.FloatField(required=False, allow_null=True, default=None)


class NewLabelSerializer(LabelTextSerializer):
    key = serializers.CharField(required=False, default="", allow_blank=True, help_text="left out: made from the name")
    colour = serializers.CharField(required=False, default="", allow_blank=True, help_text="#RRGGBB")
    hotkey = serializers.CharField(required=False, default="", allow_blank=True)


class QuestionTextSerializer(serializers.ModelSerializer[Question]):
    class Meta:
        model = Question
        fields = ["text", "help", "task_type", "required"]


class NewQuestionSerializer(QuestionTextSerializer):
    key = serializers.CharField(required=False, default="", allow_blank=True, help_text="left out: made from the text")
    labels = NewLabelSerializer(many=True, required=False, default=list)

    class Meta(QuestionTextSerializer.Meta):
        fields = [*QuestionTextSerializer.Meta.fields, "key", "labels"]


class StyleSerializer(serializers.Serializer[Any]):
    label_key = serializers.CharField()
    colour = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="#RRGGBB; empty: its place's"
    )
    hotkey = serializers.CharField(required=False, default="", allow_blank=True, help_text="empty: its place's")


class OwnKeysSerializer(serializers.Serializer[Any]):
    keys = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField(allow_blank=True, max_length=8)),
        help_text="question -> label -> your key; empty: the project's",
    )


class TextSerializer(serializers.Serializer[Any]):
    text = written()
    revision = serializers.IntegerField(help_text="of the draft you started from; a newer one is answered with 409")


class PublishSerializer(serializers.Serializer[Any]):
    change = serializers.ChoiceField(choices=Change.choices)
    reason = serializers.CharField(required=False, default="", allow_blank=True, help_text="needed from 1.0 on")
    seen = serializers.CharField(
        required=False, help_text="the digest of the draft that you read; refused if it changed since"
    )


class ConsequencesSerializer(serializers.Serializer[Any]):
    """What publishing the draft would mean."""

    first = serializers.BooleanField()
    material_number = serializers.CharField()
    editorial_number = serializers.CharField(allow_null=True)
    may_publish = serializers.BooleanField()
    may_be_editorial = serializers.BooleanField()
    why_material = serializers.ListField(child=serializers.CharField())
    problems = serializers.ListField(child=serializers.CharField())
    seen = serializers.CharField(help_text="send it with the publication")


class ItemsWanted(serializers.Serializer[Any]):
    standing = serializers.ChoiceField(choices=Standing.choices, required=False)
    external_id = serializers.CharField(required=False)


class ItemSerializer(serializers.ModelSerializer[Item]):
    batch = serializers.UUIDField(source="batch.uuid", read_only=True)

    class Meta:
        model = Item
        fields = ["uuid", "external_id", "content", "metadata", "content_hash", "standing", "batch", "created_at"]
        read_only_fields = fields


class ImportSerializer(serializers.Serializer[Any]):
    """Fields that are left out are guessed from the first rows."""

    file = serializers.FileField(allow_empty_file=True)
    name = serializers.CharField(required=False, default="", allow_blank=True, help_text="of the batch")
    format = serializers.ChoiceField(choices=IMPORT_FORMATS, required=False, default="")
    shown = serializers.ListField(child=written(), required=False, help_text="fields shown, in order")
    id_field = written(required=False)
    metadata = serializers.ListField(child=written(), required=False)


class FieldsSerializer(serializers.Serializer[Any]):
    shown = serializers.ListField(child=written(), help_text="fields shown, in order")
    id_field = written(required=False, default="")
    metadata = serializers.ListField(child=written(), required=False, default=list)


class ConfirmSerializer(serializers.Serializer[Any]):
    also = serializers.ListField(
        child=serializers.ChoiceField(choices=[(problem.value, problem.label) for problem in OPTIONAL]),
        required=False,
        help_text="kinds of doubtful rows to import all the same; left out: the usual ones",
    )


class JobSerializer(serializers.ModelSerializer[Job]):
    created_by = serializers.CharField(source="created_by.name", default="", read_only=True)

    class Meta:
        model = Job
        fields = [
            "uuid",
            "kind",
            "state",
            "message",
            "done",
            "total",
            "result",
            "created_at",
            "created_by",
            "started_at",
            "finished_at",
        ]
        read_only_fields = fields


class RowKindSerializer(serializers.Serializer[Any]):
    """Rows with one kind of problem; the optional ones can be imported all the same, the usual ones are."""

    problem = serializers.ChoiceField(choices=RowProblem.choices)
    count = serializers.IntegerField()
    optional = serializers.BooleanField()
    usual = serializers.BooleanField()


class RowReportSerializer(serializers.Serializer[Any]):
    """What the check of a file found. `usual`: how many rows are imported unless you say otherwise."""

    rows = serializers.IntegerField()
    good = serializers.IntegerField()
    usual = serializers.IntegerField()
    kinds = RowKindSerializer(many=True)


class RowProblemSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    problem = serializers.ChoiceField(choices=RowProblem.choices)
    message = serializers.CharField()


class UploadSerializer(JobSerializer):
    """An uploaded file with what its check found: nothing until the job is done."""

    fields_found = serializers.SerializerMethodField()
    shown = serializers.SerializerMethodField()
    report = serializers.SerializerMethodField()
    problems = serializers.SerializerMethodField(help_text="the first 100 rows with one")

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "fields_found", "shown", "report", "problems"]
        read_only_fields = fields

    def get_fields_found(self, job: Job) -> list[str]:
        return importing.field_names(job)

    def get_shown(self, job: Job) -> list[str]:
        return list(importing.choice_of(job).shown)

    @extend_schema_field(RowReportSerializer(allow_null=True))
    def get_report(self, job: Job) -> dict[str, Any] | None:
        return dict(RowReportSerializer(importing.report(job)).data) if job.state == JobState.DONE else None

    @extend_schema_field(RowProblemSerializer(many=True))
    def get_problems(self, job: Job) -> Any:
        found = importing.problems(job) if job.state == JobState.DONE else []
        return RowProblemSerializer(found, many=True).data


class MemberSerializer(serializers.ModelSerializer[Membership]):
    name = serializers.CharField(read_only=True)
    roles = serializers.SerializerMethodField()

    class Meta:
        model = Membership
        fields = ["uuid", "name", "active", "roles", "joined_at"]
        read_only_fields = fields

    def get_roles(self, member: Membership) -> list[str]:
        return sorted(role.value for role in access.roles(member))


class NewMemberSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    roles = serializers.MultipleChoiceField(choices=Role.choices)


class MemberChangeSerializer(serializers.Serializer[Any]):
    roles = serializers.MultipleChoiceField(choices=Role.choices, required=False)
    active = serializers.BooleanField(required=False)
