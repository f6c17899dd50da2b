# SPDX-License-Identifier: Apache-2.0
"""The wheel: the bytes of the program and of Node, what callers give, errors, Ctrl+C."""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import warnings
import zipfile
from pathlib import Path

import numpy
import tersor

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build/native/bin/tersor"
NODE_COMMAND = ROOT / "wasm/bin.mjs"
MODEL = ROOT / "web/public/demo/model.onnx"


def demo_arrays():
    """The demo's pictures as arrays, as the model takes them, with their labels."""
    count = 48
    generator = numpy.random.default_rng(5)
    shape = [one for one in tersor.inspect(MODEL)["inputs"][0]["shape"]]
    dims = [one if isinstance(one, int) else 1 for one in shape][1:]
    return generator.normal(size=(count, *dims)).astype(numpy.float32), generator.integers(0, 10, count)


class TensorFlowLite(unittest.TestCase):
    def test_a_tflite_file_is_judged_in_its_own_arithmetic(self):
        samples, labels = demo_arrays()
        given = {"platform": "tflite-micro", "effort": 0}
        made = tersor.quantize(MODEL, samples, format="tflite", **given)
        self.assertEqual(made.bytes[4:8], b"TFL3")
        report = made.report
        self.assertEqual((report["runtime"], report["board"]["flash_bytes"]), ("tflite-micro", len(made.bytes)))
        self.assertEqual(tersor.inspect(made.bytes)["inputs"][0]["type"], "int8")
        compared = tersor.compare(MODEL, made, samples)
        self.assertEqual(compared["outputs"], report["comparison"]["outputs"])
        beside = tersor.evaluate(made.bytes, samples, metric="answers", reference=MODEL)
        self.assertAlmostEqual(beside["output_sqnr_db"], report["comparison"]["output_sqnr_db"])
        # By itself it takes channels last, where the model has channels first.
        shape = tersor.inspect(made.bytes)["inputs"][0]["shape"]
        own = samples if list(samples.shape[1:]) == shape[1:] else numpy.moveaxis(samples, 1, -1)
        (outputs,) = tersor.run(made.bytes, own[:4]).values()
        onnx = tersor.quantize(MODEL, samples, **given)
        (same,) = tersor.run(onnx.bytes, samples[:4], runtime="tflite-micro").values()
        self.assertTrue(numpy.array_equal(outputs, same))
        with self.assertRaisesRegex(tersor.Error, "quantized already"):
            tersor.quantize(made.bytes, own)
        with tempfile.TemporaryDirectory() as folder:
            made.save(Path(folder) / "q.tflite")
            self.assertRaises(tersor.Error, made.save, Path(folder) / "q.onnx")
            self.assertRaises(tersor.Error, onnx.save, Path(folder) / "p.tflite")
        self.assertRaises(tersor.Error, tersor.quantize, MODEL, samples, format="coreml")


class Measured(unittest.TestCase):
    def setUp(self):
        self.samples, _ = demo_arrays()
        self.given = []

    def timer(self, fastest):
        def timed(files, inputs):
            self.given = files
            (values,) = inputs.values()
            self.assertTrue(numpy.array_equal(values, self.samples[:1]))
            milliseconds = [numpy.float32(4)] * len(files)
            milliseconds[fastest] = 0.5
            return {"runtime": "a runtime 1.0", "threads": 1, "milliseconds": milliseconds}

        return timed

    def test_the_fastest_file_is_taken_and_its_recipe_repeats_it(self):
        for fastest in (1, -1):
            made = tersor.quantize(MODEL, self.samples, measure=self.timer(fastest), prefer="SPEED", effort=0)
            time = made.report["time"]
            (taken,) = [k for k, one in enumerate(time["timed"]) if one["taken"]]
            self.assertEqual(made.bytes, self.given[fastest])
            self.assertEqual(made.bytes, self.given[1 + taken])
            self.assertEqual((time["measured"], time["float_ms"], time["quantized_ms"]), (True, 4, 0.5))
            self.assertEqual(made.recipe["quantization_config"]["prefer"], time["timed"][taken]["prefer"])
            self.assertEqual(tersor.quantize(MODEL, self.samples, recipe=made.recipe).bytes, made.bytes)

    def test_what_cannot_time_is_an_error(self):
        few = self.samples[:4]
        for measure in ("yes", lambda files, inputs: {"milliseconds": [1]}):
            with self.assertRaises(tersor.Error) as raised:
                tersor.quantize(MODEL, few, measure=measure)
            self.assertEqual(raised.exception.code, "invalid_argument")
        with self.assertRaises(ZeroDivisionError):
            tersor.quantize(MODEL, few, measure=lambda files, inputs: 1 / 0)
        with self.assertRaises(tersor.Error) as raised:
            statistics = tersor.calibrate(MODEL, few)
            tersor.quantize(MODEL, statistics=statistics, measure=self.timer(1))
        self.assertEqual(raised.exception.code, "invalid_samples")

    def test_in_the_runtime_that_is_installed(self):
        if importlib.util.find_spec("onnxruntime") is None:
            with self.assertRaisesRegex(tersor.Error, "pip install onnxruntime"):
                tersor.quantize(MODEL, self.samples, measure=True)
            return
        made = tersor.quantize(MODEL, self.samples, measure=True)
        self.assertRegex(made.report["time"]["sentence"], r"in onnxruntime \d+\.\d+\.\d+ \(measured, one thread\)")


class SameBytes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.samples, self.labels = demo_arrays()
        self.file = Path(self.folder.name) / "samples.npy"
        numpy.save(self.file, self.samples)

    def made_by(self, *command, options=()):
        out = Path(self.folder.name) / "out.onnx"
        arguments = ["quantize", MODEL, "--data", self.file, "-o", out, *options]
        subprocess.run([*command, *arguments], check=True, capture_output=True)
        return out.read_bytes()

    def test_as_the_program_and_node(self):
        for config, options in [
            ({}, ()),
            ({"effort": 0, "weights_n_bits": 4}, ("--set", "effort=0", "--set", "weights_n_bits=4")),
        ]:
            platform = "any" if config else None
            more = ("--platform", "any", *options) if config else options
            made = tersor.quantize(MODEL, self.samples, platform=platform, **config)
            self.assertEqual(made.bytes, self.made_by(PROGRAM, options=more))
            self.assertEqual(made.bytes, self.made_by("node", NODE_COMMAND, options=more))

    def test_however_model_and_samples_are_given(self):
        expected = tersor.quantize(MODEL, self.samples, compare=False).bytes
        name = tersor.inspect(MODEL)["inputs"][0]["name"]
        model = MODEL.read_bytes()
        for given in [
            {name: self.samples},
            self.file,
            numpy.load(self.file, mmap_mode="r"),
            numpy.asfortranarray(self.samples),
            iter(self.samples),
            ({name: one} for one in self.samples),
            (self.samples[k : k + 5] for k in range(0, len(self.samples), 5)),
        ]:
            self.assertEqual(tersor.quantize(model, given, compare=False, threads=1).bytes, expected)

    def test_recipe_gives_the_same_bytes_again(self):
        first = tersor.quantize(MODEL, self.samples, compare=False, prefer="ACCURACY", calibration_samples=20)
        again = tersor.quantize(MODEL, self.samples, compare=False, recipe=json.loads(json.dumps(first.recipe)))
        self.assertEqual(again.bytes, first.bytes)
        with self.assertRaises(tersor.Error) as caught:
            tersor.quantize(MODEL, self.samples + 1, compare=False, recipe=first.recipe)
        self.assertEqual(caught.exception.code, "mismatch")
        self.assertIn("allow_mismatch", caught.exception.hint)

    def test_shards_are_the_statistics_of_all(self):
        settings = {"holdout": False, "weights_bias_correction": False, "effort": 0}
        whole = tersor.calibrate(MODEL, self.samples, **settings)
        parts = [tersor.calibrate(MODEL, self.samples, shard=(k, 3), **settings) for k in (3, 1, 2)]
        self.assertEqual(tersor.merge(parts).bytes, whole.bytes)
        one = tersor.quantize(MODEL, self.samples, compare=False, **settings).bytes
        self.assertEqual(tersor.quantize(MODEL, statistics=parts, **settings).bytes, one)
        with self.assertRaises(tersor.Error) as caught:
            tersor.quantize(MODEL, statistics=parts[:2], **settings)
        self.assertIn("32 of the 48 samples", str(caught.exception))
        tersor.quantize(MODEL, statistics=parts[:2], allow_mismatch=True, **settings)

    def test_weights_alone_need_no_samples(self):
        made = tersor.quantize(MODEL, platform="weight-only-int8", allow_larger_file=True)
        self.assertEqual(made.report["samples"]["calibration"], 0)
        with self.assertRaises(tersor.Error) as caught:
            tersor.quantize(MODEL)
        self.assertEqual(caught.exception.code, "invalid_samples")


class Image:
    """What of Pillow's images is looked at; Pillow itself is not needed."""

    info = {}

    def __init__(self, pixels, mode):
        self.pixels, self.mode, self.size = pixels, mode, (pixels.shape[1], pixels.shape[0])

    def __array__(self, dtype=None, copy=None):
        return self.pixels

    def getbands(self):
        return tuple(self.mode)

    def convert(self, mode):
        raise AssertionError(mode)

    def tobytes(self):
        return self.pixels.tobytes()


class Pictures(unittest.TestCase):
    """Pictures in memory are those of a folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.pictures = numpy.random.default_rng(3).integers(0, 256, (6, 60, 52, 3)).astype(numpy.uint8)
        for k, one in enumerate(self.pictures):
            Path(self.folder, f"{k}.ppm").write_bytes(b"P6\n52 60\n255\n" + one.tobytes())
        self.output = tersor.inspect(MODEL)["outputs"][0]["name"]

    def outputs(self, samples, preprocessing="signed"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return tersor.run(MODEL, samples, preprocessing=preprocessing)[self.output]

    def test_however_they_are_given(self):
        expected = self.outputs(self.folder)
        opaque = numpy.full((*self.pictures.shape[:3], 1), 255, numpy.uint8)
        name = tersor.inspect(MODEL)["inputs"][0]["name"]
        for given in [
            self.pictures,
            {name: self.pictures},
            list(self.pictures),
            [Image(one, "RGB") for one in self.pictures],
            [(self.pictures[k : k + 4], [0] * len(self.pictures[k : k + 4])) for k in (0, 4)],
            ({name: one} for one in self.pictures),
            numpy.concatenate([self.pictures, opaque], axis=3),
            numpy.moveaxis(self.pictures, 3, 1),  # channels first, as the preprocessing says that they are pictures
            numpy.asfortranarray(self.pictures),
        ]:
            self.assertTrue(numpy.array_equal(self.outputs(given), expected))
        one = tersor.quantize(MODEL, self.folder, preprocessing="signed", compare=False).bytes
        self.assertEqual(tersor.quantize(MODEL, self.pictures, preprocessing="signed", compare=False).bytes, one)

    def test_grey_transparent_and_deep_ones(self):
        grey = self.pictures[..., 0]
        expected = self.outputs(numpy.repeat(grey[..., None], 3, axis=3))
        deep = [Image(one.astype(numpy.uint16) * 257, "I;16") for one in grey]
        for given in [grey, grey[..., None], [Image(one, "L") for one in grey], deep]:
            self.assertTrue(numpy.array_equal(self.outputs(given), expected))
        clear = numpy.concatenate([self.pictures, numpy.zeros_like(self.pictures[..., :1])], axis=3)
        white = numpy.full_like(self.pictures, 255)
        self.assertTrue(numpy.array_equal(self.outputs(clear), self.outputs(white)))

    def test_without_a_preprocessing_it_is_guessed_as_for_a_folder(self):
        found = []
        for samples in (self.folder, self.pictures):
            with self.assertWarnsRegex(UserWarning, 'guessed "\\w+"'):
                found.append(tersor.run(MODEL, samples)[self.output])
        self.assertTrue(numpy.array_equal(*found))

    def test_what_has_no_effect_is_said(self):
        samples, _ = demo_arrays()
        with self.assertWarnsRegex(UserWarning, "no effect"):
            preprocessed = tersor.run(MODEL, samples, preprocessing="signed")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plain = tersor.run(MODEL, samples)
        self.assertTrue(numpy.array_equal(preprocessed[self.output], plain[self.output]))

    def test_pictures_beside_arrays_and_images_without_pixels_are_errors(self):
        samples, _ = demo_arrays()
        for given, place in [([samples[0], self.pictures[0]], "samples[1]"), ([Image(samples[0, 0], "F")], "samples[0]")]:
            with self.assertRaises(tersor.Error) as caught:
                tersor.run(MODEL, given)
            self.assertEqual((caught.exception.code, caught.exception.place), ("invalid_samples", place))


class Answers(unittest.TestCase):
    def setUp(self):
        self.samples, self.labels = demo_arrays()

    def test_accuracy_of_both_models_on_samples_held_aside(self):
        made = tersor.quantize(MODEL, self.samples, self.labels)
        report = made.report
        self.assertEqual(report["samples"], {"calibration": 24, "evaluation": 24, "held_aside": True})
        held = numpy.setdiff1d(numpy.arange(48), 2 * numpy.arange(24))
        alone = tersor.evaluate(made.bytes, self.samples[held], self.labels[held], reference=MODEL)
        self.assertEqual(alone["correct"], report["evaluation"]["quantized"]["correct"])
        self.assertEqual(alone["agreement"], report["evaluation"]["quantized"]["agreement"])
        self.assertEqual(made.accuracy, alone["value"])
        self.assertIn("accuracy", made.summary)

    def test_labels_that_a_loader_gives(self):
        loader = [(self.samples[k : k + 8], self.labels[k : k + 8]) for k in range(0, 48, 8)]
        evaluated = tersor.evaluate(MODEL, loader)
        self.assertEqual(evaluated, tersor.evaluate(MODEL, self.samples, self.labels))
        self.assertEqual(evaluated["metric"], "top1")
        self.assertEqual(tersor.evaluate(MODEL, self.samples)["metric"], "answers")

    def test_outputs_are_arrays(self):
        made = tersor.quantize(MODEL, self.samples, compare=False)
        output = tersor.inspect(MODEL)["outputs"][0]["name"]
        in_float = tersor.run(MODEL, self.samples)[output]
        quantized = tersor.run(made.bytes, self.samples)[output]
        self.assertEqual(in_float.shape[0], 48)
        self.assertEqual(in_float.dtype, numpy.float32)
        noise = float(((in_float - quantized).astype(float) ** 2).sum())
        sqnr = 10 * numpy.log10(float((in_float.astype(float) ** 2).sum()) / noise)
        compared = tersor.compare(MODEL, made, self.samples)["outputs"][0]["sqnr_db"]
        self.assertAlmostEqual(sqnr, compared, places=3)

    def test_notebooks_show_the_layers(self):
        made = tersor.quantize(MODEL, self.samples)
        html = made._repr_html_()
        layers = made.report["comparison"]["layers"]
        self.assertEqual(html.count("<rect"), min(24, len(layers)))
        self.assertIn("kB, was", html)
        self.assertNotIn("<script", html)

    def test_saves(self):
        made = tersor.quantize(MODEL, self.samples, compare=False)
        with tempfile.TemporaryDirectory() as folder:
            made.save(Path(folder) / "a.onnx")
            made.save_recipe(Path(folder) / "r.json")
            made.statistics.save(Path(folder) / "s.tstats")
            self.assertEqual((Path(folder) / "a.onnx").read_bytes(), made.bytes)
            self.assertEqual(sorted(os.listdir(folder)), ["a.onnx", "r.json", "s.tstats"])
            again = tersor.Statistics.load(Path(folder) / "s.tstats")
            self.assertEqual(tersor.quantize(MODEL, statistics=again).bytes, made.bytes)
            recipe = Path(folder) / "r.json"
            self.assertEqual(tersor.quantize(MODEL, self.samples, recipe=recipe, compare=False).bytes, made.bytes)

    def test_variants_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            samples, output = Path(folder) / "samples.npy", Path(folder) / "onnx"
            numpy.save(samples, self.samples)
            subprocess.run([PROGRAM, "variants", MODEL, "--data", samples, "-o", output], check=True, capture_output=True)
            table = json.loads((output / "variants.json").read_text())["variants"]
            made = list(tersor.variants(MODEL, self.samples))
            self.assertEqual([one.dtype for one in made], ["fp32", "fp16", "q8", "int8", "uint8", "q4", "q4_int8", "q4f16"])
            for one, row in zip(made, table):
                one.save(Path(folder) / "own")
                self.assertEqual((Path(folder) / "own" / one.file).read_bytes(), (output / row["file"]).read_bytes())
                self.assertEqual({name: getattr(one, name) for name in row}, row)
            self.assertRegex(str(made[1]), r"^fp16: \d+\.\d kB, \d+\.\d dB, cosine [01]\.\d{4}: usable$")
        self.assertEqual([one.dtype for one in tersor.variants(MODEL, only=["q4"])], ["q4"])
        with self.assertRaises(tersor.Error) as caught:
            tersor.variants(MODEL, only=["q9"])
        self.assertEqual(caught.exception.code, "invalid_argument")

    def test_platforms(self):
        names = [one["name"] for one in tersor.platforms()]
        self.assertIn("ort-cpu", names)
        self.assertIn("operator_set", json.dumps(tersor.platforms("ort-cpu")))


class Mistakes(unittest.TestCase):
    def test_errors_have_code_place_and_hint(self):
        samples, labels = demo_arrays()
        wide = samples[:, :, :5]
        for call, code, place in [
            (lambda: tersor.quantize("/nowhere/model.onnx", samples), "io", "/nowhere/model.onnx"),
            (lambda: tersor.quantize(b"no model", samples), "invalid_model", ""),
            (lambda: tersor.quantize(MODEL, wide), "invalid_samples", "samples.npy"),
            (lambda: tersor.quantize(MODEL, samples * numpy.nan), "invalid_samples", "samples"),
            (lambda: tersor.quantize(MODEL, {"nothing": samples}), "invalid_samples", "samples"),
            (lambda: tersor.quantize(MODEL, 7), "invalid_samples", "samples"),
            (lambda: tersor.quantize(MODEL, []), "invalid_samples", ""),
            (lambda: tersor.quantize(MODEL, [object()]), "invalid_samples", "samples[0]"),
            (lambda: tersor.quantize(MODEL), "invalid_samples", "samples"),
            (lambda: tersor.quantize(MODEL, samples, labels[:7]), "invalid_labels", ""),
            (lambda: tersor.quantize(MODEL, samples, weights_bits=8), "invalid_config", "config"),
            (lambda: tersor.quantize(MODEL, samples, plattform="qnn"), "invalid_argument", "arguments"),
            (lambda: tersor.quantize(MODEL, samples, platform="ort-gpu"), "invalid_platform", ""),
            (lambda: tersor.quantize(MODEL, samples, effort=object()), "invalid_argument", "config"),
            (lambda: tersor.evaluate(MODEL, samples, metric="top1"), "invalid_labels", "labels"),
            (lambda: tersor.evaluate(MODEL, samples, labels, metric="top3"), "invalid_config", "metric"),
            (lambda: tersor.calibrate(MODEL, samples, shard=(4, 3)), "invalid_argument", "shard"),
            (lambda: tersor.compare(MODEL, MODEL, samples, runtime="x86"), "invalid_config", "runtime"),
        ]:
            with self.assertRaises(tersor.Error) as caught:
                call()
            self.assertEqual(caught.exception.code, code, str(caught.exception))
            self.assertIn(place, caught.exception.place, str(caught.exception))
            self.assertGreater(len(caught.exception.message), 10)

    def test_what_a_listener_raises_ends_the_call(self):
        samples, _ = demo_arrays()
        heard = []

        def listen(stage, done, total):
            heard.append((stage, done, total))
            if stage == "calibrate":
                raise KeyError("enough")

        with self.assertRaises(KeyError):
            tersor.quantize(MODEL, samples, progress=listen)
        self.assertEqual(heard[-1][0], "calibrate")

    def test_control_c_ends_a_call_and_other_threads_run_beside_it(self):
        # Where the tests run in the background of a shell, Python finds the signal ignored and leaves it so.
        former = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, former)
        samples, _ = demo_arrays()
        many = numpy.tile(samples, (400, 1, 1, 1))
        beside = []
        over = threading.Event()

        def count():
            while not over.is_set():
                beside.append(time.monotonic())
                time.sleep(0.005)

        counter = threading.Thread(target=count)
        counter.start()
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                tersor.run(MODEL, many)
        finally:
            over.set()
            counter.join()
        self.assertGreater(len(beside), 3)
        tersor.run(MODEL, samples)


class Wheel(unittest.TestCase):
    @unittest.skipIf(shutil.which("ldd") is None, "ldd is not here")
    def test_it_needs_libc_alone(self):
        said = subprocess.run(["ldd", tersor._core.__file__], check=True, capture_output=True, text=True).stdout
        needed = {line.split()[0] for line in said.splitlines() if " => " in line}
        self.assertLessEqual(needed, {f"lib{name}.so.{n}" for name, n in [("c", 6), ("m", 6), ("pthread", 0), ("dl", 2)]})

    def test_it_says_what_others_wrote(self):
        beside = Path(tersor.__file__).parent
        for holder in ("Wenzel Jakob", "Niels Lohmann", "Google LLC", "protozero"):
            self.assertIn(holder, (beside / "THIRD_PARTY_NOTICES.txt").read_text(encoding="utf-8"))
        self.assertIn("nanobind", (beside / "sbom.cdx.json").read_text(encoding="utf-8"))


class Folders(unittest.TestCase):
    def test_a_folder_of_classes_is_the_data_set_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(ROOT / "web/public/demo/samples.zip") as archive:
                archive.extractall(folder)
            arguments = ["evaluate", MODEL, "--data", folder, "--json"]
            said = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout
            self.assertEqual(tersor.evaluate(MODEL, folder), json.loads(said))
            out = Path(folder).parent / f"{Path(folder).name}.onnx"
            command = [PROGRAM, "quantize", MODEL, "--data", folder, "-o", out]
            subprocess.run(command, check=True, capture_output=True)
            self.addCleanup(out.unlink)
            self.assertEqual(tersor.quantize(MODEL, folder, calibration_samples=10**9).bytes, out.read_bytes())


if __name__ == "__main__":
    unittest.main()
