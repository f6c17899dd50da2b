# SPDX-License-Identifier: Apache-2.0
"""Samples and models as users hold them, arguments with other tools' names, metrics of one's own, and the functions that stand for
the program's commands."""

import contextlib
import dataclasses
import io
import json
import sys
import tempfile
import types
import unittest.mock
import warnings
from pathlib import Path

import numpy
import tersor

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "web/public/demo/model.onnx"


def pictures(count=12):
    return numpy.random.default_rng(8).normal(size=(count, 3, 48, 48)).astype(numpy.float32)


class Samples(unittest.TestCase):
    def setUp(self):
        self.samples = pictures()
        self.labels = numpy.arange(12) % 16
        self.expected = tersor.run(MODEL, self.samples)["scores"]

    def same(self, given):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertTrue(numpy.array_equal(tersor.run(MODEL, given)["scores"], self.expected))

    def test_batches_in_lists_as_loaders_and_converters_give_them(self):
        self.same([[self.samples[k : k + 5]] for k in range(0, 12, 5)])
        self.same([[one] for one in self.samples])
        file = io.BytesIO()
        numpy.save(file, self.samples)
        self.same(io.BytesIO(file.getvalue()))

        def representative_dataset():
            for one in self.samples:
                yield [one[None]]

        self.same(representative_dataset)
        self.same(representative_dataset())
        loader = [[self.samples[k : k + 4], self.labels[k : k + 4]] for k in range(0, 12, 4)]
        self.assertEqual(tersor.evaluate(MODEL, loader), tersor.evaluate(MODEL, self.samples, self.labels))

    def test_data_sets_that_are_asked_by_number(self):
        samples, labels = self.samples, self.labels

        class Dataset:
            def __len__(self):
                return len(samples)

            def __getitem__(self, k):
                return samples[k % 12], labels[k % 12]  # which never ends by itself

        self.same(Dataset())
        self.assertEqual(tersor.evaluate(MODEL, Dataset()), tersor.evaluate(MODEL, samples, labels))

    def test_one_array_that_is_filled_again_and_again(self):
        def filled():
            array = numpy.empty_like(self.samples[:1])
            for one in self.samples:
                array[0] = one
                yield array

        self.same(filled())

    def test_more_than_memory_is_to_hold(self):
        with unittest.mock.patch("tersor._given.IN_MEMORY", 3 * self.samples[0].nbytes):
            self.same(iter(self.samples))
            self.same(self.samples[k : k + 5] for k in range(0, 12, 5))

    def test_readers_with_get_next_alone(self):
        given = iter([{"image": one[None]} for one in self.samples])
        self.same(types.SimpleNamespace(get_next=lambda: next(given, None)))

    def test_what_is_for_no_input_is_said_and_dropped(self):
        extra = {"image": self.samples, "token_type_ids": numpy.zeros(12)}
        for given in (extra, [{name: one[k] for name, one in extra.items()} for k in range(12)]):
            with self.assertWarnsRegex(UserWarning, '"token_type_ids".*dropped') as said:
                self.assertTrue(numpy.array_equal(tersor.run(MODEL, given)["scores"], self.expected))
            self.assertEqual(said.filename, __file__)
        with self.assertRaises(tersor.Error) as caught:
            tersor.run(MODEL, {"imagee": self.samples})
        self.assertIn('Did you mean "image"?', caught.exception.hint)

    def test_tensors_of_kinds_that_numpy_has_not(self):
        halves = self.samples.view(numpy.uint32) & 0xFFFF0000  # bfloat16 as float32
        exact = halves.view(numpy.float32)
        expected = tersor.run(MODEL, exact)["scores"]

        class Tensor:
            dtype = "torch.bfloat16"
            device = "cuda"

            def detach(self):
                return self

            def cpu(self):
                self.device = "cpu"
                return self

            def float(self):
                self.dtype = "torch.float32"
                return self

            def __array__(self, dtype=None, copy=None):
                if (self.device, self.dtype) != ("cpu", "torch.float32"):
                    raise TypeError("Got unsupported ScalarType BFloat16")
                return exact

        self.assertTrue(numpy.array_equal(tersor.run(MODEL, Tensor())["scores"], expected))
        try:
            import ml_dtypes
        except ImportError:
            return
        given = exact.astype(ml_dtypes.bfloat16)
        self.assertTrue(numpy.array_equal(tersor.run(MODEL, given)["scores"], expected))


class Models(unittest.TestCase):
    def test_however_they_are_held(self):
        data = MODEL.read_bytes()
        expected = tersor.inspect(MODEL)["sha256"]
        proto = types.SimpleNamespace(SerializeToString=lambda: data)
        program = types.SimpleNamespace(model_proto=proto)
        ir = types.ModuleType("onnx_ir")
        ir.Model = type("Model", (), {"__module__": "onnx_ir._core"})
        ir.to_proto = lambda model: proto
        with unittest.mock.patch.dict(sys.modules, onnx_ir=ir), MODEL.open("rb") as file:
            for model in (data, bytearray(data), memoryview(data), file, io.BytesIO(data), proto, program, ir.Model()):
                self.assertEqual(tersor.inspect(model)["sha256"], expected)
        with self.assertRaisesRegex(tersor.Error, "no model"):
            tersor.inspect(object())
        with self.assertRaisesRegex(tersor.Error, "open for text"):
            tersor.inspect(io.StringIO("text"))


class Arguments(unittest.TestCase):
    def test_those_of_other_tools_are_named_as_here(self):
        samples = pictures(2)
        for given, hint in [
            ({"nodes_to_exclude": ["classifier"]}, '"keep_float"'),
            ({"calibration_dataset": samples}, '"samples"'),
            ({"per_channel": True}, '"weights_per_channel_threshold"'),
            ({"calibrate_method": "MinMax"}, '"activation_threshold_method"'),
            ({"fast_bias_correction": False}, '"weights_bias_correction_method"'),
            ({"subset_size": 300}, '"calibration_samples"'),
            ({"model_output": "x.onnx"}, "save"),
            ({"quant_format": "QOperator"}, '"format"'),
            ({"weigths_n_bits": 4}, '"weights_n_bits"'),
        ]:
            with self.assertRaises(tersor.Error) as caught:
                tersor.quantize(MODEL, samples, **given)
            self.assertIn(hint, caught.exception.hint)
            self.assertLess(len(caught.exception.hint), 120)
        for call, hint in [
            (lambda: tersor.run(MODEL, samples, thread=1), '"threads"'),
            (lambda: tersor.variants(MODEL, modes=["q8"]), "only"),
        ]:
            with self.assertRaises(tersor.Error) as caught:
                call()
            self.assertIn(hint, caught.exception.hint)

    def test_keep_float_and_ignored_scope(self):
        samples = pictures()

        @dataclasses.dataclass
        class Subgraph:
            inputs: list
            outputs: list

        @dataclasses.dataclass
        class IgnoredScope:  # as NNCF has it
            names: list = dataclasses.field(default_factory=list)
            patterns: list = dataclasses.field(default_factory=list)
            types: list = dataclasses.field(default_factory=list)
            subgraphs: list = dataclasses.field(default_factory=list)
            validate: bool = True

        def in_float(**given):
            made = tersor.quantize(MODEL, samples, compare=False, effort=0, **given)
            return {one["name"] for one in made.report["coverage"]["stays_float"]} & {"classifier", "stem.conv"}

        self.assertEqual(in_float(), set())
        self.assertEqual(in_float(keep_float="classifier"), {"classifier"})
        self.assertEqual(in_float(keep_float=["classifier", "stem.conv"]), {"classifier", "stem.conv"})
        self.assertIn("classifier", in_float(keep_float=["Gemm"]))
        self.assertEqual(in_float(ignored_scope={"names": ["classifier"]}), {"classifier"})
        scope = IgnoredScope(patterns=["stem\\.conv$"], subgraphs=[Subgraph(["classifier"], ["classifier"])])
        self.assertEqual(in_float(ignored_scope=scope), {"classifier", "stem.conv"})
        with self.assertRaisesRegex(tersor.Error, "No node of the model"):
            in_float(ignored_scope=IgnoredScope(names=["nowhere"]))
        in_float(ignored_scope=IgnoredScope(names=["nowhere"], validate=False))
        with self.assertRaisesRegex(tersor.Error, "auto and none"):
            in_float(keep_float=["auto", "none"])

    def test_the_percentile(self):
        def threshold(**given):
            made = tersor.quantize(MODEL, pictures(), compare=False, activation_threshold_method="Percentile", effort=0, **given)
            return made.report["ranges"][0]["range"][1]

        self.assertLess(threshold(percentile=99), threshold())
        self.assertEqual(threshold(percentile=99.999), threshold())
        with self.assertRaisesRegex(tersor.Error, "from 50.0 to 100.0"):
            threshold(percentile=0.999)


class Metrics(unittest.TestCase):
    def test_a_function_of_ones_own(self):
        samples, labels = pictures(), numpy.arange(12) % 16

        def right(outputs, given):
            self.assertIs(given, labels)
            return float((outputs["scores"].argmax(axis=1) == given).mean())

        usual = tersor.evaluate(MODEL, samples, labels)
        made = tersor.quantize(MODEL, samples, compare=False)
        found = tersor.evaluate(made.bytes, samples, labels, metric=right, reference=MODEL)
        self.assertEqual(found["metric"], "right")
        self.assertEqual(found["count"], 12)
        self.assertEqual(found["reference_value"], usual["value"])
        self.assertEqual(found["value"], tersor.evaluate(made.bytes, samples, labels)["value"])
        compared = tersor.compare(MODEL, made, samples, labels=labels, metric=right)
        self.assertEqual(compared["metric"], {"float": found["reference_value"], "quantized": found["value"]})
        self.assertIn("layers", compared)
        mean = tersor.evaluate(MODEL, samples, metric=lambda outputs, labels: len(labels))
        self.assertEqual(mean["value"], 0)
        seen = tersor.compare(MODEL, made, samples, metric=lambda outputs, labels: labels.dtype.num)
        self.assertEqual(seen["metric"], dict.fromkeys(("float", "quantized"), numpy.dtype("int64").num))

    def test_it_decides_what_is_tried_and_the_verdict(self):
        samples = pictures(48)
        wanted = tersor.run(MODEL, samples)["scores"]  # labels of any kind
        sizes = set()

        def error(outputs, labels):
            sizes.add(len(labels))
            return float(((outputs["scores"] - labels) ** 2).mean())

        made = tersor.quantize(MODEL, samples, wanted, metric=error, effort=0)
        taken = [one for one in made.report["trial"]["tried"] if one["taken"]]
        self.assertTrue(taken)
        self.assertTrue(any(one["after_db"] < one["before_db"] for one in taken))  # more of the error was asked for
        self.assertEqual({7, 8, 24} & sizes, {7, 8, 24})
        own = made.report["metric"]
        self.assertEqual((own["metric"], own["count"], own["float"]), ("error", 24, 0))
        self.assertAlmostEqual(own["quantized"], error({"scores": tersor.run(made.bytes, samples[1::2])["scores"]}, wanted[1::2]))
        self.assertIn('Your metric "error" is', made.report["verdict"]["reason"])
        self.assertEqual(made.report["verdict"]["usability"], "usable")
        again = tersor.quantize(MODEL, samples, recipe=made.recipe, calibration_samples=24, compare=False)
        self.assertEqual(again.bytes, made.bytes)
        plain = tersor.quantize(MODEL, samples, calibration_samples=24, effort=0, compare=False)
        self.assertNotEqual(plain.bytes, made.bytes)
        self.assertIsNone(plain.report["metric"])
        said = tersor.check(MODEL, samples, made.recipe, wanted, metric=lambda outputs, labels: -error(outputs, labels), max_loss=1)
        self.assertEqual(said["rows"][0]["what"], "<lambda>")

    def test_it_is_aimed_at(self):
        samples, labels = pictures(48), list(numpy.arange(48) % 16)

        def agrees(outputs, labels):
            return float((outputs["scores"].argmax(axis=1) == numpy.array(labels)).mean())

        labels = list(tersor.run(MODEL, samples)["scores"].argmax(axis=1))
        made = tersor.quantize(MODEL, samples, labels, "any", metric=agrees, accuracy=100 / 12, compare=False, effort=0, holdout=False)
        (aim,) = [one["message"] for one in made.report["diagnostics"] if one["code"] == "aim"]
        self.assertRegex(aim, r"^The aim of at most 8.33333 points less is met: .* by your metric \(1 in float\)")
        self.assertGreaterEqual(made.report["metric"]["quantized"], 1 - 1 / 12)
        self.assertIn(aim, made.summary)
        best = tersor.quantize(MODEL, samples, platform="any", compare=False, effort=0, holdout=False)
        self.assertLess(len(made.bytes), len(best.bytes))
        with self.assertRaisesRegex(tersor.Error, "no labels"):
            tersor.quantize(MODEL, samples, platform="any", accuracy=1)
        with self.assertRaisesRegex(tersor.Error, "No choice is as good"):
            tersor.quantize(MODEL, samples, platform="any", sqnr=150, effort=0)
        with self.assertRaisesRegex(tersor.Error, "need samples"):
            tersor.quantize(MODEL, statistics=best.statistics, accuracy=1)

    def test_what_it_does_wrong_is_said_with_its_name(self):
        samples = pictures(32)

        def broken(outputs, labels):
            return outputs["nowhere"]

        with self.assertRaisesRegex(tersor.Error, '"broken" raised KeyError on outputs and labels of 8 samples') as caught:
            tersor.quantize(MODEL, samples, metric=broken)
        self.assertIsInstance(caught.exception.__cause__, KeyError)
        for value, said in ((numpy.nan, "nan"), ("0.5", "'0.5'"), (None, "None"), (numpy.zeros(3), "array")):
            for call in (tersor.quantize, tersor.evaluate):
                with self.assertRaisesRegex(tersor.Error, f'"<lambda>" returned {said}'):
                    call(MODEL, samples, metric=lambda outputs, labels: value)
        with self.assertRaisesRegex(tersor.Error, "is none"):
            tersor.quantize(MODEL, samples, metric="auc")
        with self.assertRaisesRegex(tersor.Error, "31 labels for 32 samples"):
            tersor.quantize(MODEL, samples, [None] * 31, metric=broken)
        with self.assertRaises(KeyboardInterrupt):
            tersor.quantize(MODEL, samples, metric=unittest.mock.Mock(side_effect=KeyboardInterrupt, __name__="stopped"))


class Commands(unittest.TestCase):
    def test_check(self):
        samples, labels = pictures(48), numpy.arange(48) % 16
        recipe = tersor.quantize(MODEL, samples, compare=False, calibration_samples=20).recipe
        said = tersor.check(MODEL, samples, recipe, labels, max_loss=100, min_sqnr=1)
        self.assertEqual((said["passed"], said["samples"], said["held_aside"]), (True, 28, True))
        self.assertEqual(said["rows"][0]["what"], "right answers")
        self.assertFalse(tersor.check(MODEL, samples[:30] + 1, recipe, min_sqnr=200)["passed"])
        with self.assertRaisesRegex(tersor.Error, "no limit"):
            tersor.check(MODEL, samples, recipe)

    def test_convert(self):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "newer.onnx")
            made = tersor.convert(MODEL, out, opset=17)
            self.assertEqual(out.read_bytes(), made)
            self.assertEqual(tersor.inspect(out)["opset"], 17)
            tersor.convert(MODEL, out, external=True)
            self.assertGreater(Path(folder, "newer.onnx.data").stat().st_size, 50000)
            samples = pictures(2)
            self.assertTrue(numpy.array_equal(tersor.run(out, samples)["scores"], tersor.run(MODEL, samples)["scores"]))
            location, whole = f"{out.name}.data", tersor.run(out, pictures(2))["scores"]
            for beside in ({location: Path(f"{out}.data").read_bytes()}, out.parent):
                self.assertTrue(numpy.array_equal(tersor.run((out.read_bytes(), beside), pictures(2))["scores"], whole))
            with self.assertRaisesRegex(tersor.Error, "its bytes"):
                tersor.inspect((out.read_bytes(), {}))
        with self.assertRaisesRegex(tersor.Error, "external"):
            tersor.convert(MODEL, external=True)

    def test_tune(self):
        samples, labels = pictures(40), numpy.arange(40) % 16
        made = tersor.tune(MODEL, samples, labels, platform="any", epochs=1, compare=False, weights_n_bits=4, effort=0)
        training = made.recipe["quantization_config"]["gradient_ptq_config"]
        self.assertEqual((training["n_epochs"], training["label_weight"]), (1, 0.5))
        self.assertIsNotNone(made.report["training"])

    def test_tune_is_watched_stopped_kept_and_resumed(self):
        given = {"platform": "any", "compare": False, "weights_n_bits": 4, "effort": 0}
        samples, labels = pictures(40), numpy.arange(40) % 16
        seen = []
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder, "state.bin")
            whole = tersor.tune(MODEL, samples, labels, epochs=12, callback=seen.append, **given)
            self.assertGreater(len(seen), 3)
            self.assertEqual([one["step"] for one in seen], sorted(one["step"] for one in seen))
            self.assertEqual((seen[-1]["step"], seen[-1]["held"] > 0), (seen[-1]["steps"], True))
            self.assertIsNotNone(seen[-1]["best_right"])
            part = tersor.tune(MODEL, samples, labels, epochs=12, checkpoint=state, callback=lambda now: now["step"] >= 2, **given)
            steps = part.recipe["quantization_config"]["gradient_ptq_config"]["most_steps"]
            self.assertLess(steps, seen[-1]["steps"])
            self.assertTrue(state.stat().st_size > 0)
            again = tersor.tune(MODEL, samples, labels, epochs=12, resume=state.read_bytes(), **given)
            self.assertEqual(again.report["training"]["steps_planned"], whole.report["training"]["steps_planned"])
            with self.assertRaisesRegex(tersor.Error, "state2.bin"):
                tersor.tune(MODEL, samples, labels, resume=Path(folder, "state2.bin"), **given)
        with self.assertRaises(tersor.Error):
            tersor.tune(MODEL, samples, labels, resume=b"no checkpoint", **given)
        with self.assertRaisesRegex(tersor.Error, "epochs or by minutes"):
            tersor.tune(MODEL, samples, labels, epochs=3, minutes=1, **given)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            tersor.tune(MODEL, samples, labels, epochs=3, callback=lambda now: (_ for _ in ()).throw(ZeroDivisionError("mine")), **given)
        short = tersor.tune(MODEL, samples, minutes=0.01, **given)
        self.assertGreaterEqual(short.recipe["quantization_config"]["gradient_ptq_config"]["n_epochs"], 1)

    def test_tune_shows_bars_and_makes_the_same_file(self):
        given = {"platform": "any", "compare": False, "weights_n_bits": 4, "effort": 0, "epochs": 2}
        samples, labels, seen = pictures(40), numpy.arange(40) % 16, []
        plain = tersor.tune(MODEL, samples, labels, **given)
        with contextlib.redirect_stderr(io.StringIO()) as log:
            shown = tersor.tune(MODEL, samples, labels, progress=True, callback=seen.append, **given)
        self.assertEqual(shown.bytes, plain.bytes)
        lines = [line for line in log.getvalue().splitlines() if line.startswith("train ")]
        self.assertEqual(len(lines), 1)
        steps, held = seen[-1]["steps"], seen[-1]["held"]
        self.assertRegex(lines[0], rf"\[#+\] {steps}/{steps} loss .* best .* dB .* right \d+ of {held} ")

    def test_tradeoff(self):
        curve = tersor.tradeoff(MODEL, pictures(24), platform="any", points=2, effort=0)
        self.assertEqual(curve["resource"], "weights_memory")
        least, most = curve["points"]
        self.assertLess(least["size_bytes"], most["size_bytes"])
        self.assertLessEqual(least["output_sqnr_db"], most["output_sqnr_db"])
        self.assertEqual(most["samples"], 12)
        json.dumps(most["recipe"])


if __name__ == "__main__":
    unittest.main()
