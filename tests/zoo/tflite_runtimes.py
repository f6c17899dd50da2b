# SPDX-License-Identifier: Apache-2.0
"""Runs a .tflite file in tflite-micro, or in LiteRT, on .npy samples of real numbers:

    python tflite_runtimes.py micro|litert|litert-first MODEL.tflite OUT.npy SAMPLE.npy ...

OUT.npy holds the first output of each sample, one row each, in real numbers; litert-first: the first by its name. A process of its own for each file, since the
first ends its process on what it does not like."""
import sys

import numpy as np


def main(runtime, model, out, samples):
    data = open(model, 'rb').read()
    from ai_edge_litert.interpreter import Interpreter

    lite = Interpreter(model_content=data)
    lite.allocate_tensors()
    first, last = lite.get_input_details()[0], lite.get_output_details()[0]
    if runtime == 'litert-first':
        last = min(lite.get_output_details(), key=lambda output: output['name'])
    if runtime == 'micro':
        from tflite_micro.python.tflite_micro import runtime as micro

        interpreter = micro.Interpreter.from_bytes(data, arena_size=20 * len(data) + (1 << 22))
    rows = []
    for sample in samples:
        x = np.load(sample).astype(np.float32)
        scale, zero = first['quantization']
        if scale:
            steps = (x / np.float32(scale)).astype(np.float32)
            codes = np.where(steps >= 0, np.floor(steps.astype(np.float64) + 0.5), np.ceil(steps.astype(np.float64) - 0.5))
            held = np.iinfo(first['dtype'])
            x = np.clip(codes + zero, held.min, held.max).astype(first['dtype'])
        x = np.ascontiguousarray(x)
        if runtime == 'micro':
            interpreter.reset()
            interpreter.set_input(x, 0)
            interpreter.invoke()
            y = np.array(interpreter.get_output(0))
        else:
            lite.reset_all_variables()
            lite.set_tensor(first['index'], x)
            lite.invoke()
            y = lite.get_tensor(last['index'])
        scale, zero = last['quantization']
        rows.append(y.ravel() if not scale else (float(np.float32(scale)) * (y.ravel().astype(np.int64) - zero)).astype(np.float32))
    np.save(out, np.stack(rows).astype(np.float32))


main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
