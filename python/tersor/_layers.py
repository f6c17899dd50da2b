# SPDX-License-Identifier: Apache-2.0
"""Layers of Keras and PyTorch, as the requirement documents name them, as the ONNX operators that they are exported to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _core
from ._described import plain
from ._error import Error

ACTIVATIONS = {
    "relu": "Relu",
    "softmax": "Softmax",
    "log_softmax": "LogSoftmax",
    "sigmoid": "Sigmoid",
    "hard_sigmoid": "HardSigmoid",
    "tanh": "Tanh",
    "elu": "Elu",
    "selu": "Selu",
    "gelu": "Gelu",
    "swish": "Swish",
    "silu": "Swish",
    "leaky_relu": "LeakyRelu",
    "softplus": "Softplus",
    "softsign": "Softsign",
    "linear": "Identity",
}

def name_of(layer: Any) -> str:
    """A layer is a class or a function of a framework, or its name."""
    name = layer if isinstance(layer, str) else getattr(layer, "__name__", None)
    if isinstance(name, str):
        return name
    message = f"A {type(layer).__name__} is no layer."
    raise Error("invalid_argument", message, "layers", 'Give a class such as Conv2D, its name, or an operator: "Conv".')


def onnx_layers(layer: Any) -> list[Any]:
    """Types and filters of the core that a layer stands for; a name that is not known stands for itself."""
    filters = json.loads(_core.checked("LayerFilterParams", json.dumps(name_of(layer))))
    return [one if len(one) > 1 else one["layer"] for one in filters]


def onnx_types(layer: Any) -> list[str]:
    return [one if isinstance(one, str) else one["layer"] for one in onnx_layers(layer)]


_WEIGHTS = {
    "Conv": {"kernel": "W", "bias": "B"},
    "ConvTranspose": {"kernel": "W", "bias": "B"},
    "Gemm": {"kernel": "B", "bias": "C"},
    "MatMul": {"kernel": "B"},
}


def onnx_weights(layer: Any, attribute: str) -> dict[str, str]:
    """A weight of a layer as the input of each operator with weights that the layer stands for. Keras says "kernel",
    "depthwise_kernel" and "bias", PyTorch "weight" and "bias"; any other name is taken as ONNX's."""
    role = "kernel" if attribute == "weight" or attribute.endswith("kernel") else attribute
    made = {}
    for one in onnx_types(layer):
        name = _WEIGHTS.get(one, {}).get(role, None if role in ("kernel", "bias") else attribute)
        if name is not None:
            made[one] = name
    return made


def onnx_axes(layer: Any, axes: Any) -> dict[str, list[Any]]:
    """(output, input) of a layer's kernel as axes of the ONNX weights: (3, 2) of Conv2D are [0, 1] of Conv."""
    given = {"kernel_channels_mapping": {name_of(layer): plain(axes)}}
    return dict(json.loads(_core.checked("FrameworkInfo", json.dumps(given)))["kernel_channels_mapping"])


def onnx_filters(name: str, conditions: list[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """A layer with conditions as filters of the core. Keras' ReLU with a max_value is a Clip, with a negative_slope a
    LeakyRelu, and an Activation the operator of its function."""
    kwargs = dict(kwargs)
    renamed = {"groups": "group"}
    layers = onnx_layers(name)
    asked = {*kwargs, *_attributes(conditions)}
    if name == "Activation" and "activation" in asked:
        function = _activation(conditions, kwargs)
        layers = [ACTIVATIONS.get(function, function)]
    if name == "ReLU":
        if kwargs.get("negative_slope") == 0:
            del kwargs["negative_slope"]
        if kwargs.get("max_value", 0) is None:
            del kwargs["max_value"]
        elif "max_value" in asked:
            layers, renamed = [{"layer": "Clip", "kwargs": {"min": 0}}], {"max_value": "max"}
        elif "negative_slope" in kwargs:
            layers, renamed = ["LeakyRelu"], {"negative_slope": "alpha"}
    conditions = [_renamed(one, renamed) for one in conditions]
    kwargs = {renamed.get(key, key): value for key, value in kwargs.items()}
    return [_filter(one, conditions, kwargs) for one in layers]


def _attributes(conditions: list[Any]) -> list[str]:
    found: list[str] = []
    for one in conditions:
        found += [one["attr"]] if "attr" in one else _attributes(one.get("all") or one["any"])
    return found


def _activation(conditions: list[Any], kwargs: dict[str, Any]) -> str:
    """The function that an Activation is asked for; the question goes with the answer."""
    if "activation" in kwargs:
        return name_of(kwargs.pop("activation"))
    for one in conditions:
        if one.get("attr") == "activation" and one["op"] == "Eq":
            conditions.remove(one)
            return name_of(one["value"])
    message = "An Activation is told by the name of its function alone."
    raise Error("invalid_config", message, "filter", 'For example: LayerFilterParams(Activation, activation="relu")')


def _renamed(condition: Any, names: Mapping[str, str]) -> Any:
    if "attr" in condition:
        return {**condition, "attr": names.get(condition["attr"], condition["attr"])}
    return {key: [_renamed(one, names) for one in parts] for key, parts in condition.items()}


def _filter(layer: Any, conditions: list[Any], kwargs: Mapping[str, Any]) -> Any:
    base = {"layer": layer} if isinstance(layer, str) else layer
    own = {"all": [*base.get("all", []), *conditions], "kwargs": {**base.get("kwargs", {}), **kwargs}}
    made = {"layer": base["layer"], **own}
    return {key: value for key, value in made.items() if value}


def onnx_framework_info(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of FrameworkInfo with ONNX operators, and the axes of their weights, in the place of layers."""
    made: dict[str, Any] = {}
    for name, value in fields.items():
        if name.endswith("_ops") and isinstance(value, (list, tuple)):
            made[name] = list(dict.fromkeys(one for layer in value for one in onnx_types(layer)))
        elif name.endswith("_quantizer_mapping") and isinstance(value, Mapping):
            made[name] = {plain(method): _method_of(one, f"{name}.{plain(method)}") for method, one in value.items()}
        elif name == "kernel_channels_mapping" and isinstance(value, Mapping):
            made[name] = {one: its for layer, axes in value.items() for one, its in onnx_axes(layer, axes).items()}
        elif name == "layer_min_max_mapping" and isinstance(value, Mapping):
            made[name] = {one: plain(bounds) for layer, bounds in value.items() for one in onnx_types(layer)}
        elif name == "activation_min_max_mapping" and isinstance(value, Mapping):
            made[name] = {name_of(function): plain(bounds) for function, bounds in value.items()}
        else:
            made[name] = plain(value)
    return made


def _method_of(quantizer: Any, place: str) -> str:
    """A method, or a function of MCT that is called after one."""
    if not callable(quantizer):
        return plain(quantizer)
    name = getattr(quantizer, "__name__", type(quantizer).__name__)
    words = {
        "power_of_two": "POWER_OF_TWO",
        "symmetric": "SYMMETRIC",
        "uniform": "UNIFORM",
        "lut_pot": "LUT_POT_QUANTIZER",
        "lut_sym": "LUT_SYM_QUANTIZER",
    }
    for begin, word in words.items():
        if name.startswith(begin):
            return word
    message = f'An ONNX file holds values of known quantizers only, and the function "{name}" is none.'
    raise Error("invalid_config", message, place, f"Give a QuantizationMethod: {', '.join(words.values())}.")
