"""The shapes of `agreement` in the API. A figure never stands bare: n, interval, method and engine are beside it."""

from typing import Any

from rest_framework import serializers

from agreement.models import GateDecision, Run


class RunSerializer(serializers.ModelSerializer[Run]):
    wave = serializers.IntegerField(source="draw.wave.number")
    draw = serializers.UUIDField(source="draw.uuid")
    version = serializers.CharField(source="draw.wave.version.number")
    closing = serializers.CharField(source="draw.closing")
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
            "engine",
            "digest",
            "created_at",
            "result",
        ]
        read_only_fields = fields


class GateSerializer(serializers.ModelSerializer[GateDecision]):
    draw = serializers.UUIDField(source="draw.uuid")
    by = serializers.CharField(source="by.name", default="")

    class Meta:
        model = GateDecision
        fields = ["draw", "outcome", "reason", "details", "by", "at"]
        read_only_fields = fields


class WaiverSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
