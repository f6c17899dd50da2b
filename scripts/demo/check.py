# SPDX-License-Identifier: Apache-2.0
"""Checks the demo's files as they lie there: sizes, form, float accuracy; --quantize also quantizes with ONNX Runtime.

Needs no training library. Exits with 1 and a sentence when something does not hold.
"""

import argparse
import io
import itertools
import json
import logging
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from PIL import Image

FOLDER = Path(__file__).resolve().parents[2] / "web" / "public" / "demo"
MODEL_LIMIT = 1_000_000  # bytes
TOTAL_LIMIT = 1_600_000
EVALUATION_LEAST = 200  # pictures
ACCURACY_LEAST = 0.9


@dataclass
class Samples:
    """The pictures in data-set order: names, uint8 [N, H, W, 3], class numbers, and which of them calibrate."""

    names: list[str]
    pixels: np.ndarray
    labels: np.ndarray
    calibration: np.ndarray


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise SystemExit(f"demo: {sentence}")


def pixels(file: bytes, preprocessing: dict) -> np.ndarray:
    """The picture decoded and scaled: uint8 [H, W, 3]."""
    image = Image.open(io.BytesIO(file)).convert("RGB")
    resize = preprocessing["resize"]
    if resize["mode"] != "none":
        image = image.resize(tuple(resize["size"][::-1]), Image.Resampling.BILINEAR)
    return np.asarray(image)


def read_samples(archive: Path, classes: list[str], calibration_samples: int, preprocessing: dict) -> Samples:
    """Calibration takes `calibration_samples` pictures at even distances, the first included."""
    with zipfile.ZipFile(archive) as file:
        names = sorted(file.namelist(), key=str.encode)
        _require(all(entry.compress_type == zipfile.ZIP_STORED for entry in file.infolist()),
                 "an entry of the archive is compressed")
        images = [pixels(file.read(name), preprocessing) for name in names]
    _require(sorted({name.split("/")[0] for name in names}, key=str.encode) == classes,
             "the folders are not the classes")
    labels = np.array([classes.index(name.split("/")[0]) for name in names])
    calibration = np.zeros(len(names), bool)
    calibration[[k * len(names) // calibration_samples for k in range(calibration_samples)]] = True
    return Samples(names, np.stack(images), labels, calibration)


def prepare(pixels: np.ndarray, preprocessing: dict) -> np.ndarray:
    """float32 [N, 3, H, W]; computed in double and rounded once. Only what the demos' descriptions use."""
    _require(preprocessing["resize"]["mode"] in ("none", "stretch") and preprocessing["crop"] == "none",
             "the description keeps the aspect or crops")
    _require(preprocessing["channels"] == "RGB" and preprocessing["layout"] == "NCHW", "not RGB in NCHW")
    mean, deviation = (np.array(preprocessing[key], np.float64) for key in ("mean", "std"))
    x = (pixels.astype(np.float64) * preprocessing["scale"] - mean) / deviation
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)).astype(np.float32)


def scores(model: bytes | Path, x: np.ndarray, batch: int = 32) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    source = str(model) if isinstance(model, Path) else model
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    parts = [session.run(["scores"], {"image": x[at : at + batch]})[0] for at in range(0, len(x), batch)]
    return np.concatenate(parts)


def right(found: np.ndarray, samples: Samples, chosen: np.ndarray) -> dict[str, int]:
    """How many of the chosen pictures the scores name rightly."""
    hits = np.argmax(found, 1) == samples.labels
    return {"right": int(np.sum(hits & chosen)), "count": int(np.sum(chosen))}


def measure(model: bytes | Path, samples: Samples, preprocessing: dict) -> dict[str, dict[str, int]]:
    found = scores(model, prepare(samples.pixels, preprocessing))
    return {
        "evaluation": right(found, samples, ~samples.calibration),
        "all": right(found, samples, np.ones(len(samples.names), bool)),
    }


def _check_files(folder: Path, description: dict) -> None:
    model_size = (folder / description["model"]).stat().st_size
    total = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    _require(model_size <= MODEL_LIMIT, f"the model has {model_size} bytes, at most {MODEL_LIMIT} are allowed")
    _require(total <= TOTAL_LIMIT, f"the files have {total} bytes, at most {TOTAL_LIMIT} are allowed")
    print(f"model {model_size} bytes, all files {total} bytes")


def _check_model(path: Path, x: np.ndarray) -> None:
    onnx.checker.check_model(onnx.load(path), full_check=True)
    together, one_by_one = scores(path, x[:16], batch=16), scores(path, x[:16], batch=1)
    _require(bool(np.allclose(together, one_by_one, rtol=0, atol=1e-5 * np.ptp(together))),
             "scores depend on the batch size")


def _check_accuracy(found: dict, description: dict) -> None:
    told = description["float_accuracy"]
    _require(found == told, f"float accuracy is {found}, demo.json says {told}")
    evaluation = found["evaluation"]
    _require(evaluation["count"] >= EVALUATION_LEAST, "too few pictures are left for evaluation")
    share = evaluation["right"] / evaluation["count"]
    _require(share >= ACCURACY_LEAST, f"float accuracy is {share:.3f}, at least {ACCURACY_LEAST} is asked for")
    print(f"float accuracy {100 * share:.2f} % of {evaluation['count']} evaluation pictures, "
          f"{found['all']['right']} of all {found['all']['count']}")


class _Reader:
    """Calibration samples in the form ONNX Runtime's quantizer asks for."""

    def __init__(self, x: np.ndarray) -> None:
        self._left = iter(x[:, None])

    def get_next(self) -> dict[str, np.ndarray] | None:
        x = next(self._left, None)
        return None if x is None else {"image": x}


def _quantized(path: Path, x: np.ndarray, per_channel: bool, folded: bool) -> bytes:
    """ONNX Runtime's static quantization, MinMax, of the model as it is or with normalization folded before."""
    from onnxruntime.quantization import CalibrationMethod, QuantType, quantize_static

    with tempfile.TemporaryDirectory() as folder:
        source, target = path, Path(folder) / "int8.onnx"
        if folded:
            source = Path(folder) / "folded.onnx"
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
            options.optimized_model_filepath = str(source)
            onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        quantize_static(str(source), str(target), _Reader(x), per_channel=per_channel,
                        calibrate_method=CalibrationMethod.MinMax, weight_type=QuantType.QInt8,
                        activation_type=QuantType.QUInt8)
        return target.read_bytes()


def _print_quantized(path: Path, samples: Samples, x: np.ndarray) -> None:
    """What another quantizer makes of the model: a look, not a check."""
    logging.disable(logging.WARNING)  # advice to fold first, which one half of the runs does
    reference = scores(path, x)
    kept = ~samples.calibration
    for per_channel, folded in itertools.product((True, False), repeat=2):
        model = _quantized(path, x[samples.calibration], per_channel, folded)
        found = scores(model, x)
        hits = right(found, samples, kept)
        noise = np.sum(np.square(found[kept] - reference[kept], dtype=np.float64))
        decibels = 10 * np.log10(np.sum(np.square(reference[kept], dtype=np.float64)) / noise)
        same = np.mean(np.argmax(found[kept], 1) == np.argmax(reference[kept], 1))
        print(f"ONNX Runtime MinMax, {'per channel' if per_channel else 'per tensor'}, normalization "
              f"{'folded first' if folded else 'left as it is'}: {100 * hits['right'] / hits['count']:.2f} %, "
              f"SQNR {decibels:.1f} dB, same answer {100 * same:.1f} %, {len(model)} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--quantize", action="store_true", help="also quantize with ONNX Runtime and print the figures")
    arguments = parser.parse_args()
    description = json.loads((arguments.folder / "demo.json").read_text())
    path = arguments.folder / description["model"]
    samples = read_samples(arguments.folder / description["samples"], description["classes"],
                           description["calibration_samples"], description["preprocessing"])
    x = prepare(samples.pixels, description["preprocessing"])
    _check_files(arguments.folder, description)
    _check_model(path, x)
    _check_accuracy(measure(path, samples, description["preprocessing"]), description)
    if arguments.quantize:
        _print_quantized(path, samples, x)


if __name__ == "__main__":
    main()
