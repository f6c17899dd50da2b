# SPDX-License-Identifier: Apache-2.0
"""Scripts for onnxruntime.quantization after one changed import: they run, their files open in the runtime, and are as exact
as its own. Where onnxruntime and onnx are not installed, the first class alone runs."""

import importlib.util
import inspect
import logging
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy
import tersor
from tersor.compat import onnxruntime as compat
from tersor.compat.onnxruntime import (
    CalibrationDataReader,
    CalibrationMethod,
    DynamicQuantConfig,
    QuantFormat,
    QuantType,
    StaticQuantConfig,
    get_qdq_config,
    quant_pre_process,
    quantize,
    quantize_dynamic,
    quantize_static,
)

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "web/public/demo/model.onnx"
HAS_RUNTIME = all(importlib.util.find_spec(name) for name in ("onnxruntime", "onnx"))


def pictures(count):
    return numpy.random.default_rng(11).normal(size=(count, 3, 48, 48)).astype(numpy.float32)


class Reader(CalibrationDataReader):
    """As in the runtime's examples: read once, and rewound."""

    def __init__(self, samples, name="image", batch=1):
        self.samples, self.name, self.batch = samples, name, batch
        self.enum_data = None

    def get_next(self):
        if self.enum_data is None:
            self.enum_data = iter(
                [{self.name: self.samples[k : k + self.batch]} for k in range(0, len(self.samples), self.batch)]
            )
        return next(self.enum_data, None)

    def rewind(self):
        self.enum_data = None


def quietly(call, *arguments, **named):
    """What a call gives, and what it warns of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        made = call(*arguments, **named)
    return made, " ".join(str(one.message) for one in said)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "made.onnx"


class Arguments(Folder):
    """What they come to, by the settings of tersor.quantize()."""

    def same(self, expected, **asked):
        """The file is that of these settings; what was warned of."""
        samples = pictures(6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            settings = {"weights_per_channel_threshold": False, "activation_threshold_method": "NOCLIPPING", **expected}
            made = tersor.quantize(MODEL, samples, compare=False, allow_larger_file=True, **settings)
        _, said = quietly(quantize_static, MODEL, self.out, Reader(samples), **asked)
        self.assertEqual(self.out.read_bytes(), made.bytes)
        return said

    def test_each_is_a_setting(self):
        in_float = {"enable_activation_quantization": False, "enable_weights_quantization": False}
        names = ["stem.conv", "classifier"]
        for expected, asked in [
            ({"platform": "ort-cpu-s8s8"}, {}),
            ({"platform": "ort-cpu"}, {"activation_type": QuantType.QUInt8}),
            ({"platform": "ort-cpu-s8s8", "weights_per_channel_threshold": True}, {"per_channel": True}),
            ({"platform": "ort-cpu-avx2"}, {"activation_type": QuantType.QUInt8, "reduce_range": True}),
            (
                {"platform": "ort-cpu-s8s8", "activation_threshold_method": "Entropy"},
                {"calibrate_method": CalibrationMethod.Entropy},
            ),
            (
                {"platform": "ort-cpu-s8s8", "activation_threshold_method": "Percentile", "percentile": 99},
                {"calibrate_method": CalibrationMethod.Percentile, "extra_options": {"CalibPercentile": 99}},
            ),
            (
                {"platform": "ort-cpu-s8s8", "activation_threshold_method": "MovingAverage"},
                {"extra_options": {"CalibMovingAverage": True}},
            ),
            (
                {"platform": "ort-cpu-s8s8", "activation_quantization_method": "SYMMETRIC"},
                {"extra_options": {"ActivationSymmetric": True, "WeightSymmetric": True, "CalibMaxIntermediateOutputs": 4}},
            ),
            (
                {"platform": "ort-cpu-s8s8", "weights_quantization_method": "UNIFORM"},
                {"extra_options": {"WeightSymmetric": False}},
            ),
            (
                {"platform": "ort-cpu-s8s8", "overrides": [{"name": one, "config": in_float} for one in names]},
                {"nodes_to_exclude": names},
            ),
            (
                {"platform": "ort-cpu-s8s8", "overrides": [{"type": "Conv", "annotate": True}]},
                {"op_types_to_quantize": ["Conv"]},
            ),
            (
                {"platform": "ort-cpu-s8s8", "overrides": [{"name": one, "annotate": True} for one in names]},
                {"nodes_to_quantize": [*names, "stem.conv.relu"], "op_types_to_quantize": ["Conv", "Gemm"]},
            ),
        ]:
            self.assertEqual(self.same(expected, **asked), "", asked)

    def test_what_has_no_counterpart_is_named_in_one_warning(self):
        reader, options = Reader(pictures(6)), {"DedicatedQDQPair": True, "SmoothQuant": True, "AddQDQPairToWeight": False}
        _, said = quietly(
            quantize_static,
            MODEL,
            self.out,
            reader,
            QuantFormat.QOperator,
            nodes_to_exclude=["nowhere"],
            calibration_providers=["CUDAExecutionProvider"],
            extra_options=options,
        )
        for name in ("nowhere", "CUDAExecutionProvider", "DedicatedQDQPair", "activation_channel_equalization"):
            self.assertIn(name, said)
        self.assertNotIn("AddQDQPairToWeight", said)
        self.assertEqual(said.count("no counterpart"), 1)
        self.assertEqual(len(options), 3)  # the caller's own

    def test_types_that_cannot_be(self):
        reader = Reader(pictures(6))
        for asked in ({"weight_type": QuantType.QUInt8}, {"weight_type": QuantType.QFLOAT8E4M3FN}):
            with self.assertRaises(tersor.Error) as caught:
                quantize_static(MODEL, self.out, reader, **asked)
            self.assertEqual(caught.exception.code, "invalid_argument")
        with self.assertRaisesRegex(tersor.Error, "It has .*Conv"):
            quantize_static(MODEL, self.out, reader, op_types_to_quantize=["MatMul"])

    def test_readers(self):
        samples = pictures(8)
        quietly(quantize_static, MODEL, self.out, Reader(samples))
        expected = self.out.read_bytes()

        class NextAlone:
            given = iter({"image": one[None]} for one in samples)

            def get_next(self):
                return next(self.given, None)

        class ByRange(Reader):
            """Reads what it is told to, as in the runtime's example for large data sets."""

            def __init__(self, samples):
                super().__init__(samples[:0])
                self.all = samples

            def __len__(self):
                return len(self.all)

            def set_range(self, start_index, end_index):
                self.samples, self.enum_data = self.all[start_index:end_index], None

        read_before = Reader(samples)
        while read_before.get_next() is not None:
            pass
        for reader, options in [
            (NextAlone(), None),
            (Reader(samples, batch=3), None),
            (read_before, None),
            (ByRange(samples), {"CalibStridedMinMax": 4}),
        ]:
            quietly(quantize_static, MODEL, self.out, reader, extra_options=options)
            self.assertEqual(self.out.read_bytes(), expected)
        with self.assertRaises(tersor.Error) as caught:
            quantize_static(MODEL, self.out, NextAlone())  # whose samples are used up
        self.assertEqual(caught.exception.place, "calibration_data_reader")

    def test_a_cache_takes_the_place_of_the_reader(self):
        cache = self.folder / "samples.cache"
        first, _ = quietly(quantize_static, MODEL, self.out, Reader(pictures(8)), calibration_cache_path=cache)
        again, _ = quietly(quantize_static, MODEL, self.out, calibration_cache_path=cache)
        self.assertEqual(again.statistics.bytes, first.statistics.bytes)
        cache.write_text('{"CLS": "TensorsData"}')
        with self.assertRaisesRegex(tersor.Error, "cache of onnxruntime"):
            quantize_static(MODEL, self.out, calibration_cache_path=cache)
        with self.assertRaisesRegex(tersor.Error, "no calibration_data_reader"):
            quantize_static(MODEL, self.out)

    def test_weights_alone(self):
        _, said = quietly(quantize_dynamic, MODEL, self.out, per_channel=True)
        self.assertIn("activations", said)
        made = tersor.quantize(MODEL, platform="weight-only-int8", weights_per_channel_threshold=True, allow_larger_file=True)
        self.assertEqual(self.out.read_bytes(), made.bytes)

    def test_configurations(self):
        samples = pictures(6)
        settings = {"per_channel": True, "nodes_to_exclude": ["classifier"]}
        for config, direct in [
            (StaticQuantConfig(Reader(samples), **settings), lambda: quantize_static(MODEL, self.out, Reader(samples), **settings)),
            (
                get_qdq_config(MODEL, Reader(samples), activation_type=QuantType.QInt8, **settings),
                lambda: quantize_static(MODEL, self.out, Reader(samples), **settings),
            ),
            (DynamicQuantConfig(**settings), lambda: quantize_dynamic(MODEL, self.out, **settings)),
        ]:
            quietly(direct)
            expected = self.out.read_bytes()
            quietly(quantize, MODEL, self.out, config)
            self.assertEqual(self.out.read_bytes(), expected)
        with self.assertRaises(tersor.Error):
            quantize(MODEL, self.out, 7)

    def test_nothing_is_prepared_beforehand(self):
        self.assertIsNone(quant_pre_process(str(MODEL), self.out, skip_symbolic_shape=True))
        quietly(quantize_dynamic, self.out, self.folder / "after.onnx")
        quietly(quantize_dynamic, MODEL, self.folder / "before.onnx")
        self.assertEqual((self.folder / "after.onnx").read_bytes(), (self.folder / "before.onnx").read_bytes())

    def test_other_modules_of_theirs(self):
        from tersor.compat.onnxruntime import calibrate, quant_utils, shape_inference
        from tersor.compat.onnxruntime import quantize as function
        from tersor.compat.onnxruntime.execution_providers import qnn

        self.assertIs(calibrate.CalibrationDataReader, CalibrationDataReader)
        self.assertIs(quant_utils.QuantType, QuantType)
        self.assertIs(shape_inference.quant_pre_process, quant_pre_process)
        self.assertIs(function, quantize)
        self.assertFalse(qnn.qnn_preprocess_model(MODEL, self.out))
        samples, words = pictures(6), QuantType.QUInt16
        quietly(quantize, MODEL, self.out, qnn.get_qnn_qdq_config(MODEL, Reader(samples), activation_type=words))
        settings = {"weights_per_channel_threshold": False, "activation_threshold_method": "NOCLIPPING", "activation_n_bits": 16}
        made = tersor.quantize(MODEL, samples, platform="qnn", compare=False, allow_larger_file=True, **settings)
        self.assertEqual(self.out.read_bytes(), made.bytes)
        with self.assertRaisesRegex(ImportError, "tersor.calibrate"):
            from tersor.compat.onnxruntime import create_calibrator  # noqa: F401

    def test_words(self):
        self.assertIs(QuantType.from_string("QUInt8"), QuantType.QUInt8)
        self.assertEqual(str(QuantFormat.QDQ), "QDQ")
        with self.assertRaises(ValueError):
            QuantType.from_string("QInt7")


@unittest.skipUnless(HAS_RUNTIME, "onnxruntime and onnx are not installed")
class BesideTheRuntime(Folder):
    def setUp(self):
        super().setUp()
        logging.disable(logging.WARNING)  # it asks for its preprocessing in each call
        self.addCleanup(logging.disable, logging.NOTSET)

    def test_signatures_and_words(self):
        import onnxruntime.quantization as theirs

        for name in compat.__all__:
            mine, other = getattr(compat, name), getattr(theirs, name)
            if hasattr(mine, "__members__"):
                self.assertEqual({one.name: one.value for one in mine}, {one.name: one.value for one in other})
                continue
            described = [
                [(one.name, one.kind, getattr(one.default, "name", one.default)) for one in inspect.signature(each).parameters.values()]
                for each in (mine, other)
            ]
            self.assertEqual(*described, name)
        for one in QuantType:
            self.assertEqual(one.tensor_type, getattr(theirs.QuantType, one.name).tensor_type)

    def outputs(self, model, feed):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.add_session_config_entry("session.x64quantprecision", "1")  # the same sums on CPUs without VNNI
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        return numpy.concatenate([one.reshape(-1) for one in session.run(None, feed)]).astype(float)

    def compare(self, model, held, script, within=0):
        """`script`(module, path of the file to write), with our module and theirs: ours has the SQNR of theirs, in the
        runtime, or at most `within` dB less. Returns ours."""
        import onnxruntime.quantization as theirs

        in_float, found = self.outputs(model, held), []
        for module in (compat, theirs):
            path = self.folder / f"{module.__name__}.onnx"
            quietly(script, module, path)
            noise = self.outputs(path, held) - in_float
            found.append(10 * numpy.log10((in_float**2).sum() / (noise**2).sum()))
        self.assertGreaterEqual(found[0], found[1] - within)
        return found[0]

    def static(self, module, path, **asked):
        """Arguments whose values are words are members of the module's enums."""
        kinds = {"calibrate_method": "CalibrationMethod", "quant_format": "QuantFormat"}
        kinds.update(dict.fromkeys(("activation_type", "weight_type"), "QuantType"))
        for name in kinds.keys() & asked.keys():
            asked[name] = getattr(getattr(module, kinds[name]), asked[name])
        module.quantize_static(str(MODEL), path, Reader(pictures(24)), **asked)

    def test_classification_of_a_folder(self):
        """Reads each file of a folder when it is asked for."""
        (self.folder / "images").mkdir()
        for k, one in enumerate(pictures(24)):
            numpy.save(self.folder / "images" / f"{k:03d}.npy", numpy.moveaxis(one, 0, 2))

        def script(module, path):
            class DataReader(module.CalibrationDataReader):
                def __init__(self, folder):
                    self.files = iter(sorted(Path(folder).iterdir()))

                def get_next(self):
                    file = next(self.files, None)
                    return None if file is None else {"image": numpy.moveaxis(numpy.load(file), 2, 0)[None]}

            module.quant_pre_process(str(MODEL), str(self.folder / "prepared.onnx"), skip_symbolic_shape=True)
            module.quantize_static(
                str(self.folder / "prepared.onnx"),
                str(path),
                DataReader(self.folder / "images"),
                quant_format=module.QuantFormat.QDQ,
                per_channel=False,
                weight_type=module.QuantType.QInt8,
            )

        self.assertGreater(self.compare(MODEL, {"image": pictures(40)[24:]}, script), 25)

    def test_per_channel_excluded_nodes_and_mixes_of_types(self):
        held = {"image": pictures(40)[24:]}
        for asked in [
            {"per_channel": True, "quant_format": "QDQ"},
            {"nodes_to_exclude": ["stem.conv", "block1.depthwise", "classifier"]},
            {"activation_type": "QUInt8", "weight_type": "QUInt8"},
            {"activation_type": "QUInt8", "weight_type": "QInt8", "reduce_range": True},
            {"activation_type": "QUInt8", "weight_type": "QInt8", "quant_format": "QOperator"},
            {"activation_type": "QUInt16", "weight_type": "QInt8"},
            {"activation_type": "QInt16", "weight_type": "QInt8"},
            {"weight_type": "QInt4", "per_channel": True},
            {"use_external_data_format": True},
            {"op_types_to_quantize": ["Conv"]},
            {"extra_options": {"ActivationSymmetric": True, "QuantizeBias": False, "QDQKeepRemovableActivations": True}},
        ]:
            with self.subTest(asked):
                self.compare(MODEL, held, lambda module, path: self.static(module, path, **asked))

    def test_operators_in_place_of_pairs(self):
        import onnx

        self.static(compat, self.folder / "operators.onnx", quant_format="QOperator", activation_type="QUInt8")
        self.static(compat, self.folder / "pairs.onnx", quant_format="QDQ", activation_type="QUInt8")
        operators = onnx.load(self.folder / "operators.onnx")
        onnx.checker.check_model(operators)
        types = {node.op_type for node in operators.graph.node}
        self.assertIn("QLinearConv", types)
        self.assertFalse(types & {"Conv", "Gemm", "Add"})
        held = {"image": pictures(40)[24:]}
        made, paired = (self.outputs(self.folder / f"{name}.onnx", held) for name in ("operators", "pairs"))
        self.assertEqual(made.tolist(), paired.tolist())

    def test_calibration_methods(self):
        held = {"image": pictures(40)[24:]}
        for asked in [
            {"calibrate_method": "MinMax"},
            {"calibrate_method": "Entropy"},
            {"calibrate_method": "Percentile"},
            {"calibrate_method": "Percentile", "extra_options": {"CalibPercentile": 99.9}},
        ]:
            with self.subTest(asked):
                self.compare(MODEL, held, lambda module, path: self.static(module, path, **asked))

    def transformer(self):
        """Embeddings, two blocks of attention with two heads, and a pooled answer."""
        import onnx
        from onnx import helper

        random = numpy.random.default_rng(2)
        words, width, heads, length = 200, 32, 2, 12
        nodes, weights = [], []

        def weight(name, *shape, scale=None):
            values = random.normal(size=shape) * (shape[0] ** -0.5 if scale is None else scale)
            weights.append(onnx.numpy_helper.from_array(values.astype(numpy.float32), name))
            return name

        def whole(name, *values):
            weights.append(onnx.numpy_helper.from_array(numpy.array(values, numpy.int64), name))
            return name

        def node(kind, inputs, output, **attributes):
            nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
            return output

        split = whole("split", 0, length, heads, width // heads)
        joined = whole("joined", 0, length, width)
        x = node("Gather", [weight("words", words, width, scale=1), "tokens"], "embedded")
        for k in range(2):
            parts = {}
            for one in "qkv":
                product = node("MatMul", [x, weight(f"{one}{k}.weight", width, width)], f"{one}{k}.product")
                biased = node("Add", [product, weight(f"{one}{k}.bias", width, scale=0.1)], f"{one}{k}")
                shaped = node("Reshape", [biased, split], f"{one}{k}.split")
                parts[one] = node("Transpose", [shaped], f"{one}{k}.heads", perm=[0, 2, 3, 1] if one == "k" else [0, 2, 1, 3])
            scores = node("MatMul", [parts["q"], parts["k"]], f"scores{k}")
            share = node("Softmax", [node("Mul", [scores, weight(f"scale{k}", 1, scale=0.25)], f"scaled{k}")], f"share{k}", axis=-1)
            mixed = node("Transpose", [node("MatMul", [share, parts["v"]], f"mixed{k}")], f"mixed{k}.turned", perm=[0, 2, 1, 3])
            out = node("MatMul", [node("Reshape", [mixed, joined], f"mixed{k}.joined"), weight(f"out{k}", width, width)], f"attended{k}")
            x = node("Add", [x, out], f"sum{k}")
            wide = node("Relu", [node("MatMul", [x, weight(f"up{k}", width, 64)], f"wide{k}")], f"active{k}")
            x = node("Add", [x, node("MatMul", [wide, weight(f"down{k}", 64, width)], f"narrow{k}")], f"block{k}")
        node("MatMul", [node("ReduceMean", [x], "pooled", axes=[1], keepdims=0), weight("head", width, 4)], "answer")
        graph = helper.make_graph(
            nodes,
            "transformer",
            [helper.make_tensor_value_info("tokens", onnx.TensorProto.INT64, ["N", length])],
            [helper.make_tensor_value_info("answer", onnx.TensorProto.FLOAT, ["N", 4])],
            weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.checker.check_model(model)
        path = self.folder / "transformer.onnx"
        onnx.save(model, str(path))
        tokens = random.integers(0, words, (40, length))
        return path, model, tokens

    def test_dynamic_of_a_transformer(self):
        path, proto, tokens = self.transformer()
        for given, asked in [(str(path), {}), (proto, {"per_channel": True}), (str(path), {"op_types_to_quantize": ["MatMul"]})]:
            with self.subTest(asked):
                self.compare(
                    path,
                    {"tokens": tokens},
                    lambda module, out: module.quantize_dynamic(given, str(out), weight_type=module.QuantType.QInt8, **asked),
                )

    def test_static_of_a_transformer(self):
        """Ranges of one tensor for all are what it loses by, and these are the same: so is the SQNR, but for chance."""
        path, _, tokens = self.transformer()
        for asked in ({}, {"extra_options": {"MatMulConstBOnly": True}}, {"nodes_to_exclude": ["scores0", "mixed1"]}):
            with self.subTest(asked):
                self.compare(
                    path,
                    {"tokens": tokens[24:]},
                    lambda module, out: module.quantize_static(path, out, Reader(tokens[:24], "tokens"), **asked),
                    within=1,
                )


if __name__ == "__main__":
    unittest.main()
