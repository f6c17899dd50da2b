# SPDX-License-Identifier: Apache-2.0
"""What ONNX files take in the ONNX Runtime of this machine, with one thread.

python _timing.py FOLDER prints that as JSON, of 0.onnx (the float model), 1.onnx ... there, on the arrays 0.npy ... of the inputs
that inputs.json names. The program `tersor` holds this file and runs it for `--measure`: it needs numpy and onnxruntime alone.
"""

import json
import pathlib
import sys
import time

ROUNDS = 5
SECONDS = 4


def session_of(model):
    """`model`: bytes of a file, or its path."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def in_turns(runs, rounds, seconds):
    """Seconds of each: the least of so many rounds or more, until so many seconds are over. They take turns, so that what else
    the machine does falls on all."""
    least = [float("inf")] * len(runs)
    until, done = time.monotonic() + seconds, 0
    while done < rounds or time.monotonic() < until:
        done += 1
        for k, run in enumerate(runs):
            run()  # what the others put out of the caches is there again
            begin = time.perf_counter()
            run()
            least[k] = min(least[k], time.perf_counter() - begin)
    return least


def time_files(files, inputs):
    """`files`: bytes or paths, the float model's first; `inputs`: a sample, arrays by name."""
    import onnxruntime

    runs = []
    for file in files:
        session = session_of(file)
        # A file whose inputs are integers (io_types) takes others than the float model.
        types = {one.name: one.type for one in session.get_inputs()}
        integers = {"tensor(uint8)": "uint8", "tensor(int8)": "int8"}
        feed = {name: array.astype(integers.get(types[name], array.dtype)) for name, array in inputs.items() if name in types}
        runs.append(lambda session=session, feed=feed: session.run(None, feed))
    milliseconds = [seconds * 1e3 for seconds in in_turns(runs, ROUNDS, SECONDS)]
    return {"runtime": f"onnxruntime {onnxruntime.__version__}", "threads": 1, "milliseconds": milliseconds}


def main(folder):
    import numpy

    names = json.loads((folder / "inputs.json").read_text())
    inputs = {name: numpy.load(folder / f"{k}.npy") for k, name in enumerate(names)}
    files = sorted(folder.glob("*.onnx"), key=lambda path: int(path.stem))
    print(json.dumps(time_files([str(path) for path in files], inputs)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
