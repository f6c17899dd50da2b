# SPDX-License-Identifier: Apache-2.0
"""Overrides with layers of the documents and with QuantizeConfigs that are objects, as the data that the core takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy

from . import _core
from ._described import Described, plain
from ._error import Error
from ._layers import onnx_filters, onnx_layers

_METHODS = (
    "get_weights_and_quantizers",
    "get_activations_and_quantizers",
    "set_quantize_weights",
    "set_quantize_activations",
    "get_output_quantizers",
    "get_config",
)


class LayerWeight:
    """A weight of a layer, "kernel" or "bias", with its float values; with its quantizer once it is quantized."""

    def __init__(self, name: str, value: numpy.ndarray, quantizer: Any = None) -> None:
        self.name, self.value, self.quantizer = name, value, quantizer

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    def numpy(self) -> numpy.ndarray:
        return self.value


class LayerActivation:
    """The activation function of a layer: "relu", "clip", ...; "linear" where none follows."""

    def __init__(self, name: str, quantizer: Any = None) -> None:
        self.name, self.quantizer = name, quantizer


class Layer:
    """An operator as a QuantizeConfig sees it, with the Add of its bias and the activation that alone reads its result."""

    def __init__(self, name: str, type: str, activation: str, outputs: int, weights: list[LayerWeight]) -> None:
        self.name, self.type, self.outputs = name, type, outputs
        self.weights = weights
        self.activation = LayerActivation(activation)

    def _index(self, name: str) -> int:
        for k, weight in enumerate(self.weights):
            if weight.name == name:
                return k
        message = f'The layer "{self.name}" ({self.type}) has no constant weight called "{name}".'
        raise Error("invalid_config", message, "quantize_config")

    @property
    def kernel(self) -> LayerWeight:
        """Reading a weight that the layer does not have is an error."""
        return self.weights[self._index("kernel")]

    @kernel.setter
    def kernel(self, weight: LayerWeight) -> None:
        self.weights[self._index("kernel")] = weight

    @property
    def bias(self) -> LayerWeight:
        return self.weights[self._index("bias")]

    @bias.setter
    def bias(self, weight: LayerWeight) -> None:
        self.weights[self._index("bias")] = weight


def overrides_as_data(model: _core.OpenModel, settings: dict[str, Any], as_json: Any) -> Any:
    """The settings' overrides as the core reads them."""
    given = settings["overrides"]
    if given is None or isinstance(given, str):
        return given

    def matches(selector: Mapping[str, Any]) -> bool:
        try:
            return bool(_core.layers(model, as_json({**settings, "overrides": [selector]}, "settings"), 0))
        except Error:
            return False

    overrides: list[Any] = []
    for one in [given] if isinstance(given, Mapping) else given:
        overrides += _by_operator(one, matches) if isinstance(one, Mapping) else [one]
    objects = [isinstance(one, Mapping) and _is_object(one.get("quantize_config")) for one in overrides]
    if not any(objects):
        return overrides
    bare = [{k: v for k, v in one.items() if k != "quantize_config"} for one in overrides]
    text = as_json({**settings, "overrides": bare}, "settings")
    asked = enumerate(zip(overrides, objects))
    return [_asked(model, text, which, one) if is_object else one for which, (one, is_object) in asked]


def _by_operator(override: Mapping[str, Any], matches: Callable[[Mapping[str, Any]], bool]) -> list[Any]:
    """One override for each operator that its layer stands for, of those that the prepared model has."""
    key = "filter" if "filter" in override else "type"
    layer = override.get(key)
    if layer is None or isinstance(layer, Mapping):
        return [override]
    if isinstance(layer, Described):
        found = layer.filters()
    else:
        found = [onnx_filters(one, [], {})[0] if isinstance(one, str) else one for one in onnx_layers(layer)]
    selectors = [{"type": one["layer"]} if set(one) == {"layer"} else {"filter": one} for one in found]
    if len(selectors) > 1:
        selectors = [one for one in selectors if matches(one)] or selectors[:1]
    rest = {name: value for name, value in override.items() if name != key}
    return [{**one, **rest} for one in selectors]


def _is_object(config: Any) -> bool:
    return not isinstance(config, (str, Mapping)) and any(callable(getattr(config, name, None)) for name in _METHODS)


def _asked(model: _core.OpenModel, settings: str, which: int, override: Mapping[str, Any]) -> Any:
    config, place = override["quantize_config"], f"overrides[{which}].quantize_config"
    if isinstance(config, type):
        message = f"Here stands the class {config.__name__}, and not a value of it."
        raise Error("invalid_config", message, place, f"Write {config.__name__}().")
    missing = [name for name in _METHODS if not callable(getattr(config, name, None))]
    if missing:
        message = f"A QuantizeConfig has six methods; here there is no {', no '.join(missing)}."
        raise Error("invalid_config", message, place)
    said = {}
    for name, kind, activation, outputs, weights in _core.layers(model, settings, which):
        arrays = [LayerWeight(one, numpy.frombuffer(data, "float32").reshape(shape)) for one, shape, data in weights]
        said[name] = _data_of(config, Layer(name, kind, activation, outputs, arrays), place)
    first: Optional[Any] = next(iter(said.values()), None)
    alike = all(one == first for one in said.values())
    data = first if first and alike else {"class_name": "ByLayerQuantizeConfig", "config": {"layers": said}}
    return {**override, "quantize_config": data}


def _data_of(config: Any, layer: Layer, place: str) -> dict[str, Any]:
    """What an object says of one layer."""

    def refuse(what: str) -> Error:
        message = f'The QuantizeConfig of "{layer.name}" ({layer.type}) {what}'
        return Error("invalid_config", message, place)

    weights: dict[str, Any] = {}
    put_back = []
    for weight, quantizer in config.get_weights_and_quantizers(layer):
        if not any(weight is one for one in layer.weights):
            raise refuse("names a weight that is not of the layer.")
        if weight.name in weights:
            raise refuse(f'names "{weight.name}" twice.')
        weights[weight.name] = plain(quantizer)
        put_back.append(LayerWeight(weight.name, weight.value, quantizer))
    config.set_quantize_weights(layer, put_back)
    for weight in put_back:
        if not any(weight is one for one in layer.weights):
            raise refuse(f'leaves the weight "{weight.name}" as it was: set_quantize_weights does not put it back.')

    wanted = config.get_activations_and_quantizers(layer)
    if len(wanted) > 1:
        raise refuse("names several activations; a layer has one.")
    if wanted and wanted[0][0] is not layer.activation:
        raise refuse("names an activation that is not of the layer.")
    quantized = [LayerActivation(activation.name, quantizer) for activation, quantizer in wanted]
    config.set_quantize_activations(layer, quantized)
    if quantized and layer.activation is not quantized[0]:
        raise refuse("leaves the activation as it was: set_quantize_activations does not put it back.")
    activation = plain(wanted[0][1]) if wanted else None
    outputs = plain(config.get_output_quantizers(layer))
    return {
        "class_name": "LayerQuantizeConfig",
        "config": {"weights": weights, "activation": activation, "outputs": outputs},
    }
