# SPDX-License-Identifier: Apache-2.0
"""quantize_static.py MODEL.onnx CALIBRATION_FOLDER OUT.onnx [--per-tensor] [--activations QUInt8|QInt8] [--operators A,B,...]

What a user of ONNX Runtime runs: quant_pre_process without symbolic shapes, then quantize_static to QDQ with minimum and
maximum, weights per channel (unless told otherwise), one thread. Models under operator set 13 are raised first, as per-channel scales need.
Samples are .npy (of a model with one input) or .npz files (an array per input) with the batch in them.
"""
import argparse
import glob
import os

import numpy as np
import onnx
import onnxruntime
from onnx import version_converter
from onnx.external_data_helper import uses_external_data
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
        self.files = iter(sorted(glob.glob(os.path.join(folder, "*.np[yz]"))))
        self.name = name

    def get_next(self):
        file = next(self.files, None)
        if file is None:
            return None
        return {self.name: np.load(file)} if file.endswith(".npy") else dict(np.load(file))


def prepare(source, out):
    """The name of the file that is quantized, and that of the model's first input."""
    onnxruntime.set_default_logger_severity(3)
    onnxruntime.SessionOptions = one_thread
    model = onnx.load(source)
    weights = {initializer.name for initializer in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in weights]
    versions = {one.domain: one.version for one in model.opset_import}
    if versions.get("", 13) < 13:
        del model.graph.input[:]
        model.graph.input.extend(inputs)
        model.ir_version = max(model.ir_version, 8)
        source = out + ".13.onnx"
        onnx.save(version_converter.convert_version(model, 13), source)
    elif any(uses_external_data(one) for one in onnx.load(source, load_external_data=False).graph.initializer):
        # quant_pre_process looks for the data beside its own files.
        source = out + ".whole.onnx"
        onnx.save(model, source)
    prepared = out + ".prepared.onnx"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    return prepared, inputs[0].name


def quantize(prepared, folder, out, name, per_channel=True, activations="QUInt8", operators=None):
    quantize_static(
        prepared,
        out,
        Reader(folder, name),
        quant_format=QuantFormat.QDQ,
        per_channel=per_channel,
        activation_type=QuantType[activations],
        weight_type=QuantType.QInt8,
        calibrate_method=CalibrationMethod.MinMax,
        op_types_to_quantize=operators,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--per-tensor", action="store_true")
    parser.add_argument("--activations", default="QUInt8")
    parser.add_argument("--operators", type=lambda text: text.split(","))
    args = parser.parse_args()
    prepared, name = prepare(args.model, args.out)
    quantize(prepared, args.folder, args.out, name, not args.per_tensor, args.activations, args.operators)


if __name__ == "__main__":
    main()
