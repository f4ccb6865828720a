"""The tokens of a text in any script: what agreement on spans counts."""

import unicodedata
from collections.abc import Iterator

JOINER = "\u200d"
# Skin tones: they belong to the sign before them.
MODIFIERS = range(0x1F3FB, 0x1F400)
# Scripts that set no spaces between words: each of their characters is a token.
UNSPACED = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL SYLLABLE", "THAI", "LAO", "KHMER", "MYANMAR", "BOPOMOFO", "YI ")


def tokens(text: str) -> list[tuple[int, int]]:
    """(start, end) of each token in code points, in order.

    A token is a run of letters, digits and underscores; a single character of a script without spaces between words;
    or a single sign. Marks, joiners and skin tones belong to what they follow. White space is in no token.
    """
    return list(_tokens(text))


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    start, before = 0, ""
    for place, character in enumerate(text):
        kind = _kind(character)
        if kind == "mark" and before:
            before = "joined" if character == JOINER else before
            continue
        if before and before != "joined" and not (kind == before == "word"):
            yield start, place
            before = ""
        if kind == "space":
            if before == "joined":
                yield start, place
            before = ""
        elif not before:
            start, before = place, kind
        elif before == "joined":
            before = kind
    if before:
        yield start, len(text)


def _kind(character: str) -> str:
    """space, word, mark, or sign; a character that is a token by itself counts as a sign."""
    if character.isspace():
        return "space"
    category = unicodedata.category(character)
    if category[0] == "M" or character == JOINER or ord(character) in MODIFIERS:
        return "mark"
    if category[0] in "LN" or character == "_":
        return "sign" if unicodedata.name(character, "").startswith(UNSPACED) else "word"
    return "sign"
