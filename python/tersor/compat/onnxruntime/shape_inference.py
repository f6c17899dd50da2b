# SPDX-License-Identifier: Apache-2.0
"""What prepares a model, as in `onnxruntime.quantization.shape_inference`."""

from __future__ import annotations

from typing import Any, Optional

from ..._calls import convert
from ..._error import Error
from ..._given import Path_


def quant_pre_process(
    input_model: Any = None,
    output_model_path: Optional[Path_] = None,
    skip_optimization: bool = False,
    skip_onnx_shape: bool = False,
    skip_symbolic_shape: bool = False,
    auto_merge: bool = False,
    int_max: int = 2**31 - 1,
    guess_output_rank: bool = False,
    verbose: int = 0,
    save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = False,
    external_data_location: Optional[str] = None,
    external_data_size_threshold: int = 1024,
    **deprecated_kwargs: Any,
) -> None:
    """Writes the model as it is: folding, shapes and fusing are part of `quantize_static()` and `quantize_dynamic()`, which
    need nothing beforehand. A model that cannot be read is an error here already."""
    if input_model is None:
        input_model = deprecated_kwargs.pop("input_model_path", None)
    if input_model is None or output_model_path is None:
        raise Error("invalid_argument", "quant_pre_process() needs input_model and output_model_path.", "arguments")
    convert(input_model, output_model_path, external=save_as_external_data)
