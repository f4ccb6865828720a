"""The shapes of `projects` in the API."""

from typing import Any

from rest_framework import serializers

from projects import access, styles
from projects.enums import Change, Role
from projects.formats import FORMATS
from projects.models import Example, GuidelineVersion, Item, Job, Label, Membership, Project, Question


class ProjectSerializer(serializers.ModelSerializer[Project]):
    roles = serializers.SerializerMethodField(help_text="Your roles in the project.")

    class Meta:
        model = Project
        fields = ["uuid", "name", "description", "notice", "shown_fields", "created_at", "roles"]
        read_only_fields = ["uuid", "notice", "shown_fields", "created_at"]

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
    value = serializers.JSONField()
    confused_with = serializers.JSONField(required=False, allow_null=True, default=None)
    content = serializers.DictField(help_text="field -> text")

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
        read_only_fields = ["uuid", "lineage", "origin", "created_at"]


class VersionSerializer(serializers.ModelSerializer[GuidelineVersion]):
    number = serializers.CharField(read_only=True)

    class Meta:
        model = GuidelineVersion
        fields = ["uuid", "number", "state", "change", "reason", "revision", "digest", "published_at"]
        read_only_fields = fields


class VersionDetailSerializer(VersionSerializer):
    questions = QuestionSerializer(many=True, read_only=True)
    examples = ExampleSerializer(many=True, read_only=True)
    styles = serializers.SerializerMethodField(help_text="question -> label -> colour and hotkey")

    class Meta(VersionSerializer.Meta):
        fields = [*VersionSerializer.Meta.fields, "text", "questions", "examples", "styles"]
        read_only_fields = fields

    def get_styles(self, version: GuidelineVersion) -> dict[str, dict[str, dict[str, str]]]:
        chosen = styles.chosen(version.project_id)
        return {
            question.key: {
                key: {"colour": style.colour, "hotkey": style.hotkey}
                for key, style in styles.dressed(question.key, list(question.labels.all()), chosen).items()
            }
            for question in version.questions.all()
        }


class TextSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)
    revision = serializers.IntegerField(help_text="of the draft you started from; a newer one is answered with 409")


class PublishSerializer(serializers.Serializer[Any]):
    change = serializers.ChoiceField(choices=Change.choices)
    reason = serializers.CharField()


class ItemSerializer(serializers.ModelSerializer[Item]):
    batch = serializers.UUIDField(source="batch.uuid", read_only=True)

    class Meta:
        model = Item
        fields = ["uuid", "external_id", "content", "metadata", "content_hash", "standing", "batch", "created_at"]
        read_only_fields = fields


class ImportSerializer(serializers.Serializer[Any]):
    file = serializers.FileField()
    format = serializers.ChoiceField(choices=sorted(FORMATS), required=False, default="")
    shown = serializers.ListField(child=serializers.CharField(), required=False, help_text="fields shown, in order")
    id_field = serializers.CharField(required=False, default="", allow_blank=True)
    metadata = serializers.ListField(child=serializers.CharField(), required=False)


class ConfirmSerializer(serializers.Serializer[Any]):
    also = serializers.ListField(
        child=serializers.CharField(),
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
