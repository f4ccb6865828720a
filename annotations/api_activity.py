"""The API of a project's log."""

from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import activity_log
from annotations.activity_log import Filters
from projects.api import MemberList
from projects.enums import Action
from projects.models import Activity


class ActivityWanted(serializers.Serializer[Any]):
    """Which acts: by a kind or topic, a person (or "system"), and whole days in one's own time zone."""

    kind = serializers.CharField(required=False, default="")
    by = serializers.CharField(required=False, default="")
    since = serializers.DateField(required=False, default=None)
    until = serializers.DateField(required=False, default=None)

    def validate_since(self, day: date | None) -> date | None:
        return _of_the_log(day)

    def validate_until(self, day: date | None) -> date | None:
        return _of_the_log(day)


def _of_the_log(day: date | None) -> date | None:
    if day and (said := activity_log.misfit(day)):
        raise serializers.ValidationError(said)
    return day


class ActivitySerializer(serializers.Serializer[Activity]):
    """An act: `by` is a name, or null where the system did it; `what` is a sentence."""

    at = serializers.DateTimeField()
    by = serializers.CharField(allow_null=True)
    kind = serializers.CharField()
    what = serializers.CharField()
    reason = serializers.CharField(allow_null=True)

    def to_representation(self, instance: Activity) -> Any:
        return activity_log.entry(instance) | {"at": self.fields["at"].to_representation(instance.at)}


class ActivityList(MemberList):
    """Who did what, the newest first."""

    actions: ClassVar = {"GET": Action.SEE_ACTIVITY}

    @extend_schema(responses=ActivitySerializer(many=True), operation_id="activity_list", parameters=[ActivityWanted])
    def get(self, request: Request, project: UUID) -> Response:
        wanted = self.wanted(ActivityWanted)
        filters = Filters.read(wanted, since=wanted["since"], until=wanted["until"])
        return self.paged(filters.narrow(activity_log.of(self.member)), ActivitySerializer, ordering="-pk")
