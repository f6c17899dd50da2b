# SPDX-License-Identifier: Apache-2.0
"""The module of the same name of the requirement documents: what hardware offers, set by set of operators.

    model = TargetPlatformModel(QuantizationConfigOptions([config]), name="mine")
    with model:
        conv, relu = OperatorsSet("Conv", options), OperatorsSet("Relu")
        Fusing([conv, relu])
    platform = TargetPlatformCapabilities(model, name="mine")
    with platform:
        OperationsSetToLayers("Relu", [ReLU])
    tersor.quantize("model.onnx", samples, platform=platform)
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional, Union

from .. import _core
from .._described import Described, Word, dict_of, list_of, plain
from .._error import Error
from .._given import as_json, json_of_core
from .._layers import name_of, onnx_filters, onnx_layers, onnx_weights
from .constants import FLOAT_BITWIDTH
from .target_platform_capabilities.constants import BIAS_ATTR, KERNEL_ATTR, POS_ATTR

__all__ = [
    "And",
    "AttributeFilter",
    "AttributeQuantizationConfig",
    "Contains",
    "Eq",
    "Fusing",
    "Greater",
    "GreaterEq",
    "LayerFilterParams",
    "NotEq",
    "OpQuantizationConfig",
    "OperationsSetToLayers",
    "OperationsToLayers",
    "OperatorSetConcat",
    "OperatorsSet",
    "Or",
    "QuantizationConfigOptions",
    "QuantizationMethod",
    "Signedness",
    "Smaller",
    "SmallerEq",
    "TargetPlatformCapabilities",
    "TargetPlatformModel",
]


class QuantizationMethod(Word):
    """How values become integers."""

    POWER_OF_TWO = "POWER_OF_TWO"
    LUT_POT_QUANTIZER = "LUT_POT_QUANTIZER"
    SYMMETRIC = "SYMMETRIC"
    UNIFORM = "UNIFORM"
    LUT_SYM_QUANTIZER = "LUT_SYM_QUANTIZER"
    SYMMETRIC_UNIFORM = "POWER_OF_TWO"  # the older documents' name


class Signedness(Word):
    AUTO = "AUTO"
    SIGNED = "SIGNED"
    UNSIGNED = "UNSIGNED"


def _refuse(message: str, place: str, hint: str = "") -> Error:
    return Error("invalid_platform", message, place, hint)


def _require(values: Any, of: Union[type, tuple[type, ...]], place: str) -> None:
    """What is written in another order than the documents' shows itself here."""
    for one in values:
        if not isinstance(one, of):
            names = " or ".join(kind.__name__ for kind in (of if isinstance(of, tuple) else (of,)))
            raise _refuse(f"Here stands a {names}, and not a {type(one).__name__}.", place)


@dataclass(eq=False, repr=False)
class AttributeQuantizationConfig(Described):
    """How a weight of an operator is quantized; by default not at all."""

    weights_quantization_method: QuantizationMethod = QuantizationMethod.POWER_OF_TWO
    weights_n_bits: int = FLOAT_BITWIDTH
    weights_per_channel_threshold: bool = False
    enable_weights_quantization: bool = False
    lut_values_bitwidth: Optional[int] = None

    _reads = {"weights_quantization_method": QuantizationMethod}


@dataclass(eq=False, repr=False)
class OpQuantizationConfig(Described):
    """How an operator is quantized."""

    default_weight_attr_config: AttributeQuantizationConfig
    attr_weights_configs_mapping: Mapping[str, AttributeQuantizationConfig]
    activation_quantization_method: QuantizationMethod
    activation_n_bits: int
    supported_input_activation_n_bits: Union[int, tuple[int, ...]]
    enable_activation_quantization: bool
    quantization_preserving: bool
    fixed_scale: Optional[float]
    fixed_zero_point: Optional[int]
    simd_size: int
    signedness: Union[bool, Signedness]

    _reads = {
        "default_weight_attr_config": AttributeQuantizationConfig.from_config,
        "attr_weights_configs_mapping": dict_of(AttributeQuantizationConfig.from_config),
        "activation_quantization_method": QuantizationMethod,
    }

    def __post_init__(self) -> None:
        _require([self.default_weight_attr_config], AttributeQuantizationConfig, "default_weight_attr_config")
        _require(
            self.attr_weights_configs_mapping.values(), AttributeQuantizationConfig, "attr_weights_configs_mapping"
        )
        if isinstance(self.supported_input_activation_n_bits, int):
            self.supported_input_activation_n_bits = (self.supported_input_activation_n_bits,)

    def clone_and_edit(self, attr_to_edit: Mapping[str, Mapping[str, Any]] = {}, **edits: Any) -> OpQuantizationConfig:
        """A copy with other members; attr_to_edit: members of the configurations of some attributes."""
        mapping = dict(edits.pop("attr_weights_configs_mapping", self.attr_weights_configs_mapping))
        for name, members in attr_to_edit.items():
            mapping[name] = mapping.get(name, self.default_weight_attr_config).clone_and_edit(**members)
        return super().clone_and_edit(attr_weights_configs_mapping=mapping, **edits)


@dataclass(eq=False, repr=False)
class QuantizationConfigOptions(Described):
    """The configurations that an operator may have; of several one is the base, which holds without mixed precision."""

    quantization_config_list: list[OpQuantizationConfig]
    base_config: Optional[OpQuantizationConfig] = None

    _reads = {
        "quantization_config_list": list_of(OpQuantizationConfig.from_config),
        "base_config": OpQuantizationConfig.from_config,
    }

    def __post_init__(self) -> None:
        place = "quantization_config_list"
        if not isinstance(self.quantization_config_list, (list, tuple)):
            raise _refuse("Here stands a list of OpQuantizationConfig.", place)
        _require(self.quantization_config_list, OpQuantizationConfig, place)
        if not self.quantization_config_list:
            raise _refuse("There is no configuration.", place, "Give at least one.")
        if self.base_config is None:
            if len(self.quantization_config_list) > 1:
                raise _refuse("Of several configurations one is the base.", "base_config", "Say which.")
            self.base_config = self.quantization_config_list[0]
        _require([self.base_config], OpQuantizationConfig, "base_config")
        if self.base_config not in self.quantization_config_list:
            raise _refuse("The base is not among the configurations.", "base_config", "Add it to the list.")

    def clone_and_edit(self, **edits: Any) -> QuantizationConfigOptions:
        """A copy whose every configuration has these members."""
        made = QuantizationConfigOptions(
            [one.clone_and_edit(**edits) for one in self.quantization_config_list],
            self.base_config.clone_and_edit(**edits),
        )
        made._more = self._more
        return made


_open_models: list[TargetPlatformModel] = []
_open_platforms: list[TargetPlatformCapabilities] = []


@dataclass(eq=False, repr=False)
class OperatorsSet(Described):
    """Operators under a label of the platform; without options they have the default ones. Made inside `with model:` it is
    of that model."""

    name: str
    qc_options: Optional[QuantizationConfigOptions] = None

    _reads = {"qc_options": QuantizationConfigOptions.from_config}

    def __post_init__(self) -> None:
        _require([self.name], str, "name")
        if self.qc_options is not None:
            _require([self.qc_options], QuantizationConfigOptions, "qc_options")
        if _open_models:
            _open_models[-1].operator_set.append(self)


class OperatorSetConcat(Described):
    """Sets that a fusing pattern treats alike: in a configuration, the list of their names."""

    def __init__(self, *opsets: OperatorsSet) -> None:
        _require(opsets, OperatorsSet, "opsets")
        if not opsets:
            raise _refuse("There is no set to join.", "opsets")
        self.opsets = list(opsets)

    @property
    def name(self) -> str:
        return "_".join(one.name for one in self.opsets)

    def get_config(self) -> Any:
        return [one.name for one in self.opsets]

    @classmethod
    def from_config(cls, config: Any) -> OperatorSetConcat:
        made = cls.__new__(cls)
        made.opsets = [_named(name) for name in ([config] if isinstance(config, str) else config)]
        return made

    def __repr__(self) -> str:
        return f"OperatorSetConcat({', '.join(map(repr, self.opsets))})"


def _named(name: str) -> OperatorsSet:
    """A set by its label, which is of no model."""
    made = OperatorsSet.__new__(OperatorsSet)
    made.name, made.qc_options = name, None
    return made


@dataclass(eq=False, repr=False)
class Fusing(Described):
    """A chain of sets that the platform computes as one; without a name it is called after them. Made inside `with model:`
    it is of that model."""

    operator_groups_list: list[Union[OperatorsSet, OperatorSetConcat]]
    name: Optional[str] = None

    _reads = {"operator_groups_list": list_of(OperatorSetConcat.from_config)}

    def __post_init__(self) -> None:
        place = "operator_groups_list"
        if not isinstance(self.operator_groups_list, (list, tuple)):
            raise _refuse("Here stands a list of sets.", place)
        _require(self.operator_groups_list, (OperatorsSet, OperatorSetConcat), place)
        if len(self.operator_groups_list) < 2:
            raise _refuse("A fusing joins at least two operators.", place)
        if self.name is None:
            self.name = "_".join(one.name for one in self.operator_groups_list)
        if _open_models:
            _open_models[-1].fusing_patterns.append(self)

    def get_config(self) -> dict[str, Any]:
        groups = [[one.name] if isinstance(one, OperatorsSet) else plain(one) for one in self.operator_groups_list]
        return {"operator_groups_list": groups, "name": self.name, **self._more}


@dataclass(eq=False, repr=False)
class TargetPlatformModel(Described):
    """The hardware: its default options, and the sets and fusings that are made inside `with model:`."""

    default_qco: QuantizationConfigOptions
    add_metadata: bool = False
    name: str = "default_tp_model"

    _beside = ("operator_set", "fusing_patterns")
    _reads = {
        "default_qco": QuantizationConfigOptions.from_config,
        "operator_set": list_of(OperatorsSet.from_config),
        "fusing_patterns": list_of(Fusing.from_config),
    }

    def __post_init__(self) -> None:
        _require([self.default_qco], QuantizationConfigOptions, "default_qco")
        self.operator_set: list[OperatorsSet] = []
        self.fusing_patterns: list[Fusing] = []

    def __enter__(self) -> TargetPlatformModel:
        _open_models.append(self)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _open_models.pop()
        names = [one.name for one in self.operator_set]
        for name in names:
            if kind is None and names.count(name) > 1:
                raise _refuse(f'There are several sets called "{name}".', "operator_set", "Each has a label of its own.")


class AttributeFilter(Described):
    """A condition on a layer's attribute; `&` and `|` join conditions."""

    def __init__(self, attr: str, value: Any) -> None:
        self.attr = attr
        self.value = value

    def get_config(self) -> dict[str, Any]:
        return {"attr": self.attr, "op": type(self).__name__, "value": plain(self.value)}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> AttributeFilter:
        for kind, key in ((And, "all"), (Or, "any")):
            if key in config:
                return kind(*[AttributeFilter.from_config(one) for one in config[key]])
        kinds = {kind.__name__: kind for kind in _comparisons}
        if config["op"] not in kinds:
            raise _refuse(f'There is no comparison "{config["op"]}".', "op", f"There are {', '.join(kinds)}.")
        return kinds[config["op"]](config["attr"], config["value"])

    def __and__(self, other: AttributeFilter) -> AttributeFilter:
        return And(self, other)

    def __or__(self, other: AttributeFilter) -> AttributeFilter:
        return Or(self, other)


class Eq(AttributeFilter):
    pass


class NotEq(AttributeFilter):
    pass


class Greater(AttributeFilter):
    pass


class GreaterEq(AttributeFilter):
    pass


class Smaller(AttributeFilter):
    pass


class SmallerEq(AttributeFilter):
    pass


class Contains(AttributeFilter):
    pass


_comparisons = (Eq, NotEq, Greater, GreaterEq, Smaller, SmallerEq, Contains)


class _Joined(AttributeFilter):
    def __init__(self, *parts: AttributeFilter) -> None:
        _require(parts, AttributeFilter, "parts")
        self.parts = parts

    def get_config(self) -> dict[str, Any]:
        return {"all" if isinstance(self, And) else "any": plain(self.parts)}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.parts))})"


class And(_Joined):
    pass


class Or(_Joined):
    pass


class LayerFilterParams(Described):
    """A layer with conditions on its attributes; keywords are what attributes equal. Attributes are those of the ONNX
    operator (docs/configuration.md)."""

    def __init__(self, layer: Any, *conditions: AttributeFilter, **kwargs: Any) -> None:
        _require(conditions, AttributeFilter, "conditions")
        self.layer = layer
        self.conditions = conditions
        self.kwargs = kwargs

    def filters(self) -> list[dict[str, Any]]:
        """As the core reads them, one for each ONNX operator that the layer stands for."""
        return onnx_filters(name_of(self.layer), [plain(one) for one in self.conditions], plain(self.kwargs))

    def get_config(self) -> dict[str, Any]:
        """As the core reads it where the layer is one ONNX operator."""
        found = self.filters()
        if len(found) == 1:
            return found[0]
        made = {"layer": name_of(self.layer), "all": plain(self.conditions), "kwargs": plain(self.kwargs)}
        return {key: value for key, value in made.items() if value}

    @classmethod
    def from_config(cls, config: Any) -> Any:
        if isinstance(config, str):
            return config
        conditions = [AttributeFilter.from_config(one) for one in config.get("all", [])]
        if "any" in config:
            conditions.append(AttributeFilter.from_config({"any": config["any"]}))
        return cls(config["layer"], *conditions, **config.get("kwargs", {}))

    def __repr__(self) -> str:
        members = [repr(name_of(self.layer)), *map(repr, self.conditions)]
        return f"LayerFilterParams({', '.join(members + [f'{k}={v!r}' for k, v in self.kwargs.items()])})"


@dataclass(eq=False, repr=False)
class OperationsSetToLayers(Described):
    """The layers that a set of the platform stands for. Made inside `with platform:` it is of that platform. With an
    attr_mapping each weight has the configuration of the general name that it stands under, or else the default one;
    weights are named as Keras and PyTorch name them ("kernel", "weight", "bias"), or as ONNX does ("W")."""

    op_set_name: str
    layers: list[Any]
    attr_mapping: Optional[Mapping[str, Mapping[Any, str]]] = None

    _reads = {"layers": list_of(LayerFilterParams.from_config)}

    def __post_init__(self) -> None:
        for name in self.attr_mapping or {}:
            if name not in (KERNEL_ATTR, BIAS_ATTR, POS_ATTR):
                message = f'"{name}" is no general name of an attribute.'
                raise _refuse(message, "attr_mapping", f"There are {KERNEL_ATTR}, {BIAS_ATTR} and {POS_ATTR}.")
        if _open_platforms:
            _open_platforms[-1].op_sets_to_layers.op_sets_to_layers.append(self)

    def get_config(self) -> dict[str, Any]:
        made = {"op_set_name": self.op_set_name, "layers": self.onnx_layers()}
        if self.attr_mapping is not None:
            of = {key: {name_of(one): attr for one, attr in named.items()} for key, named in self.attr_mapping.items()}
            made["attr_mapping"] = of
        return made

    def onnx_attr_mapping(self) -> dict[str, dict[str, str]]:
        """By ONNX operators and the names of their inputs."""
        made: dict[str, dict[str, str]] = {}
        for general, named in (self.attr_mapping or {}).items():
            by_name = {name_of(layer): attribute for layer, attribute in named.items()}
            for layer in [getattr(one, "layer", one) for one in self.layers]:
                attribute = by_name.get(name_of(layer), getattr(named, "default_value", None))
                if attribute is not None:
                    made.setdefault(general, {}).update(onnx_weights(layer, attribute))
        return made

    def onnx_layers(self) -> list[Any]:
        found: list[Any] = []
        for one in self.layers:
            for layer in one.filters() if isinstance(one, LayerFilterParams) else onnx_layers(one):
                if layer not in found:
                    found.append(layer)
        return found


@dataclass(eq=False, repr=False)
class OperationsToLayers(Described):
    """Sets with their layers; also what `custom_tpc_opset_to_layer` of a configuration takes."""

    op_sets_to_layers: Optional[list[OperationsSetToLayers]] = None

    def __post_init__(self) -> None:
        self.op_sets_to_layers = list(self.op_sets_to_layers or [])
        _require(self.op_sets_to_layers, OperationsSetToLayers, "op_sets_to_layers")

    def get_config(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for one in self.op_sets_to_layers:
            layers, mapping = one.onnx_layers(), one.onnx_attr_mapping()
            made[one.op_set_name] = {"layers": layers, "attr_mapping": mapping} if mapping else layers
        return made

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> OperationsToLayers:
        made = []
        for name, given in config.items():
            layers, mapping = (given["layers"], given.get("attr_mapping")) if isinstance(given, Mapping) else (given, None)
            made.append(OperationsSetToLayers(name, [LayerFilterParams.from_config(one) for one in layers], mapping))
        return cls(made)


_NAMED_PARTS = {"attribute_configs", "op_configs", "qc_options"}


def _version(version: Any) -> tuple[int, dict[str, int]]:
    """A whole number, also as "v2"; "4.1" is the table's own number."""
    text = "1" if version is None else str(version).lstrip("v")
    table = re.fullmatch(r"(\d+)\.(\d+)", text)
    if table:
        return 1, {"tpc_minor_version": int(table[1]), "tpc_patch_version": int(table[2])}
    if not text.isdigit():
        raise _refuse(f'"{version}" is no version.', "version", 'For example: "1" or "4.1".')
    return int(text), {}


class TargetPlatformCapabilities(Described):
    """A platform: the modeled hardware with the layers of its sets. It goes where a platform goes."""

    def __init__(self, tp_model: TargetPlatformModel, name: str = "base", version: Optional[str] = None) -> None:
        _require([tp_model], TargetPlatformModel, "tp_model")
        _version(version)
        self.tp_model, self.name, self.version = tp_model, name, version
        self.op_sets_to_layers = OperationsToLayers()

    def __enter__(self) -> TargetPlatformCapabilities:
        _open_platforms.append(self)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _open_platforms.pop()
        if kind is None:
            _core.checked("TargetPlatformCapabilities", as_json(self, "platform"))

    def get_config(self) -> dict[str, Any]:
        """The content of a platform file (platforms/README.md)."""
        number, table = _version(self.version)
        model = {**self.tp_model.get_config(), **table}
        layers = self.op_sets_to_layers.get_config()
        names = [one["name"] for one in model["operator_set"]]
        for name in layers:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=1)
                hint = f'Did you mean "{near[0]}"?' if near else f"It has: {', '.join(names)}."
                raise _refuse(f'The platform has no operator set "{name}".', "op_set_name", hint)
        of = {name: one if isinstance(one, Mapping) else {"layers": one} for name, one in layers.items()}
        sets = [{**one, **of.get(one["name"], {})} for one in model["operator_set"]]
        head = {"schema_version": 1, "name": self.name, "version": number}
        return {**head, **self._more, "tp_model": {**model, "operator_set": sets}}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> TargetPlatformCapabilities:
        """Of a platform file's content: every form that the core reads, Sony's capabilities files too."""
        if isinstance(config, str) or "tp_model" not in config or not _NAMED_PARTS.isdisjoint(config):
            config = json_of_core("TargetPlatformCapabilities", config)
        made = cls(TargetPlatformModel.from_config(config["tp_model"]), config["name"], str(config["version"]))
        made._more = {k: v for k, v in config.items() if k not in ("schema_version", "tp_model", "name", "version")}
        return made
