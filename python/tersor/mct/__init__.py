# SPDX-License-Identifier: Apache-2.0
"""The names of Sony's model compression toolkit, as its documents have them, over the core of Tersor.

    from tersor import mct
    config = mct.QuantizationConfig(activation_n_bits=6, weights_n_bits=7)
    result = tersor.quantize("model.onnx", samples, config=config)

A class has the document's arguments in the document's order, with the document's defaults; a dictionary in its place
changes the defaults of Tersor. Layers are classes of Keras or PyTorch, or their names, and stand for the ONNX operators
that they are exported to (docs/requirements.md). What is wrong is a `tersor.Error`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from .._described import Described, Word
from .._given import json_of_core
from .._layers import onnx_framework_info
from . import constants, target_platform, trainable_infrastructure
from .constants import MIN_THRESHOLD
from .target_platform import QuantizationMethod, TargetPlatformCapabilities
from .target_platform_capabilities import target_platform as _newer_place  # noqa: F401

__all__ = [
    "DefaultDict",
    "FrameworkInfo",
    "QuantizationConfig",
    "QuantizationErrorMethod",
    "QuantizationMethod",
    "ThresholdSelectionMethod",
    "constants",
    "get_target_platform_capabilities",
    "target_platform",
    "trainable_infrastructure",
]


class ThresholdSelectionMethod(Word):
    """By what the range of a tensor is chosen."""

    NOCLIPPING = "NOCLIPPING"
    MSE = "MSE"
    MAE = "MAE"
    KL = "KL"
    Lp = "Lp"
    LP = "Lp"  # the newer documents' spelling
    HMSE = "HMSE"


QuantizationErrorMethod = ThresholdSelectionMethod


@dataclass(eq=False, repr=False)
class QuantizationConfig(Described):
    """The document's configuration: with `config=QuantizationConfig(...)` what it does not name is as MCT has it too (the
    preset "requirements"), and the platform is "any" where none is named. Beside another platform, bits, methods, per
    channel and whether to quantize are the platform's where they hold the document's default."""

    activation_threshold_method: ThresholdSelectionMethod = ThresholdSelectionMethod.MSE
    weights_threshold_method: ThresholdSelectionMethod = ThresholdSelectionMethod.MSE
    activation_quantization_method: QuantizationMethod = QuantizationMethod.SYMMETRIC_UNIFORM
    weights_quantization_method: QuantizationMethod = QuantizationMethod.SYMMETRIC_UNIFORM
    activation_n_bits: int = 8
    weights_n_bits: int = 8
    relu_unbound_correction: bool = False
    weights_bias_correction: bool = True
    weights_per_channel_threshold: bool = True
    input_scaling: bool = False
    enable_weights_quantization: bool = True
    enable_activation_quantization: bool = True
    shift_negative_activation_correction: bool = False
    activation_channel_equalization: bool = False
    z_threshold: float = math.inf
    min_threshold: float = MIN_THRESHOLD
    l_p_value: int = 2
    shift_negative_ratio: float = 0.25
    shift_negative_threshold_recalculation: bool = False

    _reads = {
        "activation_threshold_method": ThresholdSelectionMethod,
        "weights_threshold_method": ThresholdSelectionMethod,
        "activation_quantization_method": QuantizationMethod,
        "weights_quantization_method": QuantizationMethod,
    }

    def __post_init__(self) -> None:
        if self.z_threshold is None:  # JSON's infinity
            self.z_threshold = math.inf
        json_of_core("QuantizationConfig", self)


class DefaultDict(dict):
    """The document's dictionary: what is not in it has a default."""

    def __init__(self, known_dict: Mapping[Any, Any], default_value: Any = None) -> None:
        super().__init__(known_dict)
        self.default_value = default_value

    def get(self, key: Any) -> Any:
        return self[key]

    def __missing__(self, _: Any) -> Any:
        return self.default_value


_FRAMEWORK_INFO = (
    "kernel_ops",
    "activation_ops",
    "no_quantization_ops",
    "activation_quantizer_mapping",
    "weights_quantizer_mapping",
    "kernel_channels_mapping",
    "activation_min_max_mapping",
    "layer_min_max_mapping",
)
_OLDER = tuple(name for name in _FRAMEWORK_INFO if not name.endswith("_quantizer_mapping"))


class FrameworkInfo(Described):
    """What is known of layers: the document's eight arguments, or the six of its examples, which are without the two
    quantizer mappings. A list or mapping that is given replaces ours as a whole."""

    __signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in _FRAMEWORK_INFO]
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) + len(kwargs) == len(_OLDER) and not any(name.endswith("_quantizer_mapping") for name in kwargs):
            names = {**dict(zip(_OLDER, args)), **kwargs}
            args, kwargs = (), {**names, "activation_quantizer_mapping": {}, "weights_quantizer_mapping": {}}
        for name, value in self.__signature__.bind(*args, **kwargs).arguments.items():
            setattr(self, name, value)
        json_of_core("FrameworkInfo", self)

    def get_config(self) -> dict[str, Any]:
        """By ONNX operators. A quantizer mapping that is empty says nothing."""
        given = {name: getattr(self, name) for name in _FRAMEWORK_INFO}
        return {k: v for k, v in onnx_framework_info(given).items() if v or not k.endswith("_quantizer_mapping")}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> FrameworkInfo:
        return cls(**{name: config.get(name, {}) for name in _FRAMEWORK_INFO})


def get_target_platform_capabilities(
    fw_name: str, target_platform_name: str, target_platform_version: Optional[str] = None
) -> TargetPlatformCapabilities:
    """A built-in platform (`tersor.platforms()`) of a name such as "imx500", "tflite" or "qnnpack"; the framework is ONNX,
    whatever fw_name says. "default" is the platform that is taken where none is named."""
    name = "ort-cpu" if target_platform_name == "default" else target_platform_name
    label = name if target_platform_version is None else f"{name}@{target_platform_version}"
    return TargetPlatformCapabilities.from_config(label)
