#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples, peers' files and errors of the bench's part "files":

    files.py samples zoo SHARED ID FOLDER           FOLDER/calib/NNNN.npz, FOLDER/eval.npz and FOLDER/feed.json
    files.py samples export SAMPLES.npz FOLDER      the same: of 12 samples 8 calibrate
    files.py peers MODEL.onnx FOLDER OUT [NAME...]  OUT/<configuration>.onnx by quantize_static, a JSON line of their errors
    files.py errors MODEL.onnx FOLDER FILE...       a JSON line of files' errors

Arrays of eval.npz have the samples along a new first axis, so that array[k] is what the model is given; feed.json is the first
of them: {input: {type, dims, base64}}. The error is the SQNR in dB against the float model on these samples: pooled over the
samples, by output; the mean over outputs that differ, 200 where none does, null where no output is of floats. Needs numpy, onnx and
onnxruntime, of the zoo's samples also scipy and pillow.
"""
import base64
import json
import os
import pathlib
import sys

import numpy as np

CORE = ["Conv", "ConvTranspose", "Gemm", "MatMul"]

CONFIGURATIONS = {
    "u8s8": {"activations": "QUInt8"},
    "s8s8": {"activations": "QInt8"},
    "u8s8-core": {"activations": "QUInt8", "operators": CORE},
    "s8s8-core": {"activations": "QInt8", "operators": CORE},
}

# More add seconds and nothing to a figure that is rounded to tenths.
MOST_EVALUATED = 512

EXACT = 200.0


def write_samples(folder, calibration, evaluation):
    """Both are lists of what the model is given: {input: array}."""
    (folder / "calib").mkdir(parents=True, exist_ok=True)
    for k, sample in enumerate(calibration):
        np.savez(folder / "calib" / f"{k:04d}.npz", **sample)
    np.savez(folder / "eval.npz", **{key: np.stack([one[key] for one in evaluation]) for key in evaluation[0]})
    (folder / "feed.json").write_text(json.dumps({
        key: {"type": array.dtype.name, "dims": array.shape, "base64": base64.b64encode(array.tobytes()).decode()}
        for key, array in evaluation[0].items()
    }))


def zoo_samples(shared, model, folder):
    sys.path.insert(0, os.path.join(shared, "anchors"))
    import zoo_sets
    sets = zoo_sets.load(os.path.join(shared, "zoo"), model)
    count = sets.count(sets.eval)
    chosen = np.arange(min(count, MOST_EVALUATED)) * count // min(count, MOST_EVALUATED)
    write_samples(pathlib.Path(folder), [sets.feed(sets.calib, k) for k in range(sets.count(sets.calib))],
                  [sets.feed(sets.eval, k) for k in chosen])


def export_samples(file, folder):
    data = np.load(file)
    count = len(data[data.files[0]])
    given = [{key: data[key][k:k + 1] for key in data.files} for k in range(count)]
    write_samples(pathlib.Path(folder), given[:count * 2 // 3], given[count * 2 // 3:])


def session(file):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(os.fspath(file), options, providers=["CPUExecutionProvider"])


def evaluation_samples(folder):
    data = dict(np.load(os.path.join(folder, "eval.npz")))
    return [{key: np.asarray(array[k]) for key, array in data.items()} for k in range(len(next(iter(data.values()))))]


def decibels(wanted, got):
    """Of lists of outputs by sample."""
    reached = []
    if all(one.dtype.kind != "f" for one in wanted[0]):
        return None
    for k, first in enumerate(wanted[0]):
        if first.dtype.kind != "f":
            continue
        signal = noise = 0.0
        for right, mine in zip(wanted, got):
            right, mine = right[k].astype(np.float64), mine[k].astype(np.float64)
            signal += float(np.sum(right ** 2))
            noise += float(np.sum((right - mine) ** 2)) if right.shape == mine.shape else np.inf
        if noise != 0:
            reached.append(10 * np.log10(max(signal, 1e-300) / noise) if np.isfinite(noise) else -np.inf)
    return round(max(float(np.mean(reached)), -EXACT), 2) if reached else EXACT


def errors(model, folder, files):
    """{file: {"sqnr_db"} or {"error"}}"""
    given = evaluation_samples(folder)
    run = session(model)
    wanted = [run.run(None, one) for one in given]
    found = {}
    for file in files:
        try:
            run = session(file)
            names = {mine: theirs.name for mine, theirs in zip(given[0], run.get_inputs())}
            present = {one.name for one in run.get_inputs()}
            rename = {mine: mine if mine in present else names[mine] for mine in given[0]}
            got = [run.run(None, {rename[key]: array for key, array in one.items() if rename[key] in present}) for one in given]
            found[os.fspath(file)] = {"sqnr_db": decibels(wanted, got)}
        except Exception as error:
            found[os.fspath(file)] = {"error": str(error).strip().splitlines()[0][:300]}
    return found


def peers(model, folder, out, *names):
    """{configuration: {"sqnr_db"} or {"error"}}"""
    import quantize_static
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    made = {}
    try:
        prepared, name = quantize_static.prepare(model, os.fspath(out / "model"))
    except Exception as error:
        return {key: {"error": "quant_pre_process: " + str(error).strip().splitlines()[-1][:300]} for key in names or CONFIGURATIONS}
    for key in names or CONFIGURATIONS:
        options = CONFIGURATIONS[key]
        file = out / f"{key}.onnx"
        try:
            try:
                quantize_static.quantize(prepared, os.path.join(folder, "calib"), os.fspath(file), name, **options)
            except ValueError:
                # It fails by channel on some models' biases (ONNX Runtime 1.32 with NumPy 2).
                quantize_static.quantize(prepared, os.path.join(folder, "calib"), os.fspath(file), name, per_channel=False, **options)
            made[key] = errors(model, folder, [file])[os.fspath(file)]
        except Exception as error:
            made[key] = {"error": "quantize_static: " + str(error).strip().splitlines()[-1][:300]}
    for extra in out.glob("model.*"):
        extra.unlink()
    return made


def main():
    command, *rest = sys.argv[1:]
    if command == "samples":
        {"zoo": zoo_samples, "export": export_samples}[rest[0]](*rest[1:])
    elif command == "peers":
        print(json.dumps(peers(*rest)))
    elif command == "errors":
        print(json.dumps(errors(rest[0], rest[1], rest[2:])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
