"""What kinds of answer a question can have: how one is read, checked, compared, counted and named.

A new task type is a subclass of `TaskType` in a module of its own and an entry in `TASK_TYPES`. Values are stored
canonical, so that two answers are the same answer exactly where their stored values are equal.
"""

from projects.task_types.choice import Choice, Nominal, Ordinal
from projects.task_types.multilabel import MultiLabel
from projects.task_types.spans import Spans
from projects.task_types.task_type import AnswerError, Json, LabelLike, Named, TaskType, Unit, in_order
from projects.task_types.text import Text

__all__ = [
    "TASK_TYPES",
    "AnswerError",
    "Choice",
    "Json",
    "LabelLike",
    "MultiLabel",
    "Named",
    "Nominal",
    "Ordinal",
    "Spans",
    "TaskType",
    "Text",
    "Unit",
    "in_order",
]

TASK_TYPES: dict[str, TaskType] = {
    task_type.key: task_type for task_type in (Nominal(), Ordinal(), MultiLabel(), Spans(), Text())
}
