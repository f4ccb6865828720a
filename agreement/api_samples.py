"""The API of repeats, bridges and spot checks: opening one, ending one, and what came of it."""

from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agreement import sample_rows
from annotations import bridges, repeats, samples, spot_checks, waves
from annotations.enums import WaveKind, WaveState
from annotations.models import Wave
from annotations.repeats import Choices
from projects.api import MemberList, MemberView
from projects.enums import Action
from projects.serializers import JsonField


class SampleSerializer(serializers.ModelSerializer[Wave]):
    """`seed` and `salt` are shown when it has ended; `choices` is what it was opened with."""

    name = serializers.CharField(source="__str__", read_only=True)
    version = serializers.CharField(source="version.number", read_only=True)
    of = serializers.SerializerMethodField(help_text="of a spot check: the wave whose singles it checks")
    size = serializers.IntegerField(source="sample.size", read_only=True)
    population_size = serializers.IntegerField(source="sample.population_size", read_only=True)
    choices = serializers.JSONField(source="sample.choices", read_only=True)
    commitment = serializers.CharField(source="sample.commitment", read_only=True)
    seed = serializers.SerializerMethodField()
    salt = serializers.SerializerMethodField()

    class Meta:
        model = Wave
        fields = [
            "uuid",
            "name",
            "kind",
            "state",
            "version",
            "of",
            "size",
            "population_size",
            "choices",
            "opened_at",
            "closed_at",
            "commitment",
            "seed",
            "salt",
        ]
        read_only_fields = fields

    def get_of(self, wave: Wave) -> str | None:
        return str(wave.sample.of.uuid) if wave.sample.of else None

    def get_seed(self, wave: Wave) -> str | None:
        return bytes(wave.sample.seed).hex() if wave.state == WaveState.CLOSED else None

    def get_salt(self, wave: Wave) -> str | None:
        return bytes(wave.sample.salt).hex() if wave.state == WaveState.CLOSED else None


class SampleFiguresSerializer(SampleSerializer):
    """With its figures, a row each; null while you have items of it to rate yourself."""

    figures = serializers.SerializerMethodField()

    class Meta(SampleSerializer.Meta):
        fields = [*SampleSerializer.Meta.fields, "figures"]
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.DictField(), allow_null=True))
    def get_figures(self, wave: Wave) -> list[dict[str, Any]] | None:
        if not samples.may_see_figures(wave, self.context["member"]):
            return None
        return list(sample_rows.OF_KIND[wave.kind](wave))


class RepeatSerializer(serializers.Serializer[Any]):
    """What a repeat is opened with. At least one of items and days between is above 0."""

    each = serializers.IntegerField(min_value=1, max_value=repeats.MOST_EACH)
    items_between = serializers.IntegerField(min_value=0, max_value=repeats.MOST_ITEMS)
    days_between = serializers.IntegerField(min_value=0, max_value=repeats.MOST_DAYS)


class BridgeSerializer(serializers.Serializer[Any]):
    """How many old items are drawn."""

    size = serializers.IntegerField(min_value=1, max_value=bridges.MOST)


class SpotCheckSerializer(serializers.Serializer[Any]):
    """The share of the wave's singles that a lead checks."""

    share_percent = serializers.DecimalField(
        max_digits=6, decimal_places=3, min_value=Decimal("0.001"), max_value=Decimal(100)
    )


class CheckSerializer(serializers.Serializer[Any]):
    """What a lead says of the item that they hold."""

    item = serializers.UUIDField()
    answers = JsonField()
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class SampleView(MemberView):
    def sample(self, uuid: UUID) -> Wave:
        return samples.find(self.member, uuid)

    def shown(self, wave: Wave, status: int = 200) -> Response:
        found = samples.find(self.member, wave.uuid)
        return Response(SampleFiguresSerializer(found, context={"member": self.member}).data, status=status)


class Samples(SampleView, MemberList):
    actions: ClassVar = {"GET": Action.RUN_WAVES}

    @extend_schema(responses=SampleSerializer(many=True), operation_id="samples_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(samples.of_project(self.member.project), SampleSerializer, ordering="-pk")


class Repeats(SampleView):
    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=RepeatSerializer, responses={201: SampleFiguresSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        """Give people items again that they rated themselves, among their other work."""
        choices = Choices(**self.read(RepeatSerializer))
        return self.shown(repeats.open_repeat(self.member.project, choices, by=self.member, at=timezone.now()), 201)


class Bridges(SampleView):
    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=BridgeSerializer, responses={201: SampleFiguresSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        """Have old items rated once more under the newest MAJOR, to see what became of each label."""
        sent = self.read(BridgeSerializer)
        return self.shown(bridges.open_bridge(self.member.project, **sent, by=self.member, at=timezone.now()), 201)


class SpotChecks(SampleView):
    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=SpotCheckSerializer, responses={201: SampleFiguresSerializer})
    def post(self, request: Request, project: UUID, wave: UUID) -> Response:
        """Draw a share of a wave's singles for a lead who does not label in it."""
        found, sent = waves.find(self.member, wave), self.read(SpotCheckSerializer)
        return self.shown(spot_checks.open_check(found, **sent, by=self.member, at=timezone.now()), 201)


class Checks(SampleView):
    """The next item of a spot check, without what was said of it; and the lead's answers to it."""

    actions: ClassVar = {"GET": Action.ADJUDICATE, "POST": Action.ADJUDICATE}

    def check(self, uuid: UUID) -> Wave:
        found = self.sample(uuid)
        if found.kind != WaveKind.SPOTCHECK:
            raise Http404(_("There is no such spot check in this project."))
        return found

    @extend_schema(responses={200: OpenApiTypes.OBJECT})
    def get(self, request: Request, project: UUID, sample: UUID) -> Response:
        """`item` is null where nothing is ready to be checked."""
        found = spot_checks.next_check(self.check(sample), by=self.member, at=timezone.now())
        if found is None:
            return Response({"item": None, "content": None, "version": None})
        content = dict(found.slot.item.shown(self.member.project.shown_fields))
        return Response({"item": str(found.slot.item.uuid), "content": content, "version": found.version.number})

    @extend_schema(request=CheckSerializer, responses={200: OpenApiTypes.OBJECT})
    def post(self, request: Request, project: UUID, sample: UUID) -> Response:
        found, sent = self.check(sample), self.read(CheckSerializer)
        spot_checks.check(found, **sent, by=self.member, at=timezone.now())
        return Response({"saved": str(sent["item"])})


class SampleDetail(SampleView):
    actions: ClassVar = {"GET": Action.SEE_AGREEMENT}

    @extend_schema(responses=SampleFiguresSerializer)
    def get(self, request: Request, project: UUID, sample: UUID) -> Response:
        return self.shown(self.sample(sample))


class EndSample(SampleView):
    actions: ClassVar = {"POST": Action.RUN_WAVES}

    @extend_schema(request=None, responses=SampleFiguresSerializer)
    def post(self, request: Request, project: UUID, sample: UUID) -> Response:
        """Ask for nothing more of it; what was given stays."""
        found = self.sample(sample)
        samples.end(found, by=self.member, at=timezone.now())
        return self.shown(found)
