# SPDX-License-Identifier: Apache-2.0
"""Types and forms, as in `onnxruntime.quantization.quant_utils`."""

from __future__ import annotations

from enum import Enum
from typing import Any


class _Named(Enum):
    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_string(cls, name: str) -> Any:
        try:
            return cls[name]
        except KeyError:
            raise ValueError(f"There is no {cls.__name__} {name!r}: {', '.join(one.name for one in cls)}.") from None


class QuantType(_Named):
    QInt8 = 0
    QUInt8 = 1
    QFLOAT8E4M3FN = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6

    @property
    def tensor_type(self) -> int:
        """The number of the type in ONNX's TensorProto."""
        return {"QInt8": 3, "QUInt8": 2, "QFLOAT8E4M3FN": 17, "QInt16": 5, "QUInt16": 4, "QInt4": 22, "QUInt4": 21}[self.name]


class QuantFormat(_Named):
    QOperator = 0
    QDQ = 1
