# SPDX-License-Identifier: Apache-2.0
"""Makes the demo from nothing: renders pictures, trains the network, writes model.onnx, samples.zip and demo.json.

See README.md beside this file. Not part of building or testing the project.
"""

import argparse
import json
import zipfile
from pathlib import Path

import jax
import numpy as np
from PIL import Image

import check
import export
import fonts
import learn
import network
import render

SEED = 1
TRAINING_PICTURES = 32_000
VALIDATION_PICTURES = 1_600
TEST_PICTURES = 320
CALIBRATION_PICTURES = 80  # of the test pictures
TRAINING, VALIDATION, TEST = 0, 1, 2  # parts of the random stream

PREPROCESSING = {
    "resize": {"mode": "none", "size": [render.SIZE, render.SIZE], "filter": "bilinear"},
    "crop": "none",
    "channels": "RGB",
    "layout": "NCHW",
    "scale": 1 / 255,
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
    "label_offset": 0,
}


def _rendered(part: int, families: tuple[fonts.Family, ...], folder: Path, count: int) -> tuple[np.ndarray, np.ndarray]:
    images, labels = render.labelled(SEED, part, fonts.paths(families, folder), count)
    return np.stack([render.pixels(image) for image in images]), labels


def _write_archive(path: Path, images: list[Image.Image], labels: np.ndarray) -> None:
    """Stored, in data-set order, one folder per class, no times: the same pictures give the same bytes."""
    entries = {}
    for index, (image, label) in enumerate(zip(images, labels)):
        name = f"{render.CLASSES[label]}/{index // len(render.CLASSES):03d}.png"
        entries[name] = render.png(image)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries, key=str.encode):
            archive.writestr(zipfile.ZipInfo(name), entries[name])


def _described(folder: Path) -> dict:
    """demo.json; its accuracy is measured on the files just written."""
    classes = list(render.CLASSES)
    samples = check.read_samples(folder / "samples.zip", classes, CALIBRATION_PICTURES)
    return {
        "name": "Characters",
        "description": "Letters and digits in typefaces the model never saw, turned, blurred and noisy.",
        "model": "model.onnx",
        "samples": "samples.zip",
        "classes": classes,
        "preprocessing": PREPROCESSING,
        "calibration_samples": CALIBRATION_PICTURES,
        "float_accuracy": check.measure(folder / "model.onnx", samples, PREPROCESSING),
        "fonts": [
            {"name": family.name, "licence": family.licence, "package": family.package}
            for family in sorted(fonts.TRAINING + fonts.VALIDATION + fonts.TEST, key=lambda family: family.name)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fonts", type=Path, default=Path("/usr/share/fonts"), help="folder of the fonts")
    parser.add_argument("--output", type=Path, default=check.FOLDER, help="where the three files go")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)

    print(f"{network.multiplications(render.SIZE, len(render.CLASSES)) / 1e6:.2f} million multiplications a picture")
    pixels, labels = _rendered(TRAINING, fonts.TRAINING, arguments.fonts, TRAINING_PICTURES)
    validation = _rendered(VALIDATION, fonts.VALIDATION, arguments.fonts, VALIDATION_PICTURES)
    weights, statistics = learn.train(SEED, pixels, labels, len(render.CLASSES), validation)

    as_arrays = jax.tree.map(np.asarray, (weights, statistics))
    model = export.model(*as_arrays, render.SIZE, render.CLASSES)
    (arguments.output / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    images, labels = render.labelled(SEED, TEST, fonts.paths(fonts.TEST, arguments.fonts), TEST_PICTURES)
    _write_archive(arguments.output / "samples.zip", images, labels)
    text = json.dumps(_described(arguments.output), indent=2, ensure_ascii=False)
    (arguments.output / "demo.json").write_text(text + "\n")
    print("now run check.py")


if __name__ == "__main__":
    main()
