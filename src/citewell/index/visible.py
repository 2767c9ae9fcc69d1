"""What of a text a reader can see, whether a page, a file or a question brought it. Pure."""

from __future__ import annotations

import re

# Invisible characters by which a page can say one thing to a reader and another to a machine: zero-width ones, bidirectional
# controls, tags, the control characters of ISO 8859.
_INVISIBLE = re.compile("[\x80-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]")
# One joiner between two characters beyond ASCII stays: emoji and several scripts need it.
_JOINERS = re.compile("[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f]")


def clean(text: str) -> str:
    """The text without invisible and control characters; a form feed is a line end."""
    if text.isascii() and text.isprintable():
        return text
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
    if "\u200c" in text or "\u200d" in text:
        text = _JOINERS.sub("", text)
    return _CONTROL.sub("", text.replace("\x0c", "\n"))
