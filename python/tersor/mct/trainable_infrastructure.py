# SPDX-License-Identifier: Apache-2.0
"""The module of the same name of the requirement documents: configurations of trainable quantizers, and their base class.

Which quantizers `quantize(gradient_ptq_config=...)` trains with is the core's to say; these values describe them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from .._described import Described, Word, list_of, plain
from .._error import Error
from .._given import json_of_core
from .target_platform import QuantizationMethod

__all__ = [
    "BaseKerasTrainableQuantizer",
    "BasePytorchTrainableQuantizer",
    "BaseTrainableQuantizer",
    "QuantizationTarget",
    "TrainableQuantizerActivationConfig",
    "TrainableQuantizerCandidateConfig",
    "TrainableQuantizerWeightsConfig",
    "VariableGroup",
    "mark_quantizer",
]


class QuantizationTarget(Word):
    Weights = "Weights"
    Activation = "Activation"


class VariableGroup(Word):
    """Variables that stand for weights, and those of the quantizer."""

    WEIGHTS = "WEIGHTS"
    QPARAMS = "QPARAMS"


@dataclass(eq=False, repr=False)
class TrainableQuantizerCandidateConfig(Described):
    n_bits: int
    quantization_params: Mapping[str, Any]


class _Checked(Described):
    def __post_init__(self) -> None:
        json_of_core(type(self).__name__, self)


@dataclass(eq=False, repr=False)
class TrainableQuantizerWeightsConfig(_Checked):
    """Of weights. The params' keys are in `constants`; a value is one number, or one for each channel."""

    weights_quantization_method: QuantizationMethod
    weights_n_bits: int
    weights_quantization_params: Mapping[str, Any]
    enable_weights_quantization: bool
    weights_channels_axis: int
    weights_per_channel_threshold: bool
    min_threshold: float
    weights_quantization_candidates: Optional[list[TrainableQuantizerCandidateConfig]] = None

    _reads = {
        "weights_quantization_method": QuantizationMethod,
        "weights_quantization_candidates": list_of(TrainableQuantizerCandidateConfig.from_config),
    }


@dataclass(eq=False, repr=False)
class TrainableQuantizerActivationConfig(_Checked):
    """Of an activation."""

    activation_quantization_method: QuantizationMethod
    activation_n_bits: int
    activation_quantization_params: Mapping[str, Any]
    enable_activation_quantization: bool
    min_threshold: float
    activation_quantization_candidates: Optional[list[TrainableQuantizerCandidateConfig]] = None

    _reads = {
        "activation_quantization_method": QuantizationMethod,
        "activation_quantization_candidates": list_of(TrainableQuantizerCandidateConfig.from_config),
    }


TrainableQuantizerConfig = Union[TrainableQuantizerWeightsConfig, TrainableQuantizerActivationConfig]


def mark_quantizer(
    quantization_target: QuantizationTarget,
    quantization_method: Sequence[QuantizationMethod],
    identifier: Any = None,
) -> Callable[[type], type]:
    """Says of a class of trainable quantizers what it is for."""

    def mark(cls: type) -> type:
        cls.quantization_target = quantization_target
        cls.quantization_method = quantization_method
        cls.identifier = identifier
        return cls

    return mark


class BaseTrainableQuantizer(ABC):
    """Base of quantizers of one's own: checks the mark of the class and the configuration, and is written and read."""

    def __init__(self, quantization_config: TrainableQuantizerConfig) -> None:
        self.quantization_config = quantization_config
        name, target = type(self).__name__, getattr(self, "quantization_target", None)
        methods = getattr(self, "quantization_method", None)
        if target is None or not methods or getattr(self, "identifier", None) is None:
            hint = "@mark_quantizer(quantization_target=..., quantization_method=[...], identifier=...)"
            raise Error("invalid_config", f"{name} is not marked with what it is for.", name, hint)
        is_weights = target == QuantizationTarget.Weights
        wanted = TrainableQuantizerWeightsConfig if is_weights else TrainableQuantizerActivationConfig
        if not isinstance(quantization_config, wanted):
            message = f"{name} takes a {wanted.__name__}, and not a {type(quantization_config).__name__}."
            raise Error("invalid_config", message, "quantization_config")
        kind = "weights" if is_weights else "activation"
        method = getattr(quantization_config, f"{kind}_quantization_method")
        if method not in methods:
            known = ", ".join(QuantizationMethod(one) for one in methods)
            message = f"{name} does not quantize by {QuantizationMethod(method).value}, but by {known}."
            raise Error("invalid_config", message, f"quantization_config.{kind}_quantization_method")

    def activation_quantization(self) -> bool:
        return isinstance(self.quantization_config, TrainableQuantizerActivationConfig)

    def weights_quantization(self) -> bool:
        return isinstance(self.quantization_config, TrainableQuantizerWeightsConfig)

    def get_config(self) -> dict[str, Any]:
        return {
            "quantization_config": plain(self.quantization_config),
            "is_activations": self.activation_quantization(),
            "is_weights": self.weights_quantization(),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        read = TrainableQuantizerWeightsConfig if config["is_weights"] else TrainableQuantizerActivationConfig
        return cls(read.from_config(config["quantization_config"]))

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_config() == other.get_config()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.quantization_config!r})"

    @abstractmethod
    def initialize_quantization(self, tensor_shape: Any, name: str, layer: Any) -> None:
        """Makes the variables for a tensor."""

    @abstractmethod
    def __call__(self, inputs: Any, training: bool) -> Any:
        """Quantized values."""

    @abstractmethod
    def convert2inferable(self) -> Any:
        """The quantizer of inference with what was learned."""


BaseKerasTrainableQuantizer = BaseTrainableQuantizer
BasePytorchTrainableQuantizer = BaseTrainableQuantizer
