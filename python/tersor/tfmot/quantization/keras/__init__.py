# SPDX-License-Identifier: Apache-2.0
"""How a layer is quantized, by methods, and the overrides that say of which layers.

    overrides = [quantize_annotate_layer("dense", MyDenseQuantizeConfig())]
    tersor.quantize("model.onnx", samples, overrides=overrides)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Optional

from ...._overrides import Layer, LayerActivation, LayerWeight
from . import quantizers
from .quantizers import Quantizer

__all__ = [
    "Layer",
    "LayerActivation",
    "LayerWeight",
    "QuantizeConfig",
    "quantize_annotate_layer",
    "quantize_annotate_model",
    "quantizers",
]


class QuantizeConfig(ABC):
    """Derive from it to say how a layer is quantized. It is asked before a job, for each layer that its override chooses, and
    the recipe holds what it returned."""

    @abstractmethod
    def get_weights_and_quantizers(self, layer: Layer) -> list[tuple[LayerWeight, Quantizer]]:
        """The weights to quantize; those left out stay float."""

    @abstractmethod
    def get_activations_and_quantizers(self, layer: Layer) -> list[tuple[LayerActivation, Quantizer]]:
        """The layer's activation, or none."""

    @abstractmethod
    def set_quantize_weights(self, layer: Layer, quantize_weights: list[LayerWeight]) -> None:
        """Puts what the getter gave, quantized and in its order, into the layer."""

    @abstractmethod
    def set_quantize_activations(self, layer: Layer, quantize_activations: list[LayerActivation]) -> None:
        """The same of the activation."""

    @abstractmethod
    def get_output_quantizers(self, layer: Layer) -> list[Quantizer]:
        """At most one for each output; none: outputs are not quantized."""

    @abstractmethod
    def get_config(self) -> dict[str, Any]:
        """What makes the same object again."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        return cls(**config)


def quantize_annotate_layer(to_annotate: Any, quantize_config: Optional[QuantizeConfig] = None) -> dict[str, Any]:
    """An override for the layers of a name (a pattern where it holds * or ?), of a class, or of a LayerFilterParams. As soon
    as one layer is annotated, those that are not stay float."""
    selector = {"name" if isinstance(to_annotate, str) else "filter": to_annotate}
    return {**selector, "annotate": True, **({"quantize_config": quantize_config} if quantize_config else {})}


def quantize_annotate_model(to_annotate: Any = None) -> list[dict[str, Any]]:
    """Overrides that annotate every layer, of whatever model."""
    return [quantize_annotate_layer("*")]
