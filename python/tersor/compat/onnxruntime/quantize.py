# SPDX-License-Identifier: Apache-2.0
"""Configurations and what quantizes, as in `onnxruntime.quantization.quantize`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional, Union

from ... import _core
from ..._calls import convert
from ..._calls import quantize as _quantize
from ..._error import Error
from ..._given import Path_, open_model, outside
from ..._result import Result, Statistics
from .calibrate import CalibrationMethod
from .quant_utils import QuantFormat, QuantType


class _QuantConfig:
    def __init__(
        self,
        activation_type: Any = QuantType.QUInt8,
        weight_type: Any = QuantType.QInt8,
        op_types_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_exclude: Optional[Sequence[str]] = None,
        per_channel: bool = False,
        reduce_range: bool = False,
        use_external_data_format: bool = False,
    ) -> None:
        self.op_types_to_quantize = op_types_to_quantize or []
        self.per_channel = per_channel
        self.reduce_range = reduce_range
        self.weight_type = weight_type
        self.activation_type = activation_type
        self.nodes_to_quantize = nodes_to_quantize or []
        self.nodes_to_exclude = nodes_to_exclude or []
        self.use_external_data_format = use_external_data_format


class StaticQuantConfig(_QuantConfig):
    """The arguments of `quantize_static()`, for `quantize()`."""

    def __init__(
        self,
        calibration_data_reader: Any,
        calibrate_method: Any = CalibrationMethod.MinMax,
        quant_format: Any = QuantFormat.QDQ,
        activation_type: Any = QuantType.QInt8,
        weight_type: Any = QuantType.QInt8,
        op_types_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_exclude: Optional[Sequence[str]] = None,
        per_channel: bool = False,
        reduce_range: bool = False,
        use_external_data_format: bool = False,
        calibration_providers: Optional[Sequence[str]] = None,
        extra_options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(
            activation_type=activation_type,
            weight_type=weight_type,
            op_types_to_quantize=op_types_to_quantize,
            nodes_to_quantize=nodes_to_quantize,
            nodes_to_exclude=nodes_to_exclude,
            per_channel=per_channel,
            reduce_range=reduce_range,
            use_external_data_format=use_external_data_format,
        )
        self.calibration_data_reader = calibration_data_reader
        self.calibrate_method = calibrate_method
        self.quant_format = quant_format
        self.calibration_providers = calibration_providers
        self.extra_options = extra_options or {}


class DynamicQuantConfig(_QuantConfig):
    """The arguments of `quantize_dynamic()`, for `quantize()`."""

    def __init__(
        self,
        weight_type: Any = QuantType.QInt8,
        op_types_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_quantize: Optional[Sequence[str]] = None,
        nodes_to_exclude: Optional[Sequence[str]] = None,
        per_channel: bool = False,
        reduce_range: bool = False,
        use_external_data_format: bool = False,
        extra_options: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(
            op_types_to_quantize=op_types_to_quantize,
            per_channel=per_channel,
            reduce_range=reduce_range,
            weight_type=weight_type,
            nodes_to_quantize=nodes_to_quantize,
            nodes_to_exclude=nodes_to_exclude,
            use_external_data_format=use_external_data_format,
        )
        self.extra_options = extra_options or {}


def holds_weights_beside(model: Any) -> bool:
    """Whether the model keeps weights in files of their own, so that the file made of it is to do so too."""
    found: list[str] = []
    open_model(model, found.append)
    return bool(found)


def get_qdq_config(
    model_input: Any,
    calibration_data_reader: Any,
    calibrate_method: Any = CalibrationMethod.MinMax,
    calibrate_args: Optional[Mapping[str, Any]] = None,
    activation_type: Any = QuantType.QUInt8,
    weight_type: Any = QuantType.QInt8,
    activation_symmetric: bool = False,
    weight_symmetric: Optional[bool] = None,
    per_channel: bool = False,
    reduce_range: bool = False,
    keep_removable_activations: bool = False,
    min_real_range: Optional[float] = None,
    tensor_quant_overrides: Optional[Mapping[str, Any]] = None,
    calibration_providers: Optional[Sequence[str]] = None,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Union[Sequence[str], Callable[[Any, Any], bool], None] = None,
    extra_options: Optional[Mapping[str, Any]] = None,
) -> StaticQuantConfig:
    """For `quantize()`. A function as `nodes_to_exclude`, of the model and a node, needs the package onnx."""
    if callable(nodes_to_exclude):
        import onnx

        model = model_input if isinstance(model_input, onnx.ModelProto) else onnx.load_model(model_input, load_external_data=False)
        nodes_to_exclude = [node.name for node in model.graph.node if nodes_to_exclude(model, node)]
    ranges = {
        "CalibTensorRangeSymmetric": "symmetric",
        "CalibMovingAverage": "moving_average",
        "CalibMovingAverageConstant": "averaging_constant",
        "CalibMaxIntermediateOutputs": "max_intermediate_outputs",
        "CalibPercentile": "percentile",
    }
    asked = dict(calibrate_args or {})
    return StaticQuantConfig(
        calibration_data_reader,
        calibrate_method=calibrate_method,
        activation_type=activation_type,
        weight_type=weight_type,
        op_types_to_quantize=op_types_to_quantize,
        nodes_to_exclude=nodes_to_exclude,
        per_channel=per_channel,
        reduce_range=reduce_range,
        use_external_data_format=holds_weights_beside(model_input),
        calibration_providers=calibration_providers,
        extra_options={
            "MinimumRealRange": min_real_range,
            "QDQKeepRemovableActivations": keep_removable_activations,
            "ActivationSymmetric": activation_symmetric,
            "WeightSymmetric": weight_symmetric,
            "TensorQuantOverrides": dict(tensor_quant_overrides or {}),
            **{theirs: asked[name] for theirs, name in ranges.items() if name in asked},
            **(extra_options or {}),
        },
    )


_KERNELS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN", "Gather")
"""Operators whose weights are quantized."""

_IN_FLOAT = {"enable_activation_quantization": False}
_WEIGHTS_IN_FLOAT = {**_IN_FLOAT, "enable_weights_quantization": False}

_WITHOUT_EFFECT = {
    "EnableSubgraph": "weights in the bodies of If, Loop and Scan are always stored in integers",
    "CalibMaxIntermediateOutputs": "",
    "QDQOpTypePerChannelSupportToAxis": "channels are those of the outputs",
    "extra.Sigmoid.nnapi": "",
    "ForceQuantizeNoInputCheck": "operators are quantized where an integer kernel comes of it",
    "AddQDQPairToWeight": "weights are stored in integers",
    "DedicatedQDQPair": "readers of a tensor share its quantizer",
    "MinimumRealRange": "",
    "UseQDQContribOps": "quantizers are ONNX's own",
    "QDQDisableWeightAdjustForInt32Bias": "biases always fit into int32",
    "TensorQuantOverrides": "overrides of tersor.quantize() are settings for single operators",
    "SmoothQuant": "activation_channel_equalization rescales channels where that gains, and is on by default",
    "BlockSize": "weights_block_size acts on the platforms whose arithmetic is float",
}
"""Extra options that have no counterpart, and why or what there is instead."""

_OF_MEMORY = ("EnableSubgraph", "CalibMaxIntermediateOutputs")
"""Of these those that ask for what is so anyway: no warning."""


class _Wishes:
    """What arguments come to as those of `tersor.quantize()`."""

    def __init__(self, extra: Optional[Mapping[str, Any]]) -> None:
        self.extra = dict(extra or {})
        self.config: dict[str, Any] = {}
        self.platform: Any = None
        self.without: list[str] = []
        """Sentences on what has no counterpart."""

    def has_no(self, what: str, why: str = "") -> None:
        self.without.append(f"{what} ({why})" if why else what)

    def take(self, name: str, otherwise: Any = None) -> Any:
        return self.extra.pop(name, otherwise)

    def name_what_is_left(self) -> None:
        """Of the extra options those that ask for nothing, and for what is so anyway, are silent."""
        for name, value in self.extra.items():
            if name in _OF_MEMORY or value is None or value is False or value in ({}, [], 0):
                continue
            self.has_no(f"{name}={value!r}", _WITHOUT_EFFECT.get(name, ""))

    def warn(self, function: str) -> None:
        if self.without:
            message = f"{function}() of tersor has no counterpart of: {'; '.join(self.without)}."
            warnings.warn(message, stacklevel=outside())


def _name_of(value: Any) -> str:
    """Of an enum, onnxruntime's own too."""
    return getattr(value, "name", str(value))


def _platform(name: str, kernel: Mapping[str, Any] = {}, activation: Mapping[str, Any] = {}, rules: Mapping[str, Any] = {}) -> Any:
    """The built-in platform; with members of the configurations of kernels' weights and of activations, and export rules,
    in place of its own, as content."""
    if not kernel and not activation and not rules:
        return name
    content = json.loads(_core.checked("TargetPlatformCapabilities", json.dumps(name)))

    def change(value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                change(one)
        if not isinstance(value, dict):
            return
        weights = value.get("attr_weights_configs_mapping", {}).get("kernel_attr")
        if weights and weights["enable_weights_quantization"]:
            weights.update(kernel)
        if "activation_quantization_method" in value:
            value.update(activation)
        for one in value.values():
            change(one)

    change(content["tp_model"])
    content["export_rules"].update(rules)
    return content


def _choose_types(wishes: _Wishes, activation: str, weight: str, per_channel: bool, reduce_range: bool) -> None:
    if "FLOAT8" in activation or "FLOAT8" in weight:
        message = "Float8 has no counterpart here: activations and weights are integers."
        raise Error("invalid_argument", message, "activation_type", "Use QuantType.QUInt8 and QuantType.QInt8.")
    if activation == "QInt8" and weight == "QUInt8":
        message = "There are no kernels for activations of QInt8 and weights of QUInt8."
        raise Error("invalid_argument", message, "weight_type", "Use QuantType.QInt8 for both, or QUInt8 for activations.")
    if "Int4" in activation:
        wishes.has_no(f"activation_type={activation}", "activations have 8 bits")
    wide, signed = "16" in activation, activation.startswith("QI")
    kernel: dict[str, Any] = {}
    if "Int4" in weight:
        kernel["weights_n_bits"] = 4
    elif "Int16" in weight:
        wishes.has_no(f"weight_type={weight}", "weights have 8 bits")
    elif reduce_range and (wide or signed):
        kernel["weights_n_bits"] = 7
    rules: dict[str, Any] = {"signed_activations": True} if wide and signed else {}
    if wishes.take("QuantizeBias", True) is False:
        rules["integer_bias"] = False
    if wishes.take("QDQKeepRemovableActivations"):
        rules["fold_clamps"] = False
    symmetric = [wishes.take(name) for name in ("ActivationSymmetric", "ActivationRestrictedAsymmetric", "CalibTensorRangeSymmetric")]
    change = {}
    if any(symmetric):
        if wide:
            change["activation_quantization_method"] = "SYMMETRIC"
        else:
            wishes.config["activation_quantization_method"] = "SYMMETRIC"
    if wide:
        wishes.config["activation_n_bits"] = 16
    by_itself = wishes.take("Platform")
    if not by_itself:
        by_itself = "qnn" if wide else "ort-cpu-s8s8" if signed else "ort-cpu-avx2" if reduce_range and not kernel else "ort-cpu"
    wishes.platform = _platform(by_itself, kernel, change, rules)
    wishes.config["weights_per_channel_threshold"] = bool(per_channel)
    is_symmetric = wishes.take("WeightSymmetric")
    if is_symmetric is None:
        is_symmetric = not weight.startswith("QU")
    if not is_symmetric and not per_channel and by_itself != "qnn" and not kernel:
        wishes.config["weights_quantization_method"] = "UNIFORM"
    elif not is_symmetric:
        wishes.has_no("weights with a zero point", "on QNN, with a scale for each channel, and of other than 8 bits they are symmetric")
    if weight == "QUInt8" and not reduce_range and by_itself != "qnn":
        wishes.has_no(
            "weight_type=QUInt8", "the file has int8, of the same steps; for x64 without VNNI take reduce_range=True"
        )


def _choose_thresholds(wishes: _Wishes, method: Any) -> None:
    name = _name_of(method)
    moving = wishes.take("CalibMovingAverage")
    constant = wishes.take("CalibMovingAverageConstant")
    percentile = wishes.take("CalibPercentile")
    if name == "MinMax":
        name = "MovingAverage" if moving else "NOCLIPPING"
        if moving and constant is not None:
            wishes.has_no(f"CalibMovingAverageConstant={constant!r}", "the mean of all samples' extremes is taken")
    wishes.config["activation_threshold_method"] = name
    if name == "Percentile" and percentile is not None:
        wishes.config["percentile"] = percentile


def _choose_nodes(
    wishes: _Wishes, model: Any, types: Optional[Iterable[str]], names: Optional[Iterable[str]], excluded: Optional[Iterable[str]]
) -> list[dict[str, Any]]:
    """Overrides for what is to be quantized, and for what is not."""
    types, names, excluded = list(types or []), list(names or []), list(excluded or [])
    no_outputs = list(wishes.take("OpTypesToExcludeOutputQuantization") or [])
    constants_only = wishes.take("MatMulConstBOnly")
    if not (types or names or excluded or no_outputs or constants_only):
        return []
    opened = open_model(model)
    as_read = {one["op"] for one in json.loads(_core.inspect(opened))["operators"]}
    everything = json.dumps({"overrides": [{"name": "*"}]})
    layers = {name: kind for name, kind, *_ in _core.layers(opened, everything, 0)}
    if "MatMul" in types and "Gemm" not in as_read:
        types.append("Gemm")  # a MatMul and the Add of its bias become one
    overrides: list[dict[str, Any]] = []
    if names:
        chosen = [name for name in layers if name in names and (not types or layers[name] in types)]
        overrides += [{"name": name, "annotate": True} for name in chosen]
    elif types:
        overrides += [{"type": kind, "annotate": True} for kind in types if kind in layers.values()]
    if (names or types) and not overrides:
        message = "The model has no operator of op_types_to_quantize and nodes_to_quantize."
        there = ", ".join(sorted(set(layers.values())))
        raise Error("invalid_config", message, "nodes_to_quantize" if names else "op_types_to_quantize", f"It has {there}.")
    for name in excluded:
        if name in layers:
            overrides.append({"name": name, "config": _WEIGHTS_IN_FLOAT if layers[name] in _KERNELS else _IN_FLOAT})
    overrides += [{"type": kind, "config": _IN_FLOAT} for kind in no_outputs if kind in layers.values()]
    if constants_only and "MatMul" in layers.values():
        without = {"layer": "MatMul", "all": [{"attr": "has_kernel", "op": "Eq", "value": 0}]}
        overrides.append({"filter": without, "config": _IN_FLOAT})
    unknown = [name for name in [*names, *excluded] if name not in layers]
    if unknown:
        said = ", ".join(f'"{name}"' for name in unknown[:5]) + (f" and {len(unknown) - 5} more" if len(unknown) > 5 else "")
        wishes.has_no(f"nodes {said}", "they are not in the model, or are part of the operators around them")
    return overrides


def _samples_of(reader: Any, stride: Optional[int]) -> Iterator[Mapping[str, Any]]:
    """What a reader gives; one that was read before is rewound, where it can be."""

    def given() -> Iterator[Mapping[str, Any]]:
        while True:
            sample = reader.get_next()
            if sample is None:
                return
            yield sample

    def all_given() -> Iterator[Mapping[str, Any]]:
        if not stride:
            yield from given()
            return
        for start in range(0, len(reader), stride):
            reader.set_range(start_index=start, end_index=start + stride)
            yield from given()

    empty = True
    for sample in all_given():
        empty = False
        yield sample
    if empty and callable(getattr(reader, "rewind", None)):
        reader.rewind()
        for sample in all_given():
            empty = False
            yield sample
    if empty:
        message = f"The {type(reader).__name__} gives no samples."
        raise Error("invalid_samples", message, "calibration_data_reader", "One that was read before starts anew when it is made anew.")


def _cached(path: Optional[Path_]) -> Optional[Statistics]:
    if path is None or not Path(path).exists():
        return None
    statistics = Statistics.load(path)
    if statistics.bytes.lstrip()[:1] == b"{":
        message = "This is a calibration cache of onnxruntime: the ranges of tensors, and not what the samples came to."
        raise Error("invalid_samples", message, str(path), "Give another path; it is written there.")
    return statistics


def quantize_static(
    model_input: Any,
    model_output: Path_,
    calibration_data_reader: Any = None,
    quant_format: Any = QuantFormat.QDQ,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False,
    reduce_range: bool = False,
    activation_type: Any = QuantType.QInt8,
    weight_type: Any = QuantType.QInt8,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    calibrate_method: Any = CalibrationMethod.MinMax,
    calibration_providers: Optional[Sequence[str]] = None,
    extra_options: Optional[Mapping[str, Any]] = None,
    calibration_cache_path: Optional[Path_] = None,
) -> Result:
    """Writes a quantized model, and returns what `tersor.quantize()` does: its report says how exact the file is.

    Ranges, types and which operators stay in float are as the arguments say; biases are corrected, channels equalized and
    weights rounded as by default. `calibration_cache_path` keeps statistics of Tersor (.tstats).
    """
    wishes = _Wishes(extra_options)
    _choose_types(wishes, _name_of(activation_type), _name_of(weight_type), per_channel, reduce_range)
    _choose_thresholds(wishes, calibrate_method)
    overrides = _choose_nodes(wishes, model_input, op_types_to_quantize, nodes_to_quantize, nodes_to_exclude)
    if calibration_providers and list(calibration_providers) != ["CPUExecutionProvider"]:
        wishes.has_no(f"calibration_providers={list(calibration_providers)!r}", "samples run on the processor")
    stride = wishes.take("CalibStridedMinMax")
    if wishes.extra.get("SmoothQuant"):
        wishes.take("SmoothQuantAlpha")
    wishes.take("SmoothQuantFolding")
    wishes.name_what_is_left()
    wishes.warn("quantize_static")
    statistics = _cached(calibration_cache_path)
    if statistics is None and calibration_data_reader is None:
        message = "There is no calibration_data_reader, and no calibration_cache_path that exists."
        raise Error("invalid_samples", message, "calibration_data_reader", "Give one.")
    samples = None
    if calibration_data_reader is not None:
        samples = _samples_of(calibration_data_reader, stride)
    else:
        wishes.config.update(holdout=False, weights_bias_correction_method="ANALYTIC")
    made = _quantize(
        model_input,
        samples,
        platform=wishes.platform,
        statistics=statistics,
        overrides=overrides or None,
        allow_larger_file=True,
        format="qoperator" if _name_of(quant_format) == "QOperator" else "onnx",
        **wishes.config,
    )
    verdict = made.report["verdict"]
    if verdict and verdict["usability"] == "not usable":
        warnings.warn(f"The file is not usable: {verdict['reason']}", stacklevel=outside())
    convert(made.bytes, model_output, external=True) if use_external_data_format else made.save(model_output)
    if statistics is None and calibration_cache_path is not None:
        made.statistics.save(calibration_cache_path)
    return made


def quantize_dynamic(
    model_input: Any,
    model_output: Path_,
    op_types_to_quantize: Optional[Sequence[str]] = None,
    per_channel: bool = False,
    reduce_range: bool = False,
    weight_type: Any = QuantType.QInt8,
    nodes_to_quantize: Optional[Sequence[str]] = None,
    nodes_to_exclude: Optional[Sequence[str]] = None,
    use_external_data_format: bool = False,
    extra_options: Optional[Mapping[str, Any]] = None,
) -> Result:
    """Writes a model whose weights are integers, without samples. They are restored once, when the file is opened, and
    the arithmetic is the float model's: activations are not rounded, so that the file is more exact, and as quick as the
    float model. For integer arithmetic take `quantize_static()`."""
    wishes = _Wishes(extra_options)
    weight = _name_of(weight_type)
    is_symmetric = wishes.take("WeightSymmetric")
    if is_symmetric is None:
        is_symmetric = not weight.startswith("QU")
    wishes.platform = "weight-only-int4" if "Int4" in weight else "weight-only-int8"
    if weight not in ("QInt8", "QUInt8", "QInt4", "QUInt4"):
        wishes.has_no(f"weight_type={weight}", "weights have 8 bits")
    if is_symmetric:
        wishes.config["weights_per_channel_threshold"] = bool(per_channel)
    else:
        wishes.config["weights_quantization_method"] = "UNIFORM"  # with a scale and a zero point for each channel
    wishes.has_no("activations in integers at run time", "the arithmetic stays float")
    if reduce_range:
        wishes.has_no("reduce_range=True", "float arithmetic cannot overflow, so weights have all their bits")
    for name in ("ActivationSymmetric", "ActivationRestrictedAsymmetric", "MatMulConstBOnly"):
        wishes.take(name)  # of activations, which are float
    types = list(op_types_to_quantize or [])
    if "MatMul" in types:
        types.append("Gemm")  # as there, where Gemms become MatMuls first
    overrides = _choose_nodes(wishes, model_input, types, nodes_to_quantize, nodes_to_exclude)
    wishes.name_what_is_left()
    wishes.warn("quantize_dynamic")
    made = _quantize(model_input, platform=wishes.platform, overrides=overrides or None, allow_larger_file=True, **wishes.config)
    convert(made.bytes, model_output, external=True) if use_external_data_format else made.save(model_output)
    return made


def quantize(model_input: Any, model_output: Path_, quant_config: Any) -> Result:
    """`quantize_static()` or `quantize_dynamic()`, by the class of the configuration."""
    arguments = dict(vars(quant_config)) if hasattr(quant_config, "__dict__") else {}
    if hasattr(quant_config, "calibration_data_reader"):
        return quantize_static(model_input, model_output, **arguments)
    if hasattr(quant_config, "weight_type"):
        arguments.pop("activation_type", None)
        return quantize_dynamic(model_input, model_output, **arguments)
    message = f"A {type(quant_config).__name__} is no StaticQuantConfig and no DynamicQuantConfig."
    raise Error("invalid_config", message, "quant_config", "Few bits: tersor.quantize(platform='ort-matmul-nbits').")
