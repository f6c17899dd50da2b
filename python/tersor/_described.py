# SPDX-License-Identifier: Apache-2.0
"""What the classes of the requirement documents have in common: their members are the arguments that they are made with."""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar

import numpy


class Word(str, Enum):
    """An enum whose values are the words of the core, so that the word itself may stand for the value."""

    __str__ = str.__str__

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


def plain(value: Any) -> Any:
    """As JSON has it: values of these classes and of dataclasses, such as NNCF's IgnoredScope, as dictionaries, arrays as
    lists. Infinity stays what it is."""
    if isinstance(value, Described):
        return value.get_config()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (numpy.generic, numpy.ndarray)):
        return value.tolist()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {plain(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


class Described:
    """A value: equal where the members are, written as it is made, to JSON and back."""

    _beside: ClassVar[tuple[str, ...]] = ()
    """Members of the configuration that are no arguments."""
    _reads: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """How members that are more than numbers and words come out of a configuration."""

    _more: Mapping[str, Any] = {}
    """Members of the core that the documents do not have, of a value that was read."""

    @classmethod
    def _arguments(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_config(self) -> dict[str, Any]:
        """The members, as JSON has them; `from_config` makes the same value of them."""
        members = {name: plain(getattr(self, name)) for name in (*self._arguments(), *self._beside)}
        return {**members, **self._more}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        read = {name: cls._read(name, value) for name, value in config.items()}
        made = cls(**{name: read.pop(name) for name in cls._arguments() if name in read})
        for name in cls._beside:
            if name in read:
                setattr(made, name, read.pop(name))
        if read:
            made._more = read
        return made

    @classmethod
    def _read(cls, name: str, value: Any) -> Any:
        return cls._reads[name](value) if name in cls._reads and value is not None else value

    def clone_and_edit(self, **edits: Any) -> Any:
        """A copy with other members."""
        made = type(self)(**{**{name: copy.copy(getattr(self, name)) for name in self._arguments()}, **edits})
        made._more = self._more
        return made

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_config() == other.get_config()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._arguments())})"


def list_of(read: Callable[[Any], Any]) -> Callable[[Any], list[Any]]:
    return lambda values: [read(one) for one in values]


def dict_of(read: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    return lambda values: {name: read(one) for name, one in values.items()}
