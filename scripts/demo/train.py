# SPDX-License-Identifier: Apache-2.0
"""Makes a demo from nothing: renders pictures, trains the network, writes model.onnx, samples.zip and demo.json.

See README.md beside this file. Not part of building or testing the project.
"""

import argparse
import json
import zipfile
from pathlib import Path

import jax
import numpy as np

import check
import export
import fonts
import learn
import network
import render
import scenes

SEED = 1
TRAINING, VALIDATION, TEST = 0, 1, 2  # parts of the random stream


def _preprocessing(size: int, resize: str) -> dict:
    return {
        "resize": {"mode": resize, "size": [size, size], "filter": "bilinear"},
        "crop": "none",
        "channels": "RGB",
        "layout": "NCHW",
        "scale": 1 / 255,
        "mean": [0.5, 0.5, 0.5],
        "std": [0.5, 0.5, 0.5],
        "label_offset": 0,
    }


class Characters:
    """Letters and digits, for a network of depthwise convolutions: small, and quick to load."""

    folder = check.FOLDER
    classes = tuple(render.CLASSES)
    layers = network.CHARACTERS
    size = render.SIZE
    pictures = {TRAINING: 32_000, VALIDATION: 1_600, TEST: 320}
    calibration = 80  # of the test pictures
    epochs = 16
    ending = "png"
    preprocessing = _preprocessing(render.SIZE, "none")
    told = {"name": "Characters",
            "description": "Letters and digits in typefaces the model never saw, turned, blurred and noisy."}
    families = {TRAINING: fonts.TRAINING, VALIDATION: fonts.VALIDATION, TEST: fonts.TEST}

    def __init__(self, font_folder: Path) -> None:
        self._fonts = font_folder

    def labelled(self, part: int) -> tuple[list[bytes], np.ndarray]:
        """PNG files and their class numbers."""
        paths = fonts.paths(self.families[part], self._fonts)
        images, labels = render.labelled(SEED, part, paths, self.pictures[part])
        return [render.png(image) for image in images], labels

    @staticmethod
    def vary(rng: np.random.Generator, batch: np.ndarray) -> np.ndarray:
        return learn.recoloured(rng, batch)

    def more(self) -> dict:
        return {"fonts": [
            {"name": family.name, "licence": family.licence, "package": family.package}
            for family in sorted(fonts.TRAINING + fonts.VALIDATION + fonts.TEST, key=lambda family: family.name)
        ]}


class Fruit:
    """Rendered photographs, for a network whose int8 file is quicker as well as smaller."""

    folder = check.FOLDER / "fruit"
    classes = scenes.CLASSES
    layers = network.FRUIT
    size = 64
    pictures = {TRAINING: 3_000, VALIDATION: 400, TEST: 300}
    calibration = 60
    epochs = 20
    ending = "jpg"
    preprocessing = _preprocessing(64, "stretch")
    told = {"name": "Fruit", "description": "Rendered photographs of ten kinds of fruit and vegetables on a table."}

    def __init__(self, _font_folder: Path) -> None:
        pass

    def labelled(self, part: int) -> tuple[list[bytes], np.ndarray]:
        """JPEG files and their class numbers."""
        return scenes.labelled(SEED, part, self.pictures[part])

    @staticmethod
    def vary(rng: np.random.Generator, batch: np.ndarray) -> np.ndarray:
        return learn.moved(rng, batch)

    def more(self) -> dict:
        return {}


def _write_archive(path: Path, demo: Characters | Fruit, files: list[bytes], labels: np.ndarray) -> None:
    """Stored, in data-set order, one folder per class, no times: the same pictures give the same bytes."""
    count = len(demo.classes)
    entries = {f"{demo.classes[label]}/{index // count:03d}.{demo.ending}": file
               for index, (file, label) in enumerate(zip(files, labels))}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries, key=str.encode):
            archive.writestr(zipfile.ZipInfo(name), entries[name])


def _described(folder: Path, demo: Characters | Fruit) -> dict:
    """demo.json; its accuracy is measured on the files just written."""
    classes = list(demo.classes)
    samples = check.read_samples(folder / "samples.zip", classes, demo.calibration, demo.preprocessing)
    return {
        **demo.told,
        "model": "model.onnx",
        "samples": "samples.zip",
        "classes": classes,
        "preprocessing": demo.preprocessing,
        "calibration_samples": demo.calibration,
        "float_accuracy": check.measure(folder / "model.onnx", samples, demo.preprocessing),
        **demo.more(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("demo", choices=("characters", "fruit"))
    parser.add_argument("--fonts", type=Path, default=Path("/usr/share/fonts"), help="folder of the fonts")
    parser.add_argument("--output", type=Path, help="where the three files go")
    arguments = parser.parse_args()
    demo = (Fruit if arguments.demo == "fruit" else Characters)(arguments.fonts)
    folder = arguments.output or demo.folder
    folder.mkdir(parents=True, exist_ok=True)

    def as_pixels(part: int) -> tuple[np.ndarray, np.ndarray]:
        files, labels = demo.labelled(part)
        return np.stack([check.pixels(file, demo.preprocessing) for file in files]), labels

    classes = len(demo.classes)
    print(f"{network.multiplications(demo.layers, demo.size, classes) / 1e6:.2f} million multiplications a picture")
    pixels, labels = as_pixels(TRAINING)
    weights, statistics = learn.train(
        SEED, demo.layers, demo.epochs, demo.vary, pixels, labels, classes, as_pixels(VALIDATION))

    as_arrays = jax.tree.map(np.asarray, (weights, statistics))
    model = export.model(arguments.demo, demo.layers, *as_arrays, demo.size, demo.classes)
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))
    _write_archive(folder / "samples.zip", demo, *demo.labelled(TEST))
    text = json.dumps(_described(folder, demo), indent=2, ensure_ascii=False)
    (folder / "demo.json").write_text(text + "\n")
    print("now run check.py")


if __name__ == "__main__":
    main()
