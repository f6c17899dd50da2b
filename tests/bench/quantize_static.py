# SPDX-License-Identifier: Apache-2.0
"""quantize_static.py MODEL.onnx CALIBRATION_FOLDER OUT.onnx [--per-tensor]

What a user of ONNX Runtime runs: quant_pre_process without symbolic shapes, then quantize_static to QDQ with minimum and
maximum, weights per channel (unless told otherwise), one thread. Models under operator set 13 are raised first, as per-channel scales need.
"""
import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import version_converter
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

plain_options = onnxruntime.SessionOptions


def one_thread():
    options = plain_options()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return options


class Reader(CalibrationDataReader):
    def __init__(self, folder, name):
        self.files = iter(sorted(glob.glob(os.path.join(folder, "*.npy"))))
        self.name = name

    def get_next(self):
        file = next(self.files, None)
        return None if file is None else {self.name: np.load(file)}


def main():
    source, folder, out = sys.argv[1:4]
    onnxruntime.set_default_logger_severity(3)
    onnxruntime.SessionOptions = one_thread
    model = onnx.load(source)
    weights = {initializer.name for initializer in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    if model.opset_import[0].version < 13:
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        model.ir_version = max(model.ir_version, 8)
        source = out + ".13.onnx"
        onnx.save(version_converter.convert_version(model, 13), source)
    prepared = out + ".prepared.onnx"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared,
        out,
        Reader(folder, inputs[0].name),
        quant_format=QuantFormat.QDQ,
        per_channel="--per-tensor" not in sys.argv,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
    )


main()
