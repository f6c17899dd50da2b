# SPDX-License-Identifier: Apache-2.0
"""A metric that is a function of the caller's own."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from . import _core
from ._error import Error
from ._given import labels_of

Function = Callable[[dict[str, Any], Any], float]
"""Of outputs by name, as `run()` gives them, and the labels of the same samples; more is better."""


def arrays_of(outputs: Sequence[tuple[str, Sequence[tuple[str, Sequence[int], bytes]]]]) -> dict[str, Any]:
    """By name, one array with the samples along its first axis, or a list of arrays where they differ in shape."""
    named: dict[str, Any] = {}
    for name, tensors in outputs:
        arrays = [numpy.frombuffer(values, dtype=kind).reshape(shape) for kind, shape, values in tensors]
        batched = arrays and all(one.ndim and one.shape == (1, *arrays[0].shape[1:]) for one in arrays)
        named[name] = numpy.concatenate(arrays) if batched else arrays
    return named


class OwnMetric:
    """A function, and the labels of the samples: as they were given, else the class numbers of a file or of folders, else
    an empty array."""

    def __init__(self, function: Function, data: _core.OpenData, labels: Any) -> None:
        if not callable(function):
            message = f"A metric here is a function, and {function!r} is none."
            raise Error("invalid_argument", message, "metric", "Give a function of outputs and labels that returns a number.")
        self.name: str = getattr(function, "__name__", "metric")
        self._function = function
        read = labels is None or isinstance(labels, (str, os.PathLike))
        self.labels = numpy.array(labels_of(data, labels), numpy.int64) if read else labels
        count = len(self.labels) if hasattr(self.labels, "__len__") else data.size
        if count not in (data.size, 0 if read else data.size):
            message = f"There are {count} labels for {data.size} samples."
            raise Error("invalid_labels", message, "labels", "Give one for each sample.")

    def some(self, numbers: list[int], outputs: list[Any]) -> float:
        """Of the outputs of the samples of these numbers."""
        if isinstance(self.labels, (list, tuple)):
            labels: Any = [self.labels[number] for number in numbers]
        elif len(self.labels) == 0:
            labels = self.labels
        else:
            labels = getattr(self.labels, "iloc", self.labels)[numbers]
        return self.value(arrays_of(outputs), labels, len(numbers))

    def value(self, outputs: dict[str, Any], labels: Any, count: int) -> float:
        of = f"of {count} samples"
        try:
            found = self._function(outputs, labels)
        except Exception as error:
            message = f'The metric "{self.name}" raised {type(error).__name__} on outputs and labels {of}: {error}'
            hint = "It is called with those of all samples that are judged, and of parts of them, some of 7 samples."
            raise Error("invalid_argument", message, "metric", hint) from error
        try:
            number = math.inf if isinstance(found, (str, bytes)) else float(found)
            if math.isfinite(number):
                return number
        except (TypeError, ValueError, RuntimeError):
            pass
        message = f'The metric "{self.name}" returned {found!r:.80} for outputs and labels {of}.'
        raise Error("invalid_argument", message, "metric", "Return a finite number; more is better.")
