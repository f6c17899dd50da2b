# SPDX-License-Identifier: Apache-2.0
"""The names of the requirement documents in Python: where they are, how they are made, and what they do to a file."""

import ast
import inspect
import json
import math
import os
import re
import tempfile
import unittest
from enum import Enum
from pathlib import Path

import numpy
import tersor
from tersor import mct, tfmot
from tersor.mct.constants import MIN_THRESHOLD, RANGE_MAX, RANGE_MIN, SIGNED, THRESHOLD
from tersor.mct.target_platform_capabilities.constants import BIAS_ATTR, KERNEL_ATTR
from tersor.mct.target_platform_capabilities.target_platform import (
    AttributeQuantizationConfig,
    Contains,
    Eq,
    Fusing,
    Greater,
    LayerFilterParams,
    NotEq,
    OperationsSetToLayers,
    OperationsToLayers,
    OperatorSetConcat,
    OperatorsSet,
    OpQuantizationConfig,
    QuantizationConfigOptions,
    QuantizationMethod,
    Smaller,
    TargetPlatformCapabilities,
    TargetPlatformModel,
)
from tersor.mct.trainable_infrastructure import (
    BaseKerasTrainableQuantizer,
    BasePytorchTrainableQuantizer,
    QuantizationTarget,
    TrainableQuantizerActivationConfig,
    TrainableQuantizerCandidateConfig,
    TrainableQuantizerWeightsConfig,
    VariableGroup,
    ActivationSymmetricInferableQuantizer,
    WeightsSymmetricInferableQuantizer,
    mark_quantizer,
)
from tersor.tfmot.quantization.keras import QuantizeConfig, quantize_annotate_layer, quantize_annotate_model
from tersor.tfmot.quantization.keras.quantizers import AllValuesQuantizer, LastValueQuantizer, MovingAverageQuantizer

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = Path(os.environ.get("TERSOR_SHARED", "/nowhere")) / "requirements"
MODEL = ROOT / "web/public/demo/model.onnx"
DENSE = "classifier"  # its Gemm
QuantizationConfig, FrameworkInfo, DefaultDict = mct.QuantizationConfig, mct.FrameworkInfo, mct.DefaultDict
ThresholdSelectionMethod = mct.ThresholdSelectionMethod


class Conv2D:
    """Stands for the class of Keras, of which the name is read."""


class ReLU:
    pass


class Dense:
    pass


class Reshape:
    pass


class Softmax:
    pass


def samples():
    shape = tersor.inspect(MODEL)["inputs"][0]["shape"][1:]
    return numpy.random.default_rng(7).normal(size=(16, *shape)).astype(numpy.float32)


def quantize(**given):
    return tersor.quantize(MODEL, samples(), compare=False, **{"effort": 0, "holdout": False, **given})


class MyDenseQuantizeConfig(QuantizeConfig):
    def get_weights_and_quantizers(self, layer):
        return [(layer.kernel, LastValueQuantizer())]

    def get_activations_and_quantizers(self, layer):
        return [(layer.activation, MovingAverageQuantizer())]

    def set_quantize_weights(self, layer, quantize_weights):
        layer.kernel = quantize_weights[0]

    def set_quantize_activations(self, layer, quantize_activations):
        layer.activation = quantize_activations[0]

    def get_output_quantizers(self, layer):
        # Does not quantize output, since we return an empty list.
        return []

    def get_config(self):
        return {}


def op_config(**members):
    kernel = AttributeQuantizationConfig(QuantizationMethod.SYMMETRIC, 8, True, True)
    bias = AttributeQuantizationConfig()
    given = {
        "default_weight_attr_config": bias,
        "attr_weights_configs_mapping": {KERNEL_ATTR: kernel, BIAS_ATTR: bias},
        "activation_quantization_method": QuantizationMethod.UNIFORM,
        "activation_n_bits": 8,
        "supported_input_activation_n_bits": 8,
        "enable_activation_quantization": True,
        "quantization_preserving": False,
        "fixed_scale": None,
        "fixed_zero_point": None,
        "simd_size": 32,
        "signedness": False,
    }
    return OpQuantizationConfig(**{**given, **members})


def platform_model(**members):
    model = TargetPlatformModel(QuantizationConfigOptions([op_config(**members)]), name="mine")
    with model:
        eight = op_config()
        four = eight.clone_and_edit(attr_to_edit={KERNEL_ATTR: {"weights_n_bits": 4}})
        conv = OperatorsSet("Convs", QuantizationConfigOptions([eight, four], base_config=eight))
        relu, add = OperatorsSet("AnyReLU"), OperatorsSet("Add")
        OperatorsSet("Linear", QuantizationConfigOptions([eight]))
        Fusing([conv, relu])
        Fusing([conv, OperatorSetConcat(relu, add)], name="wide")
    return model


def platform(**members):
    made = TargetPlatformCapabilities(platform_model(**members), name="mine", version="2")
    with made:
        OperationsSetToLayers("Convs", [Conv2D], attr_mapping={KERNEL_ATTR: DefaultDict({Conv2D: "kernel"})})
        OperationsSetToLayers("AnyReLU", [ReLU, LayerFilterParams(ReLU, Greater("max_value", 5), negative_slope=0)])
        OperationsSetToLayers("Linear", [Dense])
    return made


@unittest.skipUnless(DOCUMENTS.exists(), "TERSOR_SHARED is not here")
class Names(unittest.TestCase):
    def test_every_class_has_the_signature_of_its_document(self):
        found = []
        for file in sorted(DOCUMENTS.glob("*.txt")):
            text = file.read_text(encoding="utf-8")
            for place, signature in re.findall(r"class model_compression_toolkit\.([\w.]+)\((.*)\)", text):
                found.append(place)
                made = mct
                for part in place.split("."):
                    made = getattr(made, part)
                if signature == "value":
                    self.assertTrue(issubclass(made, Enum))
                    body = text[text.index(f"{place}(value)") :]
                    words = re.findall(r"^(\w+) - ", body[: body.index("¶", body.index("¶") + 1)], re.M)
                    self.assertGreaterEqual(len(words), 5)
                    for word in words:
                        self.assertEqual(made[word], word)
                    continue
                with self.subTest(place):
                    scope = {**vars(mct), **vars(mct.constants), "math": math}
                    exec(f"def documented({signature}): pass", scope)
                    wanted = inspect.signature(scope["documented"]).parameters.values()
                    got = inspect.signature(made).parameters.values()
                    self.assertEqual(
                        [(one.name, one.kind, one.default) for one in got],
                        [(one.name, one.kind, one.default) for one in wanted],
                    )
        there = mct.target_platform.AttributeFilter, mct.get_target_platform_capabilities
        there += tfmot.quantization.keras.QuantizeConfig, LastValueQuantizer, MovingAverageQuantizer
        self.assertEqual(len(set(found)) + len(there), 24, found)

    def test_a_quantize_config_has_the_methods_of_its_document(self):
        text = (DOCUMENTS / "quantize_config.txt").read_text(encoding="utf-8")
        self.assertIn("tfmot.quantization.keras.QuantizeConfig", text)
        for name, arguments in set(re.findall(r"  def (\w+)\((.*)\):", text)):
            made = getattr(tfmot.quantization.keras.QuantizeConfig, name)
            self.assertEqual(", ".join(inspect.signature(made).parameters), arguments)
            self.assertTrue(made.__isabstractmethod__)

    def test_what_the_examples_import_is_there(self):
        for file in DOCUMENTS.glob("*.txt"):
            for line in re.findall(r"^from model_compression_toolkit.*$", file.read_text(encoding="utf-8"), re.M):
                exec(line.replace("model_compression_toolkit", "tersor.mct"), {})

    def test_every_python_name_of_the_page_is_there(self):
        lines = [
            [cell.strip(" `") for cell in line.strip("| ").split(" | ")]
            for line in (ROOT / "docs/requirements.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| `")
        ]
        named = [cells[4] for cells in lines if cells[4]]
        self.assertGreater(len(named), 110)
        for name in named:
            made, parts = tersor, name.split(".")
            for k, part in enumerate(parts):
                if isinstance(made, type) and not hasattr(made, part):
                    self.assertEqual(k, len(parts) - 1, name)
                    self.assertIn(part, inspect.signature(made).parameters, name)
                else:
                    made = getattr(made, part)


class Examples(unittest.TestCase):
    """The code blocks of the five documents, with our imports."""

    def test_quantization_config(self):
        qc = QuantizationConfig(activation_n_bits=6, weights_n_bits=7, activation_quantization_method=QuantizationMethod.SYMMETRIC_UNIFORM, weights_quantization_method=QuantizationMethod.SYMMETRIC_UNIFORM, weights_threshold_method=ThresholdSelectionMethod.MSE, activation_threshold_method=ThresholdSelectionMethod.NOCLIPPING, relu_unbound_correction=True, weights_bias_correction=True, weights_per_channel_threshold=True)  # fmt: skip
        made = quantize(config=qc)
        self.assertEqual(made.recipe["platform"]["name"], "any")
        said = made.recipe["quantization_config"]
        self.assertEqual((said["activation_n_bits"], said["weights_n_bits"], said["effort"]), (6, 7, 0))
        self.assertEqual((said["z_threshold"], said["min_threshold"]), (None, MIN_THRESHOLD))
        again = quantize(config=json.loads(json.dumps({**qc.get_config(), "z_threshold": None})), preset="requirements")
        self.assertEqual(made.bytes, again.bytes)
        self.assertNotEqual(made.bytes, quantize(config=qc, weights_n_bits=8).bytes)
        self.assertEqual(quantize(config=qc, weights_n_bits=8).recipe["quantization_config"]["weights_n_bits"], 8)

    def test_framework_info(self):
        kernel_ops = [Conv2D]
        kernel_channels_mapping = DefaultDict({Conv2D: (3, 2)})
        first = FrameworkInfo(kernel_ops, [], [], kernel_channels_mapping, {}, {})
        self.assertEqual(first.get_config()["kernel_ops"], ["Conv"])
        self.assertEqual(first.get_config()["kernel_channels_mapping"], {"Conv": [0, 1]})
        activation_ops = [ReLU]
        second = FrameworkInfo(kernel_ops, activation_ops, [], kernel_channels_mapping, {}, {})
        self.assertEqual(second.get_config()["activation_ops"], ["Relu"])
        no_quantization_ops = [Reshape]
        third = FrameworkInfo(kernel_ops, activation_ops, no_quantization_ops, kernel_channels_mapping, {}, {})
        activation_min_max_mapping = {"softmax": (0, 1), "relu": (0, math.inf)}
        layer_min_max_mapping = {Softmax: (0, 1)}
        last = FrameworkInfo(kernel_ops, activation_ops, no_quantization_ops, kernel_channels_mapping, activation_min_max_mapping, layer_min_max_mapping)  # fmt: skip
        self.assertEqual(last.get_config()["layer_min_max_mapping"], {"Softmax": [0, 1]})
        plain = quantize(platform="any").bytes
        for info in (first, second, third, last):
            said = json.loads(json.dumps(info.get_config()).replace("Infinity", "null"))
            self.assertEqual(quantize(platform="any", framework_info=info).bytes, quantize(platform="any", framework_info=said).bytes)  # fmt: skip
            self.assertNotEqual(quantize(platform="any", framework_info=info).bytes, plain)
        by_names = {"kernel_ops": ["Conv2D"], "kernel_channels_mapping": {"Conv2D": (3, 2)}}
        self.assertNotEqual(quantize(platform="any", framework_info=by_names).bytes, plain)

    def test_quantize_config(self):
        name = DENSE
        made = quantize(overrides=[{"name": name, "quantize_config": MyDenseQuantizeConfig()}])
        data = {
            "class_name": "LayerQuantizeConfig",
            "config": {
                "weights": {"kernel": {"class_name": "LastValueQuantizer", "config": {}}},
                "activation": {"class_name": "MovingAverageQuantizer", "config": {}},
                "outputs": [],
            },
        }
        self.assertEqual(made.bytes, quantize(overrides=[{"name": name, "quantize_config": data}]).bytes)
        self.assertEqual(made.bytes, quantize(recipe=made.recipe).bytes)
        self.assertNotEqual(made.bytes, quantize().bytes)
        by_class = quantize(overrides={"type": Dense, "quantize_config": MyDenseQuantizeConfig()})
        self.assertEqual(*[one.recipe["overrides"][0]["quantize_config"] for one in (by_class, made)])

    @unittest.skipUnless(DOCUMENTS.exists(), "TERSOR_SHARED is not here")
    def test_quantize_config_of_a_dense_that_is_a_matmul_with_its_add(self):
        model = DOCUMENTS.parent / "zoo/hand-keypoint-mlp/model.onnx"
        shape = tersor.inspect(model)["inputs"][0]["shape"][1:]
        given = numpy.random.default_rng(3).normal(size=(8, *shape)).astype(numpy.float32)
        overrides = [{"filter": LayerFilterParams(Dense), "quantize_config": MyDenseQuantizeConfig()}]
        made = tersor.quantize(model, given, overrides=overrides, compare=False)
        [said] = made.recipe["overrides"]
        self.assertIn("MovingAverageQuantizer", json.dumps(said))

    def test_trainable_infrastructure(self):
        weights = TrainableQuantizerWeightsConfig(weights_quantization_method=QuantizationMethod.SYMMETRIC,
                                                  weights_n_bits=8,
                                                  weights_quantization_params={THRESHOLD: 2.0},
                                                  enable_weights_quantization=True,
                                                  weights_channels_axis=3,
                                                  weights_per_channel_threshold=True,
                                                  min_threshold=MIN_THRESHOLD)  # fmt: skip
        activation = TrainableQuantizerActivationConfig(activation_quantization_method=QuantizationMethod.UNIFORM,
                                                        activation_n_bits=8,
                                                        activation_quantization_params={THRESHOLD: 2.0},
                                                        enable_activation_quantization=True,
                                                        min_threshold=MIN_THRESHOLD)  # fmt: skip
        for one in (weights, activation):
            self.assertEqual(type(one).from_config(json.loads(json.dumps(one.get_config()))), one)
            self.assertEqual(one.min_threshold, 2**-16)


class Steps(unittest.TestCase):
    """Steps of tutorials, each to a file that says so."""

    def test_a_platform_is_the_same_as_its_json(self):
        made = platform()
        said = json.loads(json.dumps(made.get_config()))
        result = quantize(platform=made)
        self.assertEqual(result.bytes, quantize(platform=said).bytes)
        self.assertEqual((result.recipe["platform"]["name"], result.recipe["platform"]["version"]), ("mine", 2))
        sets = {one["name"]: one for one in said["tp_model"]["operator_set"]}
        self.assertEqual(sets["Convs"]["layers"], ["Conv"])
        self.assertEqual(sets["Convs"]["attr_mapping"], {"kernel_attr": {"Conv": "W"}})
        clip = {"layer": "Clip", "all": [{"attr": "max", "op": "Greater", "value": 5}], "kwargs": {"min": 0}}
        self.assertEqual(sets["AnyReLU"]["layers"], ["Relu", clip])
        self.assertEqual(sets["Linear"]["layers"], ["Gemm", {"layer": "MatMul", "all": [{"attr": "has_kernel", "op": "Eq", "value": 1}]}])
        self.assertNotIn("layers", sets["Add"])
        fusings = said["tp_model"]["fusing_patterns"]
        self.assertEqual(fusings[0], {"operator_groups_list": [["Convs"], ["AnyReLU"]], "name": "Convs_AnyReLU"})
        self.assertEqual(fusings[1], {"operator_groups_list": [["Convs"], ["AnyReLU", "Add"]], "name": "wide"})
        self.assertNotEqual(result.bytes, quantize(platform=platform(activation_n_bits=4)).bytes)

    def test_a_configuration_leaves_to_a_platform_what_the_platform_decides(self):
        made = quantize(config=QuantizationConfig(), platform=platform())
        said = made.recipe["quantization_config"]
        self.assertEqual((said["activation_quantization_method"], said["weights_n_bits"]), (None, None))
        self.assertEqual((said["activation_threshold_method"], said["activation_channel_equalization"]), ("MSE", False))
        four = quantize(config=QuantizationConfig(weights_quantization_method="SYMMETRIC"), platform="imx500")
        self.assertEqual(four.recipe["quantization_config"]["weights_quantization_method"], "SYMMETRIC")
        with self.assertRaisesRegex(tersor.Error, "weights_n_bits = 3"):
            quantize(config=QuantizationConfig(weights_n_bits=3), platform=platform())
        by_any = quantize(config=QuantizationConfig(), platform="any").recipe["quantization_config"]
        self.assertEqual(by_any["activation_quantization_method"], "POWER_OF_TWO")

    def test_candidates_are_chosen_within_a_budget(self):
        free = quantize(platform=platform())
        budget = {"target_resource_utilization": {"weights_memory": len(free.bytes) // 3, "bops": math.inf}}
        tight = quantize(platform=platform(), config=budget)
        self.assertLess(len(tight.bytes), len(free.bytes))

    def test_an_attr_mapping_says_which_weights_a_configuration_is_for(self):
        float_kernels = {KERNEL_ATTR: DefaultDict({}, "bias"), BIAS_ATTR: DefaultDict({Conv2D: "kernel"})}

        def made(mapping):
            built = TargetPlatformCapabilities(platform_model(), name="mine")
            with built:
                OperationsSetToLayers("Convs", [Conv2D], attr_mapping=mapping)
                OperationsSetToLayers("AnyReLU", [ReLU])
                OperationsSetToLayers("Linear", [Dense])
            return built

        plain, same = made(None), made({KERNEL_ATTR: {Conv2D: "kernel"}, BIAS_ATTR: {Conv2D: "bias"}})
        self.assertEqual(len(quantize(platform=plain).bytes), len(quantize(platform=same).bytes))
        self.assertLess(len(quantize(platform=same).bytes), len(quantize(platform=made(float_kernels)).bytes))
        with self.assertRaisesRegex(tersor.Error, '"alpha" is no weight of Conv'):
            made({KERNEL_ATTR: {Conv2D: "alpha"}})
        mapping = OperationsToLayers([OperationsSetToLayers("Convs", [Conv2D], float_kernels)])
        self.assertEqual(OperationsToLayers.from_config(mapping.get_config()).get_config(), mapping.get_config())
        self.assertEqual(mapping.get_config()["Convs"]["attr_mapping"], {"kernel_attr": {"Conv": "B"}, "bias_attr": {"Conv": "W"}})
        by_config = quantize(platform=plain, config={"custom_tpc_opset_to_layer": mapping})
        self.assertEqual(len(by_config.bytes), len(quantize(platform=made(float_kernels)).bytes))

    def test_a_candidate_is_asked_for_in_a_filter(self):
        first = LayerFilterParams(Conv2D, Eq("group", 1) & Smaller("group", 3) | Contains("kernel_shape", 9))
        given = {"filter": first, "config": {"weights_n_bits": 4}}
        made = quantize(platform=platform(), overrides=[given])
        said = {"filter": json.loads(json.dumps(first.get_config())), "config": {"weights_n_bits": 4}}
        self.assertEqual(made.bytes, quantize(platform=platform(), overrides=[said]).bytes)
        self.assertNotEqual(made.bytes, quantize(platform=platform()).bytes)

    def test_sets_get_other_layers(self):
        mapping = OperationsToLayers([OperationsSetToLayers("AnyReLU", []), OperationsSetToLayers("Convs", ["Conv"])])
        made = quantize(platform=platform(), config={"custom_tpc_opset_to_layer": mapping})
        self.assertEqual(made.recipe["quantization_config"]["custom_tpc_opset_to_layer"], mapping.get_config())
        self.assertEqual(OperationsToLayers.from_config(mapping.get_config()), mapping)

    def test_built_in_platforms(self):
        for name in ("imx500", "tflite", "qnnpack"):
            made = mct.get_target_platform_capabilities("tensorflow", name)
            self.assertEqual(made.name, name)
            self.assertEqual(quantize(platform=made).bytes, quantize(platform=name).bytes)
            self.assertEqual(TargetPlatformCapabilities.from_config(made.get_config()), made)
        self.assertEqual(mct.get_target_platform_capabilities("pytorch", "imx500", "4.1").version, "3")
        self.assertEqual(mct.get_target_platform_capabilities("pytorch", "default").name, "ort-cpu")

    def test_annotated_layers_alone_are_quantized(self):
        annotated = [quantize_annotate_layer(DENSE, MyDenseQuantizeConfig())]
        made = quantize(overrides=annotated)
        floats = tersor.inspect(made.bytes)["operators"]
        self.assertIn("Conv", {one["op"] for one in floats})
        self.assertNotEqual(made.bytes, quantize().bytes)
        by_class = [quantize_annotate_layer(LayerFilterParams(Dense), MyDenseQuantizeConfig())]
        again = quantize(overrides=by_class)
        self.assertEqual(*[one.recipe["overrides"][0]["quantize_config"] for one in (again, made)])
        both = [quantize(overrides=overrides).bytes for overrides in (quantize_annotate_model(), None)]
        first, second = [tersor.run(one, samples()[:2])["scores"] for one in both]
        self.assertTrue(numpy.array_equal(first, second))

    def test_calibrate_and_platforms_take_the_same(self):
        config = QuantizationConfig(weights_n_bits=4)
        gathered = tersor.calibrate(MODEL, samples(), platform=platform(), config={"z_threshold": math.inf})
        made = tersor.quantize(MODEL, statistics=gathered, platform=platform(), config={"effort": 0, "holdout": False, "weights_bias_correction": False}, compare=False)  # fmt: skip
        self.assertEqual(made.recipe["platform"]["name"], "mine")
        self.assertEqual(tersor.calibrate(MODEL, samples(), config=config).bytes[:4], gathered.bytes[:4])
        self.assertEqual(tersor.platforms(platform())["platform"]["name"], "mine")


class Values(unittest.TestCase):
    def test_round_trips_copies_and_text(self):
        four = op_config(activation_n_bits=4)
        values = [
            QuantizationConfig(z_threshold=3.5, l_p_value=3),
            QuantizationConfig(),
            AttributeQuantizationConfig(weights_n_bits=4),
            four,
            QuantizationConfigOptions([op_config(), four], base_config=four),
            OperatorsSet("Conv", QuantizationConfigOptions([four])),
            OperatorSetConcat(OperatorsSet("a"), OperatorsSet("b")),
            Fusing([OperatorsSet("a"), OperatorSetConcat(OperatorsSet("b"), OperatorsSet("c"))]),
            platform_model(),
            platform(),
            LayerFilterParams("Conv", Eq("group", 1) | NotEq("group", 2), kernel_shape=[3, 3]),
            OperationsSetToLayers("Conv", ["Conv", LayerFilterParams("Clip", max=6)]),
            FrameworkInfo([Conv2D], [ReLU], [], {QuantizationMethod.SYMMETRIC: "POWER_OF_TWO"}, {}, {Conv2D: (3, 2)}, {}, {}),  # fmt: skip
            AllValuesQuantizer(num_bits=4, per_axis=True),
        ]
        for value in values:
            with self.subTest(type(value).__name__):
                config = value.get_config()
                same = type(value).from_config(json.loads(json.dumps(config)))
                self.assertEqual(same, value)
                self.assertEqual(same.get_config(), config)
                self.assertEqual(repr(same).replace("'", '"') == "", False)
                self.assertTrue(repr(value).startswith(f"{type(value).__name__}("))
                self.assertNotEqual(value, object())
        self.assertEqual(eval(repr(values[0]), {**globals(), **_enums()}), values[0])
        self.assertEqual(op_config(simd_size=1).clone_and_edit(simd_size=32), op_config())
        self.assertNotEqual(op_config(simd_size=1), op_config())
        options = values[4].clone_and_edit(activation_n_bits=8)
        self.assertEqual([one.activation_n_bits for one in options.quantization_config_list], [8, 8])
        self.assertEqual(four.activation_n_bits, 4)

    def test_layers_of_keras_and_pytorch(self):
        axes = {
            "Conv2D": ((3, 2), {"Conv": [0, 1]}),
            "DepthwiseConv2D": ((2, 2), {"Conv": [0, 1]}),
            "Conv2DTranspose": ((2, 3), {"ConvTranspose": [1, 0]}),
            "Dense": ((1, 0), {"Gemm": [1, 0], "MatMul": [1, 0]}),
            "Conv2d": ((0, 1), {"Conv": [0, 1]}),
            "ConvTranspose2d": ((1, 0), {"ConvTranspose": [1, 0]}),
            "Linear": ((0, 1), {"Gemm": [1, 0], "MatMul": [1, 0]}),
            "Conv": ((0, 1), {"Conv": [0, 1]}),
        }
        ours = json.loads(tersor._core.checked("FrameworkInfo", "{}"))
        for layer, (given, wanted) in axes.items():
            info = FrameworkInfo([layer], [], [], {layer: given}, {}, {})
            self.assertEqual(info.get_config()["kernel_channels_mapping"], wanted, layer)
            for operator, pair in wanted.items():
                self.assertEqual(ours["kernel_channels_mapping"][operator], pair, operator)
        relu = LayerFilterParams("Activation", activation="relu")
        self.assertEqual(relu.get_config(), {"layer": "Relu"})
        self.assertEqual(LayerFilterParams("Activation", Eq("activation", "swish")).get_config(), {"layer": "Swish"})
        self.assertEqual(LayerFilterParams(Conv2D, groups=1).get_config(), {"layer": "Conv", "kwargs": {"group": 1}})

    def test_a_function_stands_for_a_method_it_is_called_after(self):
        def power_of_two_quantization(*_):
            return None

        def mine(*_):
            return None

        method = QuantizationMethod.SYMMETRIC
        info = FrameworkInfo([Conv2D], [], [], {method: power_of_two_quantization}, {}, {}, {}, {})
        self.assertEqual(info.get_config()["activation_quantizer_mapping"], {"SYMMETRIC": "POWER_OF_TWO"})
        with self.assertRaisesRegex(tersor.Error, 'the function "mine" is none.*QuantizationMethod'):
            FrameworkInfo([Conv2D], [], [], {}, {method: mine}, {}, {}, {})

    def test_trainable_quantizers_of_ones_own(self):
        @mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.SYMMETRIC], identifier="mine")
        class Mine(BaseKerasTrainableQuantizer):
            def initialize_quantization(self, tensor_shape, name, layer):
                pass

            def __call__(self, inputs, training):
                return inputs

            def convert2inferable(self):
                return None

        self.assertIs(BaseKerasTrainableQuantizer, BasePytorchTrainableQuantizer)
        candidate = TrainableQuantizerCandidateConfig(4, {THRESHOLD: 1.5})
        symmetric = (QuantizationMethod.SYMMETRIC, 8, {THRESHOLD: numpy.ones(3)}, True, 0, True, MIN_THRESHOLD, [candidate])
        made = Mine(TrainableQuantizerWeightsConfig(*symmetric))
        self.assertEqual(Mine.from_config(json.loads(json.dumps(made.get_config()))), made)
        self.assertTrue(made.weights_quantization() and not made.activation_quantization())
        wrong = (QuantizationMethod.UNIFORM, 8, {RANGE_MIN: -1, RANGE_MAX: 1}, True, MIN_THRESHOLD)
        with self.assertRaisesRegex(tersor.Error, "takes a TrainableQuantizerWeightsConfig"):
            Mine(TrainableQuantizerActivationConfig(*wrong))
        with self.assertRaisesRegex(tersor.Error, "does not quantize by POWER_OF_TWO, but by SYMMETRIC"):
            Mine(TrainableQuantizerWeightsConfig(QuantizationMethod.POWER_OF_TWO, *symmetric[1:]))
        with self.assertRaises(TypeError):  # the abstract functions
            BaseKerasTrainableQuantizer(TrainableQuantizerActivationConfig(*wrong))

        class Unmarked(Mine):
            quantization_target = None

        with self.assertRaisesRegex(tersor.Error, "is not marked"):
            Unmarked(TrainableQuantizerWeightsConfig(*symmetric))

    def test_trainable_quantizers_of_ones_own_train_chosen_layers(self):
        seen = set()

        @mark_quantizer(QuantizationTarget.Weights, [QuantizationMethod.SYMMETRIC], identifier="clip")
        class Clip(BasePytorchTrainableQuantizer):
            """The weights pass through rounding, and learned thresholds clip them."""

            def initialize_quantization(self, tensor_shape, name, layer):
                given = self.quantization_config
                self.params, self.bits = given.weights_quantization_params, given.weights_n_bits
                self.axis = given.weights_channels_axis if given.weights_per_channel_threshold else None
                self.add_quantizer_variable(THRESHOLD, self.params[THRESHOLD], VariableGroup.QPARAMS)
                assert layer.kernel.value.shape == tensor_shape
                seen.add(name)

            def along(self, inputs):
                dims = [1] * inputs.ndim
                if self.axis is not None:
                    dims[self.axis] = -1
                return self.get_quantizer_variable(THRESHOLD).value.reshape(dims)

            def __call__(self, inputs, training):
                top = 2 ** (self.bits - 1) - (1 if self.params.get("narrow_range") else 0)
                scale = self.along(inputs) / top
                low = -(2 ** (self.bits - 1)) + (1 if self.params.get("narrow_range") else 0)
                return numpy.clip(numpy.rint(inputs / scale), low, 2 ** (self.bits - 1) - 1) * scale

            def gradient(self, inputs, by_output):
                within = numpy.abs(inputs) < self.along(inputs)
                others = tuple(k for k in range(inputs.ndim) if k != self.axis)
                threshold = self.get_quantizer_variable(THRESHOLD)
                threshold.gradient += numpy.where(within, 0, by_output * numpy.sign(inputs)).sum(others).reshape(-1)
                return by_output * within

            def convert2inferable(self):
                return WeightsSymmetricInferableQuantizer(
                    self.bits,
                    self.get_quantizer_variable(THRESHOLD).value,
                    per_channel=self.axis is not None,
                    channel_axis=self.axis,
                    narrow_range=bool(self.params.get("narrow_range")),
                )

        shape = [one if isinstance(one, int) else 1 for one in tersor.inspect(MODEL)["inputs"][0]["shape"]][1:]
        samples = numpy.random.default_rng(5).normal(size=(48, *shape)).astype("float32")
        given = {"platform": "any", "weights_n_bits": 3, "effort": 0, "epochs": 12, "compare": False, "holdout": False}
        chosen = [{"type": "Conv", "trainable_quantizer": Clip}]
        with tempfile.TemporaryDirectory() as folder:
            state = Path(folder) / "state"
            made = tersor.tune(MODEL, samples, overrides=chosen, checkpoint=state, **given)
            self.assertEqual(tersor.tune(MODEL, samples, overrides=chosen, resume=state, **given).bytes, made.bytes)
        self.assertGreater(len(seen), 2)
        trained = made.report["training"]
        self.assertTrue(trained["taken"], trained)
        self.assertGreater(trained["after_db"], trained["before_db"] + 0.2)
        follow = {"recipe": made.recipe, "compare": False}
        again = tersor.quantize(MODEL, samples, trainable_quantizers=[Clip], **follow)
        self.assertEqual(again.bytes, made.bytes)
        with self.assertRaisesRegex(tersor.Error, '"Clip"'):
            tersor.quantize(MODEL, samples, **follow)

        @mark_quantizer(QuantizationTarget.Activation, [QuantizationMethod.SYMMETRIC], identifier="ceiling")
        class Ceiling(BasePytorchTrainableQuantizer):
            """Where an activation is clipped is learned from what lies above."""

            def initialize_quantization(self, tensor_shape, name, layer):
                given = self.quantization_config
                self.params, self.bits = given.activation_quantization_params, given.activation_n_bits
                self.add_quantizer_variable(THRESHOLD, self.params[THRESHOLD], VariableGroup.QPARAMS)
                seen.add(name)

            def __call__(self, inputs, training):
                top = 2 ** (self.bits - self.params[SIGNED])
                scale = self.get_quantizer_variable(THRESHOLD).value / top
                return numpy.clip(numpy.rint(inputs / scale), -top * self.params[SIGNED], top - 1) * scale

            def gradient(self, inputs, by_output):
                threshold = self.get_quantizer_variable(THRESHOLD)
                above = inputs > threshold.value
                threshold.gradient += (by_output * above).sum()
                return numpy.where(above | (inputs < -threshold.value * self.params[SIGNED]), 0, by_output)

            def convert2inferable(self):
                threshold = self.get_quantizer_variable(THRESHOLD).value
                return ActivationSymmetricInferableQuantizer(self.bits, threshold, bool(self.params[SIGNED]))

        ranges = {**given, "weights_n_bits": 8, "activation_n_bits": 3, "activation_quantization_method": "SYMMETRIC"}
        ranges |= {"activation_error_method": "NOCLIPPING", "overrides": [{"type": "Conv", "trainable_quantizer": Ceiling}]}
        ranges["gradient_ptq_config"] = {"train_rounding": False, "train_bias": False, "train_scales": False}
        made = tersor.tune(MODEL, samples, **ranges)
        self.assertTrue(made.report["training"]["taken"], made.report["training"])
        self.assertEqual(tersor.tune(MODEL, samples, threads=1, **ranges).bytes, made.bytes)

        class Broken(Clip):
            def __call__(self, inputs, training):
                raise ZeroDivisionError("of one's own")

        with self.assertRaisesRegex(ZeroDivisionError, "of one's own"):
            tersor.tune(MODEL, samples, overrides=[{"type": "Conv", "trainable_quantizer": Broken}], **given)

        class Flat(Clip):
            def __call__(self, inputs, training):
                return inputs.reshape(-1)

        with self.assertRaisesRegex(tersor.Error, "Flat.__call__ gave the shape"):
            tersor.tune(MODEL, samples, overrides=[{"type": "Conv", "trainable_quantizer": Flat}], **given)

    def test_errors(self):
        options = QuantizationConfigOptions([op_config()])
        faults = {
            "weights_n_bits": lambda: QuantizationConfig(weights_n_bits=99),
            "activation_n_bits: This is no number of JSON": lambda: QuantizationConfig(activation_n_bits=math.inf),
            "kernel_ops": lambda: FrameworkInfo("Conv2D", [], [], {}, {}, {}),
            "4 axes, and there is none with number 6": lambda: FrameworkInfo([Conv2D], [], [], {Conv2D: (6, 2)}, {}, {}),
            "There is no configuration": lambda: QuantizationConfigOptions([]),
            "one is the base": lambda: QuantizationConfigOptions([op_config(), op_config(simd_size=1)]),
            "The base is not among": lambda: QuantizationConfigOptions([op_config()], op_config(simd_size=1)),
            "a list of OpQuantizationConfig": lambda: QuantizationConfigOptions(op_config()),
            "at least two": lambda: Fusing([OperatorsSet("Conv")]),
            "Here stands a OperatorsSet or OperatorSetConcat": lambda: Fusing(["Conv", "Relu"]),
            "no set to join": lambda: OperatorSetConcat(),
            "no version": lambda: TargetPlatformCapabilities(TargetPlatformModel(options), version="new"),
            "general name of an attribute": lambda: OperationsSetToLayers("Conv", [Conv2D], {"kernel": {}}),
            "weights_n_bits.*1": lambda: TrainableQuantizerWeightsConfig("SYMMETRIC", 1, {}, True, 0, True, 1e-5),
            "above 0|threshold": lambda: TrainableQuantizerActivationConfig("SYMMETRIC", 8, {THRESHOLD: -1, SIGNED: True}, True, 1e-5),
        }  # fmt: skip
        for message, make in faults.items():
            with self.subTest(message), self.assertRaisesRegex(tersor.Error, message):
                make()
        with self.assertRaises(TypeError):
            FrameworkInfo([Conv2D], [])
        with self.assertRaises(TypeError):
            QuantizationConfig(weights_bits=8)
        model = platform_model()
        with self.assertRaisesRegex(tersor.Error, 'several sets called "Add"'), model:
            OperatorsSet("Add")
        made = TargetPlatformCapabilities(platform_model())
        with self.assertRaisesRegex(tersor.Error, 'no operator set "Conv".*Did you mean "Convs"'), made:
            OperationsSetToLayers("Conv", [Conv2D])

        class Lazy(MyDenseQuantizeConfig):
            def set_quantize_weights(self, layer, quantize_weights):
                pass

        with self.assertRaisesRegex(tersor.Error, "set_quantize_weights does not put it back"):
            quantize(overrides=[{"name": DENSE, "quantize_config": Lazy()}])
        with self.assertRaisesRegex(tersor.Error, "class MyDenseQuantizeConfig"):
            quantize(overrides=[{"name": DENSE, "quantize_config": MyDenseQuantizeConfig}])
        with self.assertRaisesRegex(tersor.Error, "is no platform"):
            quantize(platform=TargetPlatformCapabilities)
        with self.assertRaises(TypeError):
            type("Half", (QuantizeConfig,), {"get_config": lambda self: {}})()


def _enums():
    return {
        "ThresholdSelectionMethod": ThresholdSelectionMethod,
        "inf": math.inf,
    }


if __name__ == "__main__":
    unittest.main()
