# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations


class Error(Exception):
    """The one error, with the same four fields as in the program and the npm package."""

    code: str
    """What kind of thing went wrong: invalid_model, unsupported_model, invalid_samples, invalid_config, mismatch, ..."""
    message: str
    """A sentence that names the value found and what was expected."""
    place: str
    """A path such as `samples[3] "cat/0004"`; empty where there is none."""
    hint: str
    """What to do next; empty where nothing can be said."""

    def __init__(self, code: str, message: str, place: str = "", hint: str = "") -> None:
        super().__init__(code, message, place, hint)
        self.code, self.message, self.place, self.hint = code, message, place, hint

    def __str__(self) -> str:
        place = f"{self.place}: " if self.place else ""
        return f"{place}{self.message}{' ' if self.hint else ''}{self.hint}"
