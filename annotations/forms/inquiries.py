"""Forms of questions about an item: asking, and answering."""

from django import forms
from django.utils.translation import gettext_lazy

from annotations.inquiries import ANSWER_LIMIT, TEXT_LIMIT


class AskForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("What do you want to know about this item?"),
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        error_messages={"required": gettext_lazy("Write what you want to know about the item.")},
    )


class AnswerForm(forms.Form):
    text = forms.CharField(
        label=gettext_lazy("Answer"),
        help_text=gettext_lazy(
            "Say what the guideline says, or will say, about items like this one. Do not say what others chose."
        ),
        max_length=ANSWER_LIMIT,
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        error_messages={"required": gettext_lazy("Write the answer: everybody who labelled the item reads it.")},
    )
