"""The shapes of `agreement` in the API. A figure never stands bare: n, interval, method and engine are beside it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agreement import gate_pages
from agreement.enums import GateOutcome
from agreement.models import GateDecision, Run
from agreement.protocol import ESTIMATE, LOW, WEIGHTS, Protocol
from annotations import imported
from annotations.enums import ResolutionRule


class RunSerializer(serializers.ModelSerializer[Run]):
    wave = serializers.IntegerField(source="draw.wave.number")
    draw = serializers.UUIDField(source="draw.uuid")
    version = serializers.CharField(source="draw.wave.version.number")
    closing = serializers.CharField(source="draw.closing")
    imported = serializers.BooleanField(source="draw.is_imported", help_text="its ratings were made elsewhere")
    note = serializers.SerializerMethodField(help_text="what has to stand beside the figure; empty: nothing")
    result = serializers.JSONField()

    class Meta:
        model = Run
        fields = [
            "draw",
            "wave",
            "version",
            "question_key",
            "interim",
            "n",
            "drawn",
            "closing",
            "imported",
            "note",
            "engine",
            "digest",
            "created_at",
            "result",
        ]
        read_only_fields = fields

    def get_note(self, run: Run) -> str:
        return imported.mark(run.draw)


class GateSerializer(serializers.ModelSerializer[GateDecision]):
    draw = serializers.UUIDField(source="draw.uuid")
    outcome = serializers.SerializerMethodField(
        help_text="what the gate decided; none: it let go, because there is no threshold or none could be judged"
    )
    by = serializers.CharField(source="by.name", default="")

    @extend_schema_field(serializers.ChoiceField(choices=[*GateOutcome.values, gate_pages.NONE]))
    def get_outcome(self, decision: GateDecision) -> str:
        return gate_pages.NONE if gate_pages.judged_nothing(decision) else decision.outcome

    class Meta:
        model = GateDecision
        fields = ["draw", "outcome", "reason", "details", "by", "at"]
        read_only_fields = fields


class WaiverSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()


class QuestionRuleSerializer(serializers.Serializer[Any]):
    coefficient = serializers.CharField(help_text="auto, or a coefficient's key")
    weights = serializers.ChoiceField(choices=WEIGHTS, allow_null=True)
    conflict_gap = serializers.FloatField(help_text="0: any difference is a conflict")
    threshold = serializers.FloatField(allow_null=True)
    threshold_on = serializers.ChoiceField(choices=[LOW, ESTIMATE])
    class_threshold = serializers.FloatField(allow_null=True)
    stratum_threshold = serializers.FloatField(allow_null=True)
    minimum_uses = serializers.IntegerField(help_text="of a label, or items of a stratum, to be judged by itself")
    resolution_rule = serializers.ChoiceField(
        choices=ResolutionRule.choices,
        allow_blank=True,
        help_text="what decides its conflicts; empty: as for all questions",
    )


class ProtocolSerializer(serializers.Serializer[Any]):
    share_percent = serializers.DecimalField(6, 3)
    ratings_per_item = serializers.IntegerField()
    strata_field = serializers.CharField(allow_blank=True)
    window_submits = serializers.IntegerField()
    window_minutes = serializers.IntegerField()
    lease_minutes = serializers.IntegerField()
    minimum_n = serializers.IntegerField()
    resolution_rule = serializers.ChoiceField(
        choices=ResolutionRule.choices,
        help_text="what decides conflicts; a lead decides what it does not settle or fit",
    )
    practice_pass_percent = serializers.IntegerField(help_text="0: no practice round")
    decide_together = serializers.BooleanField(
        help_text="whether an item's two raters may decide its conflict together"
    )
    expert = serializers.CharField(allow_blank=True, help_text="the member the others are compared with; empty: nobody")
    questions = serializers.DictField(child=QuestionRuleSerializer(), help_text="question key -> how it is measured")


def changed(
    standing: Protocol, sent: Mapping[str, Any], strata_fields: Iterable[str], raters: Iterable[str]
) -> Protocol:
    """`standing` with what was sent. Raises ValidationError naming each field that makes no sense."""
    rules = dict(standing.questions)
    for key, rule in sent.get("questions", {}).items():
        if key not in rules:
            raise serializers.ValidationError({"questions": {key: ["This project asks no such question."]}})
        rules[key] = replace(rules[key], **rule)
    wanted = replace(standing, **{**sent, "questions": rules})
    if problems := wanted.problems(strata_fields, raters):
        raise serializers.ValidationError({name: [sentence] for name, sentence in problems})
    return wanted
