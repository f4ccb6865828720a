"""The API of guideline versions and of the draft: text, questions, labels' looks, examples."""

from typing import ClassVar
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.http import Http404
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from projects import drafts, examples, guidelines, labels, own_keys, styles
from projects import serializers as shapes
from projects.api import MemberList, MemberView
from projects.enums import Action
from projects.errors import DomainError
from projects.labels import NewLabel
from projects.models import GuidelineVersion, Label, Question
from projects.styles import Style

ALL_OF_IT = ("questions__labels", "examples")


class Versions(MemberList):
    """The published versions."""

    @extend_schema(responses=shapes.VersionSerializer(many=True), operation_id="versions_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(guidelines.published(self.member.project), shapes.VersionSerializer, ordering="-pk")


class Version(MemberView):
    @extend_schema(responses=shapes.VersionDetailSerializer)
    def get(self, request: Request, project: UUID, version: UUID) -> Response:
        rows = guidelines.published(self.member.project).prefetch_related(*ALL_OF_IT)
        return Response(shapes.VersionDetailSerializer(self.one(rows, version)).data)


class Examples(MemberList):
    @extend_schema(responses=shapes.ExampleSerializer(many=True), operation_id="examples_list")
    def get(self, request: Request, project: UUID, version: UUID) -> Response:
        found = self.one(guidelines.published(self.member.project), version)
        return self.paged(found.examples.all(), shapes.ExampleSerializer)


class DraftView(MemberView):
    """Whatever works on the one draft of the project."""

    actions: ClassVar = dict.fromkeys(["GET", "POST", "PUT", "DELETE"], Action.EDIT_GUIDELINE)

    def draft(self) -> GuidelineVersion:
        draft = drafts.current(self.member.project)
        if draft is None:
            raise DomainError(_("This project has no draft: make one first."), code="no_draft", status=404)
        return draft


class Draft(DraftView):
    """The draft: read it, make it (POST), save its text (PUT), throw it away."""

    @extend_schema(responses=shapes.VersionDetailSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        return self.answer(self.draft())

    @extend_schema(request=None, responses=shapes.VersionDetailSerializer)
    def post(self, request: Request, project: UUID) -> Response:
        return self.answer(guidelines.draft_of(self.member.project, by=self.member, at=timezone.now()))

    @extend_schema(request=shapes.TextSerializer, responses=shapes.VersionDetailSerializer)
    def put(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.TextSerializer)
        return self.answer(drafts.save_text(self.draft(), **sent, by=self.member))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID) -> Response:
        drafts.discard(self.draft(), by=self.member)
        return Response(status=204)

    def answer(self, draft: GuidelineVersion) -> Response:
        prefetch_related_objects([draft], *ALL_OF_IT)
        return Response(shapes.VersionDetailSerializer(draft).data)


class DraftQuestions(DraftView):
    """Add a question with its labels."""

    @extend_schema(request=shapes.NewQuestionSerializer, responses={201: shapes.QuestionSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.NewQuestionSerializer)
        new = [NewLabel(**label) for label in sent.pop("labels")]
        made = labels.add_question(self.draft(), **sent, labels=new, by=self.member)
        return Response(shapes.QuestionSerializer(made).data, status=201)


class DraftQuestion(DraftView):
    """Change the wording of a question, or remove it with its labels."""

    @extend_schema(request=shapes.QuestionTextSerializer, responses=shapes.QuestionSerializer)
    def put(self, request: Request, project: UUID, question: str) -> Response:
        row, sent = question_of(self.draft(), question), self.read(shapes.QuestionTextSerializer)
        changed = labels.edit_question(row, **sent, by=self.member)
        return Response(shapes.QuestionSerializer(changed).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, question: str) -> Response:
        labels.remove_question(question_of(self.draft(), question), by=self.member)
        return Response(status=204)


class DraftLabels(DraftView):
    """Add labels to a question: all of them or none."""

    @extend_schema(request=shapes.NewLabelSerializer(many=True), responses={201: shapes.QuestionSerializer})
    def post(self, request: Request, project: UUID, question: str) -> Response:
        row = question_of(self.draft(), question)
        sent = shapes.NewLabelSerializer(data=request.data, many=True)
        sent.is_valid(raise_exception=True)
        labels.add_labels(row, [NewLabel(**label) for label in sent.validated_data], by=self.member)
        return Response(shapes.QuestionSerializer(row).data, status=201)


class DraftLabel(DraftView):
    """Change name, definition and value of a label, or remove it. Its key never changes."""

    @extend_schema(request=shapes.LabelTextSerializer, responses=shapes.LabelSerializer)
    def put(self, request: Request, project: UUID, question: str, label: str) -> Response:
        row, sent = self.label(question, label), self.read(shapes.LabelTextSerializer)
        return Response(shapes.LabelSerializer(labels.edit_label(row, **sent, by=self.member)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, question: str, label: str) -> Response:
        labels.remove_label(self.label(question, label), by=self.member)
        return Response(status=204)

    def label(self, question: str, label: str) -> Label:
        row = question_of(self.draft(), question).labels.filter(key=label).first()
        if row is None:
            raise Http404(_("This question has no such label."))
        return row


class DraftExamples(DraftView, MemberList):
    @extend_schema(responses=shapes.ExampleSerializer(many=True), operation_id="draft_examples_list")
    def get(self, request: Request, project: UUID) -> Response:
        return self.paged(self.draft().examples.all(), shapes.ExampleSerializer)

    @extend_schema(request=shapes.NewExampleSerializer, responses={201: shapes.ExampleSerializer})
    def post(self, request: Request, project: UUID) -> Response:
        sent = self.read(shapes.NewExampleSerializer)
        made = examples.add_example(self.draft(), **sent, by=self.member, at=timezone.now())
        return Response(shapes.ExampleSerializer(made).data, status=201)


class DraftExample(DraftView):
    @extend_schema(request=shapes.ExampleChangeSerializer, responses=shapes.ExampleSerializer)
    def put(self, request: Request, project: UUID, example: UUID) -> Response:
        row, sent = self.one(self.draft().examples.all(), example), self.read(shapes.ExampleChangeSerializer)
        return Response(shapes.ExampleSerializer(examples.edit_example(row, **sent, by=self.member)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, project: UUID, example: UUID) -> Response:
        examples.remove_example(self.one(self.draft().examples.all(), example), by=self.member)
        return Response(status=204)


class Styles(DraftView):
    """Colours and hotkeys of a question's labels: presentation, the same in all versions."""

    @extend_schema(request=shapes.StyleSerializer(many=True), responses={204: None})
    def put(self, request: Request, project: UUID, question: str) -> Response:
        sent = shapes.StyleSerializer(data=request.data, many=True)
        sent.is_valid(raise_exception=True)
        wanted = {style["label_key"]: Style(style["colour"], style["hotkey"]) for style in sent.validated_data}
        styles.set_styles(self.member.project, question, wanted)
        return Response(status=204)


class OwnKeys(MemberView):
    """Your own keys for the labels of the newest guideline; they hold on your pages alone."""

    actions: ClassVar = {"GET": Action.LABEL, "PUT": Action.LABEL}

    @extend_schema(responses=shapes.OwnKeysSerializer)
    def get(self, request: Request, project: UUID) -> Response:
        return Response({"keys": self.member.hotkeys})

    @extend_schema(request=shapes.OwnKeysSerializer, responses=shapes.OwnKeysSerializer)
    def put(self, request: Request, project: UUID) -> Response:
        """What is left out goes back to the project's key."""
        sent, version = self.read(shapes.OwnKeysSerializer), guidelines.newest(self.member.project)
        if version is None:
            raise DomainError(_("The guideline of this project is not published yet."), code="no_guideline")
        own_keys.refuse_unknown(version, sent["keys"])
        own_keys.save(self.member, version, sent["keys"])
        return Response({"keys": self.member.hotkeys})


def question_of(draft: GuidelineVersion, key: str) -> Question:
    question = draft.questions.filter(key=key).select_related("version__project").first()
    if question is None:
        raise Http404(_("The draft has no such question."))
    return question
