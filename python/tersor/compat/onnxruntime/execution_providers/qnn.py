# SPDX-License-Identifier: Apache-2.0
"""Files for Qualcomm's processors, as in `onnxruntime.quantization.execution_providers.qnn`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ...._error import Error
from ...._given import Path_
from ..calibrate import CalibrationMethod
from ..quant_utils import QuantType
from ..quantize import StaticQuantConfig, holds_weights_beside

__all__ = ["get_qnn_qdq_config", "qnn_preprocess_model"]


def get_qnn_qdq_config(
    model_input: Any,
    calibration_data_reader: Any,
    calibrate_method: Any = CalibrationMethod.MinMax,
    activation_type: Any = QuantType.QUInt8,
    weight_type: Any = QuantType.QUInt8,
    per_channel: bool = False,
    init_overrides: Optional[Mapping[str, Any]] = None,
    add_qtype_converts: bool = True,
    activation_symmetric: bool = False,
    weight_symmetric: Optional[bool] = None,
    keep_removable_activations: bool = False,
    stride: Optional[int] = None,
    calibration_providers: Optional[Sequence[str]] = None,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
) -> StaticQuantConfig:
    """For `quantize()`: the platform `qnn`."""
    return StaticQuantConfig(
        calibration_data_reader,
        calibrate_method=calibrate_method,
        activation_type=activation_type,
        weight_type=weight_type,
        op_types_to_quantize=op_types_to_quantize,
        nodes_to_exclude=nodes_to_exclude,
        per_channel=per_channel,
        use_external_data_format=holds_weights_beside(model_input),
        calibration_providers=calibration_providers,
        extra_options={
            "Platform": "qnn",  # read by quantize_static() alone
            "QDQKeepRemovableActivations": keep_removable_activations,
            "TensorQuantOverrides": dict(init_overrides or {}),
            "ActivationSymmetric": activation_symmetric,
            "WeightSymmetric": weight_symmetric,
            "CalibStridedMinMax": stride,
        },
    )


def qnn_preprocess_model(
    model_input: Any,
    model_output: Path_,
    exclude_initializer_from_input: bool = False,
    fuse_layernorm: bool = False,
    save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = False,
    external_data_location: Optional[str] = None,
    external_data_size_threshold: int = 1024,
    external_data_convert_attribute: bool = False,
    inputs_to_make_channel_last: Optional[Sequence[str]] = None,
    outputs_to_make_channel_last: Optional[Sequence[str]] = None,
    dynamic_input_shapes: Optional[Sequence[tuple[str, str]]] = None,
) -> bool:
    """Fusing is part of quantizing, so that nothing is to be done beforehand. As theirs it writes a file, and returns True, only
    where the model was changed, which is never."""
    for name, value in (
        ("inputs_to_make_channel_last", inputs_to_make_channel_last),
        ("outputs_to_make_channel_last", outputs_to_make_channel_last),
        ("dynamic_input_shapes", dynamic_input_shapes),
    ):
        if value:
            message = "qnn_preprocess_model() leaves inputs and outputs of the model as they are."
            raise Error("invalid_argument", message, name, "Change them where the model is exported.")
    return False
