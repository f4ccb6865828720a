"""The API of old single labels: what each becomes, and the wave that labels some of them again."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import old_labels
from annotations import serializers as shapes
from annotations.enums import OldLabel, WaveState
from annotations.models import OldLabelChoice
from annotations.old_labels import Row
from projects.api import MemberView
from projects.enums import Action


class ChoiceSerializer(serializers.ModelSerializer[OldLabelChoice]):
    """What was chosen for a label, by whom and when. `wave`: the number of the wave that labels it again."""

    by = serializers.CharField(source="by.name")
    wave = serializers.IntegerField(source="wave.number", allow_null=True, default=None)

    class Meta:
        model = OldLabelChoice
        fields = ["question_key", "label_key", "choice", "becomes", "by", "at", "standing", "wave"]
        read_only_fields = fields


class RowSerializer(serializers.Serializer[Row]):
    question_key = serializers.CharField(source="question.key")
    label_key = serializers.CharField(source="label.key")
    singles = serializers.IntegerField(source="n")
    by_mapping = serializers.ListField(child=serializers.CharField())
    chosen = ChoiceSerializer(source="standing", allow_null=True)


class OverviewSerializer(serializers.Serializer[Any]):
    """`again`: items that wait to be labelled again; `history`: every choice under the newest MAJOR."""

    rows = RowSerializer(many=True)
    again = serializers.IntegerField()
    history = ChoiceSerializer(many=True)


class ChooseSerializer(serializers.Serializer[Any]):
    """`becomes`: the label that old ones are from now on, where they are mapped."""

    question_key = serializers.CharField()
    label_key = serializers.CharField()
    choice = serializers.ChoiceField(choices=OldLabel.choices)
    becomes = serializers.CharField(required=False, allow_blank=True, default="")


class OldLabels(MemberView):
    actions: ClassVar = {"GET": Action.RUN_WAVES, "POST": Action.RUN_WAVES}

    @extend_schema(responses=OverviewSerializer)
    def get(self, request: Request, project: Any) -> Response:
        return Response(OverviewSerializer(old_labels.overview(self.member.project)).data)

    @extend_schema(request=ChooseSerializer, responses=ChoiceSerializer)
    def post(self, request: Request, project: Any) -> Response:
        """Can be changed until the wave opens that labels them again; all of it stays on record."""
        sent = self.read(ChooseSerializer)
        question, label = sent.pop("question_key"), sent.pop("label_key")
        made = old_labels.choose(
            self.member.project, question=question, label=label, **sent, by=self.member, at=timezone.now()
        )
        return Response(ChoiceSerializer(made).data)


class Again(MemberView):
    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=None, responses={201: shapes.WaveSerializer, 202: shapes.WaveSerializer})
    def post(self, request: Request, project: Any) -> Response:
        """Open a wave of all that is to be labelled again, not measured; a large one is filled by a job: 202."""
        wave = old_labels.open_again(self.member.project, by=self.member, at=timezone.now())
        shown = shapes.WaveSerializer(wave, context={"member": self.member}).data
        return Response(shown, status=201 if wave.state == WaveState.OPEN else 202)
