"""What the API reads: JSON of a size that a request may have, of text that a database can hold."""

from collections.abc import Iterator, Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser


class TooLarge(APIException):
    status_code, default_code = 413, "too_large"


class TextParser(JSONParser):
    """JSON, refused where it is larger than a form may be, nested beyond reading, or holds what is no text."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        request = (parser_context or {})["request"]
        found, most = int(request.META.get("CONTENT_LENGTH") or 0), settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        if found > most:
            raise TooLarge(
                _("%(found)s bytes were sent and a request may have %(most)s: split it, or import a file.")
                % {"found": found, "most": most}
            )
        try:
            data = super().parse(stream, media_type, dict(parser_context or {}))
            strange = any("\x00" in text or not _encodes(text) for text in _texts(data))
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        if strange:
            raise ParseError(_("The JSON holds characters that are no text, such as NUL: remove them."))
        return data


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for one in data:
            yield from _texts(one)
    elif isinstance(data, dict):
        yield from data
        for one in data.values():
            yield from _texts(one)


def _encodes(text: str) -> bool:
    """Half of a surrogate pair can be written in JSON, and nowhere else."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
