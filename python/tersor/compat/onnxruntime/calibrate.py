# SPDX-License-Identifier: Apache-2.0
"""Samples and how ranges come of them, as in `onnxruntime.quantization.calibrate`."""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Optional


class CalibrationMethod(Enum):
    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


class CalibrationDataReader(metaclass=abc.ABCMeta):
    """Gives the inputs of a sample or a batch by name, until it gives None."""

    @classmethod
    def __subclasshook__(cls, subclass: type) -> Any:
        return (hasattr(subclass, "get_next") and callable(subclass.get_next)) or NotImplemented

    @abc.abstractmethod
    def get_next(self) -> Optional[Mapping[str, Any]]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self

    def __next__(self) -> Mapping[str, Any]:
        result = self.get_next()
        if result is None:
            raise StopIteration
        return result

    def __len__(self) -> int:
        raise NotImplementedError

    def set_range(self, start_index: int, end_index: int) -> None:
        raise NotImplementedError
