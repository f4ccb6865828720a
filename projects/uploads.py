"""A limit on uploads that ends in a sentence: what is over it is read and thrown away, never kept."""

from typing import IO, Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

# What a form may add around its file: boundaries, names, the other fields.
_AROUND = 1024 * 1024


class UploadLimit(FileUploadHandler):
    """The first handler of a request; `exceeded` says after reading whether a file was left out for its size."""

    def __init__(self, request: HttpRequest, limit: int) -> None:
        super().__init__(request)
        self.limit = limit
        self.exceeded = False
        self._declared = 0
        self._read = 0

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],  # noqa: N803  - Django's own name
        content_length: int,
        boundary: str,
        encoding: str | None = None,
    ) -> None:
        self._declared = content_length

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self._read += len(raw_data)
        if self._read > self.limit or self._declared > self.limit + _AROUND:
            self.exceeded = True
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> "UploadedFile[Any] | None":
        return None
