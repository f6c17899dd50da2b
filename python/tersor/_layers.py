# SPDX-License-Identifier: Apache-2.0
"""Layers of Keras and PyTorch, as the requirement documents name them, as the ONNX operators that they are exported to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._described import plain
from ._error import Error

DEPTHWISE = {"layer": "Conv", "kwargs": {"depthwise": 1}}
DENSE = {"layer": "MatMul", "kwargs": {"has_kernel": 1}}
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

# Names that ONNX has no operator of, Keras' first; what it has stands for itself.
_LAYERS: dict[str, tuple[Any, ...]] = {
    **{name: ("Conv",) for name in ("Conv1D", "Conv2D", "Conv3D", "Conv1d", "Conv2d", "Conv3d")},
    "DepthwiseConv2D": (DEPTHWISE,),
    "SeparableConv2D": ("Conv",),
    **{name: ("ConvTranspose",) for name in ("Conv2DTranspose", "ConvTranspose1d", "ConvTranspose2d")},
    **{name: ("Gemm", DENSE) for name in ("Dense", "Linear")},
    "Embedding": ("Gather",),
    "Activation": tuple(dict.fromkeys(ACTIVATIONS.values())),
    "ReLU": ("Relu",),
    **{name: ({"layer": "Clip", "kwargs": {"min": 0, "max": 6}},) for name in ("ReLU6", "relu6")},
    "LeakyReLU": ("LeakyRelu",),
    "PReLU": ("PRelu",),
    "ELU": ("Elu",),
    "GELU": ("Gelu",),
    "SiLU": ("Swish",),
    **{name: ("HardSwish",) for name in ("Hardswish", "hard_swish")},
    "Hardsigmoid": ("HardSigmoid",),
    "BatchNorm2d": ("BatchNormalization",),
    **{name: ("Concat",) for name in ("Concatenate", "concat", "concatenate", "cat")},
    "Multiply": ("Mul",),
    "Subtract": ("Sub",),
    "Permute": ("Transpose",),
    "ZeroPadding2D": ("Pad",),
    "UpSampling2D": ("Resize",),
    **{name: ("MaxPool",) for name in ("MaxPooling2D", "MaxPool2D", "MaxPool2d")},
    **{name: ("AveragePool",) for name in ("AveragePooling2D", "AvgPool2D", "AvgPool2d")},
    **{name: ("GlobalAveragePool",) for name in ("GlobalAveragePooling2D", "AdaptiveAvgPool2d")},
    "GlobalMaxPooling2D": ("GlobalMaxPool",),
    **{name: (name.capitalize(),) for name in ("add", "reshape", "transpose", "flatten", "softmax", "relu", "sigmoid")},
}

# Where the axes of a kernel lie in the weight of the ONNX operator: Keras has rows, columns, inputs, outputs.
_AXES: dict[str, tuple[int, ...]] = {
    "Conv1D": (2, 1, 0),
    "Conv2D": (2, 3, 1, 0),
    "Conv3D": (2, 3, 4, 1, 0),
    "Conv2DTranspose": (2, 3, 1, 0),
    "Linear": (1, 0),
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
    name = name_of(layer)
    return list(_LAYERS.get(name, (name,)))


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


def onnx_axes(layer: Any, axes: Any) -> list[Any]:
    """(output, input) of a layer's kernel as axes of the ONNX weight: (3, 2) of Conv2D are [0, 1]."""
    name = name_of(layer)
    if name == "DepthwiseConv2D":  # of rows, columns, inputs, multiplier the third has all outputs
        return [0, 1]
    order = _AXES.get(name)
    if order is None:
        return list(axes)
    for axis in axes:
        if axis is not None and not -len(order) <= axis < len(order):
            message = f"The kernel of {name} has {len(order)} axes, and there is none with number {axis}."
            raise Error("invalid_config", message, f"kernel_channels_mapping.{name}")
    return [None if axis is None else order[axis] for axis in axes]


def onnx_filters(name: str, conditions: list[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """A layer with conditions as filters of the core. Keras' ReLU with a max_value is a Clip, with a negative_slope a
    LeakyRelu, and an Activation the operator of its function."""
    kwargs = dict(kwargs)
    renamed = {"groups": "group"}
    layers = list(_LAYERS.get(name, (name,)))
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
    made = {"layer": base["layer"], "all": conditions, "kwargs": {**base.get("kwargs", {}), **kwargs}}
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
            made[name] = {one: onnx_axes(layer, axes) for layer, axes in value.items() for one in onnx_types(layer)}
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
