# SPDX-License-Identifier: Apache-2.0
"""What scripts import from `onnxruntime.quantization`, with its arguments and defaults (those of version 1.32).

    from tersor.compat.onnxruntime import CalibrationDataReader, QuantType, quantize_static

Files are made by `tersor.quantize()` within what the arguments ask for; docs/python.md says what becomes of each. What has no
counterpart here is named in one warning of the call. Neither onnxruntime nor onnx is needed.
"""

from __future__ import annotations

from typing import Any

from .calibrate import CalibrationDataReader, CalibrationMethod
from .quant_utils import QuantFormat, QuantType
from .quantize import DynamicQuantConfig, StaticQuantConfig, get_qdq_config, quantize, quantize_dynamic, quantize_static
from .shape_inference import quant_pre_process

__all__ = [
    "CalibrationDataReader",
    "CalibrationMethod",
    "DynamicQuantConfig",
    "QuantFormat",
    "QuantType",
    "StaticQuantConfig",
    "get_qdq_config",
    "quant_pre_process",
    "quantize",
    "quantize_dynamic",
    "quantize_static",
]

_STATISTICS = "tersor.calibrate() keeps what samples came to, and tersor.quantize(statistics=...) takes it"
_INSTEAD = {
    **dict.fromkeys(("CalibraterBase", "MinMaxCalibrater", "TensorData", "TensorsData", "create_calibrator"), _STATISTICS),
    **dict.fromkeys(("load_tensors_data", "save_tensors_data", "write_calibration_table"), _STATISTICS),
    **dict.fromkeys(("QDQQuantizer", "ONNXQuantizer", "CudaQuantizer", "QuantizationMode"), "quantize_static() does its work"),
    "matmul_nbits_quantizer": "tersor.quantize(model, platform='ort-matmul-nbits') writes MatMulNBits",
}
"""What is theirs and not here, and what there is in its place."""


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise ImportError(f"{name} of onnxruntime.quantization has no counterpart here: {_INSTEAD[name]}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
