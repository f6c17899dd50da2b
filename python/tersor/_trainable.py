# SPDX-License-Identifier: Apache-2.0
"""Trainable quantizers of the caller's own, as the training of the core asks them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy

from ._described import plain
from ._error import Error
from ._overrides import Layer, LayerWeight
from .mct.trainable_infrastructure import (
    BaseTrainableQuantizer,
    TrainableQuantizerActivationConfig,
    TrainableQuantizerWeightsConfig,
    Variable,
)

OwnClass = tuple[str, str, list[str], str, Callable[[str], "Adapter"]]


class Adapter:
    """One quantizer, whose values and variables come and go as bytes of float32. The core holds the variables. A weight has
    its shape; of an activation the values come one after another, as many as there are."""

    def __init__(self, kind: type, config: str) -> None:
        given = json.loads(config)
        self.of_weights = "weights_quantization_params" in given
        params = "weights_quantization_params" if self.of_weights else "activation_quantization_params"
        given[params] = {name: value for name, value in given[params].items() if value is not None}
        described = TrainableQuantizerWeightsConfig if self.of_weights else TrainableQuantizerActivationConfig
        self.quantizer = kind(described.from_config(given))
        self.shape: tuple[int, ...] = ()

    def _array(self, data: bytes) -> numpy.ndarray:
        return numpy.frombuffer(data, "float32").reshape(self.shape if self.of_weights else (-1,))

    def _bytes(self, value: Any, shape: tuple[int, ...], what: str) -> bytes:
        array = numpy.asarray(value, "float32")
        if array.shape != shape:
            message = f"{type(self.quantizer).__name__}.{what} gave the shape {array.shape} where {shape} is expected."
            raise Error("invalid_argument", message, what)
        return array.tobytes()

    def _take(self, variables: list[bytes]) -> list[Variable]:
        own = list(self.quantizer.quantizer_variables.values())
        for variable, data in zip(own, variables):
            variable.value = numpy.frombuffer(data, "float32").reshape(variable.value.shape).copy()
            variable.gradient = numpy.zeros_like(variable.value)
        return own

    def initialize(self, values: bytes, shape: list[int], name: str) -> list[tuple[str, str, bool, bytes]]:
        self.shape = tuple(shape)
        self.quantizer.quantizer_variables = {}
        weights = [LayerWeight("kernel", self._array(values))] if self.of_weights else []
        layer = Layer(name, "", "linear", 1, weights)
        self.quantizer.initialize_quantization(self.shape, name, layer)
        return [
            (label, plain(one.group), one.trainable, one.value.tobytes())
            for label, one in self.quantizer.quantizer_variables.items()
        ]

    def call(self, values: bytes, variables: list[bytes], training: bool) -> bytes:
        self._take(variables)
        given = self._array(values)
        return self._bytes(self.quantizer(given, training), given.shape, "__call__")

    def gradient(self, values: bytes, by_output: bytes, variables: list[bytes]) -> tuple[bytes, list[bytes]]:
        own = self._take(variables)
        given = self._array(values)
        by_input = self.quantizer.gradient(given, self._array(by_output))
        return (
            self._bytes(by_input, given.shape, "gradient"),
            [self._bytes(one.gradient, one.value.shape, "gradient") for one in own],
        )

    def inferable(self, variables: list[bytes]) -> str:
        self._take(variables)
        made = self.quantizer.convert2inferable()
        if not isinstance(made, Mapping):
            made = {"class_name": type(made).__name__, "config": made.get_config()}
        return json.dumps(plain(made))


def with_names(overrides: Any, classes: Iterable[type]) -> tuple[Any, list[OwnClass]]:
    """Overrides that name their trainable quantizers, and these classes as the core takes them; with `classes`, of which a
    recipe may name some."""
    own = list(classes)
    if isinstance(overrides, Mapping):
        overrides = [overrides]
    if isinstance(overrides, (list, tuple)):
        overrides = [_named(one, own, k) for k, one in enumerate(overrides)]
    return overrides, [_described(one) for one in dict.fromkeys(own)]


def _named(override: Any, own: list[type], which: int) -> Any:
    kind = override.get("trainable_quantizer") if isinstance(override, Mapping) else None
    if kind is None or isinstance(kind, str):
        return override
    if not isinstance(kind, type):
        message = f"Here stands a value of {type(kind).__name__}, where a class or its name is expected."
        raise Error("invalid_config", message, f"overrides[{which}].trainable_quantizer", f"Write {type(kind).__name__}.")
    own.append(kind)
    return {**override, "trainable_quantizer": kind.__name__}


def _described(kind: type) -> OwnClass:
    if not issubclass(kind, BaseTrainableQuantizer):
        message = f"{kind.__name__} is no trainable quantizer."
        raise Error("invalid_config", message, "trainable_quantizer", "Derive it from BaseTrainableQuantizer.")
    target = getattr(kind, "quantization_target", None)
    methods = getattr(kind, "quantization_method", None)
    identifier = getattr(kind, "identifier", None)
    if target is None or not methods or identifier is None:
        hint = "@mark_quantizer(quantization_target=..., quantization_method=[...], identifier=...)"
        raise Error("invalid_config", f"{kind.__name__} is not marked with what it is for.", kind.__name__, hint)
    words = [str(plain(one)) for one in methods]
    return kind.__name__, str(plain(target)), words, str(plain(identifier)), lambda config: Adapter(kind, config)
