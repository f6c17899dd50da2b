# SPDX-License-Identifier: Apache-2.0
"""The module of the same name of the requirement documents: configurations of trainable quantizers, and their base class.

`tune()` trains the weights of chosen layers with a class that derives from `BaseTrainableQuantizer`, or with one of the core's by
its name: `overrides=[{"name": "conv1", "trainable_quantizer": MyQuantizer}]`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy

from .._described import Described, Word, list_of, plain
from .._error import Error
from .._given import json_of_core
from .target_platform import QuantizationMethod

__all__ = [
    "ActivationPOTInferableQuantizer",
    "ActivationSymmetricInferableQuantizer",
    "ActivationUniformInferableQuantizer",
    "BaseKerasTrainableQuantizer",
    "BasePytorchTrainableQuantizer",
    "BaseTrainableQuantizer",
    "QuantizationTarget",
    "TrainableQuantizerActivationConfig",
    "TrainableQuantizerCandidateConfig",
    "TrainableQuantizerWeightsConfig",
    "Variable",
    "VariableGroup",
    "WeightsPOTInferableQuantizer",
    "WeightsSymmetricInferableQuantizer",
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


class Variable:
    """What a training changes; `gradient` is of the loss by `value`, and as large."""

    def __init__(self, value: Any, group: VariableGroup, trainable: bool) -> None:
        self.value = numpy.array(value, "float32")
        self.gradient = numpy.zeros_like(self.value)
        self.group, self.trainable = group, trainable

    def __array__(self, dtype: Any = None, copy: Any = None) -> numpy.ndarray:
        return self.value if dtype is None else self.value.astype(dtype)


class BaseTrainableQuantizer(ABC):
    """Base of quantizers of one's own: checks the mark of the class and the configuration, holds the variables, and is written
    and read.

    A training asks `initialize_quantization` once, and then `__call__` and `gradient` at each step. What is learned are the
    weights and the variables; what a quantizer remembers beside them is not in a checkpoint.
    """

    def __init__(self, quantization_config: TrainableQuantizerConfig) -> None:
        self.quantization_config = quantization_config
        self.quantizer_variables: dict[str, Variable] = {}
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

    def add_quantizer_variable(
        self, name: str, variable: Any, group: VariableGroup = VariableGroup.WEIGHTS, trainable: bool = True
    ) -> Variable:
        """Of the group WEIGHTS it is trained in the place of the weight, at the rate of roundings; of QPARAMS beside it, relative
        to its own size."""
        self.quantizer_variables[name] = Variable(variable, VariableGroup(group), trainable)
        return self.quantizer_variables[name]

    def get_quantizer_variable(self, name: str) -> Variable:
        return self.quantizer_variables[name]

    def get_trainable_variables(self, group: VariableGroup) -> list[Variable]:
        return [one for one in self.quantizer_variables.values() if one.trainable and one.group == group]

    def gradient(self, inputs: numpy.ndarray, by_output: numpy.ndarray) -> numpy.ndarray:
        """Of a loss with the derivatives `by_output`: adds those by the variables to their `gradient` and returns those by the
        weight. Left as it is, rounding lets them pass, and variables learn nothing."""
        return by_output

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
        """Makes the variables for a tensor, whose values are `layer.kernel.value`."""

    @abstractmethod
    def __call__(self, inputs: Any, training: bool) -> Any:
        """Quantized values."""

    @abstractmethod
    def convert2inferable(self) -> Any:
        """The quantizer of inference with what was learned."""


BaseKerasTrainableQuantizer = BaseTrainableQuantizer
BasePytorchTrainableQuantizer = BaseTrainableQuantizer


def _single(value: Any) -> list[float]:
    return numpy.asarray(value, "float64").reshape(-1).tolist()


class _WeightsInferableQuantizer(Described):
    def __init__(
        self,
        num_bits: int,
        threshold: Any,
        per_channel: bool,
        channel_axis: Optional[int] = None,
        input_rank: Optional[int] = None,
        narrow_range: bool = False,
    ) -> None:
        self.num_bits, self.threshold = num_bits, _single(threshold)
        self.per_channel, self.channel_axis, self.input_rank = bool(per_channel), channel_axis, input_rank
        self.narrow_range = narrow_range


class WeightsSymmetricInferableQuantizer(_WeightsInferableQuantizer):
    """What a trainable quantizer becomes: mct_quantizers' class, with its arguments. narrow_range, which it does not have, leaves
    the lowest code out, as the params of the configuration may ask for."""


class WeightsPOTInferableQuantizer(_WeightsInferableQuantizer):
    """The same, each threshold being a power of two."""


class ActivationSymmetricInferableQuantizer(Described):
    """What a trainable quantizer of an activation becomes: mct_quantizers' class, with its arguments."""

    def __init__(self, num_bits: int, threshold: Any, signed: bool) -> None:
        self.num_bits, self.threshold, self.signed = num_bits, _single(threshold), bool(signed)


class ActivationPOTInferableQuantizer(ActivationSymmetricInferableQuantizer):
    """The same, the threshold being a power of two."""


class ActivationUniformInferableQuantizer(Described):
    """The same, from a lower to an upper end."""

    def __init__(self, num_bits: int, min_range: Any, max_range: Any) -> None:
        self.num_bits, self.min_range, self.max_range = num_bits, _single(min_range), _single(max_range)
