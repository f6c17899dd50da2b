# SPDX-License-Identifier: Apache-2.0
"""What callers give as model, samples and labels, in the forms that the core takes."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import io
import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

import numpy

from . import _core
from ._described import Described, plain
from ._error import Error
from ._layers import onnx_framework_info
from ._overrides import overrides_as_data
from ._pictures import as_pictures, file_of, is_image, pixels_of_image
from ._timing import time_files

Array = Any
"""A numpy array, or what becomes one (`__array__`): a tensor of PyTorch on the CPU, a list of numbers."""

Path_ = Union[str, "os.PathLike[str]"]
Model = Union[Path_, bytes, bytearray, memoryview, Any]
"""The path of an ONNX file, its bytes, or an `onnx.ModelProto`."""

Samples = Union[Path_, Sequence[Path_], Array, Mapping[str, Array], Iterable[Any]]
"""An array with a leading axis of samples; arrays by input name; something to iterate over that gives samples or
batches, alone or with their labels, as a DataLoader does; or paths of folders, .npy, .npz, .zip, .csv, pictures. Arrays of
uint8 with 1, 3 or 4 channels last and images of Pillow are pictures, which are preprocessed as those of a folder."""


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def open_model(model: Model, beside: Callable[[str], None] | None = None) -> _core.OpenModel:
    """`beside` is told the name of each file beside the model's own that weights are read from."""
    if _is_path(model):
        path = Path(model)

        def weights(location: str) -> bytes:
            if beside is not None:
                beside(location)
            return _weights(path.parent, location)

        try:
            data = path.read_bytes()
        except OSError as error:
            raise Error("io", f"The file cannot be read: {error.strerror}.", str(path), "Check the path.") from None
        return _core.open_model(data, path.name, weights)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    return _core.open_model(model, "", _no_weights)


def _weights(folder: Path, location: str) -> bytes:
    """A file beside the model that holds weights of it. A link does not lead out of the model's folder."""
    path = folder / location
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise Error("invalid_model", "A link leads out of the model's own folder.", str(path))
        return path.read_bytes()
    except OSError as error:
        message = f'The model keeps its weights in "{location}", which cannot be opened: {error.strerror}.'
        raise Error("io", message, str(path), "Put that file beside the model.") from None


def _no_weights(location: str) -> bytes:
    raise Error("io", f'The file "{location}" that holds weights of the model is not here.', location, "Give a path.")


def array_of(value: Array, place: str) -> numpy.ndarray:
    """As numpy array in memory order; no copy where it is one already."""
    if hasattr(value, "detach"):
        value = value.detach()
    try:
        array = numpy.asarray(value)
    except Exception as error:
        message = f"A {type(value).__name__} is no array: {error}"
        raise Error("invalid_samples", message, place, "Give a numpy array.") from error
    if array.dtype.hasobject or array.dtype.kind not in "fiub":
        message = f"An array of type {array.dtype} holds no numbers that a model takes."
        raise Error("invalid_samples", message, place, "Give float32.")
    return array if array.flags.c_contiguous else numpy.ascontiguousarray(array)


def npy_parts(array: numpy.ndarray) -> list[Any]:
    """An .npy file: its header, and the array's own memory after it."""
    header = io.BytesIO()
    numpy.lib.format.write_array_header_2_0(header, numpy.lib.format.header_data_from_array_1_0(array))
    return [header.getvalue(), array.reshape(-1).view(numpy.uint8) if array.size else b""]


def _npz_parts(arrays: Mapping[str, numpy.ndarray]) -> list[Any]:
    file = io.BytesIO()
    numpy.savez(file, **arrays)
    return [file.getbuffer()]


Files = list  # of (path, parts)


def _files_of_mapping(arrays: Mapping[str, Array], inputs: Sequence[Any], path: str, place: str) -> Files:
    read = {name: array_of(value, f"{place}[{name!r}]") for name, value in arrays.items()}
    unknown = [name for name in read if name not in {one["name"] for one in inputs}]
    if unknown:
        names = ", ".join(f'"{one["name"]}"' for one in inputs)
        raise Error("invalid_samples", f'The model has no input "{unknown[0]}".', place, f"Its inputs are {names}.")
    if len(inputs) == 1 and len(read) == 1:
        return [(f"{path}.npy", npy_parts(next(iter(read.values()))))]
    return [(f"{path}.npz", _npz_parts(read))]


class _Collected:
    """Samples or batches of one input, one by one. `described`: a preprocessing says that they are pictures."""

    def __init__(self, inputs: Sequence[Any], described: bool) -> None:
        self.inputs = inputs
        self.described = described
        self.arrays: list[Any] = []
        self.pictures: Files = []
        self.labels: list[Any] = []

    def add(self, item: Any) -> None:
        place = f"samples[{len(self.arrays) or len(self.pictures)}]"
        if isinstance(item, (tuple, list)) and len(item) == 2 and len(self.inputs) == 1 and not is_image(item[1]):
            item, labels = item
            self.labels.append(numpy.atleast_1d(array_of(labels, f"{place}[1]")))
        read = item if isinstance(item, Mapping) else {self.inputs[0]["name"] if self.inputs else "": item}
        self.add_arrays({name: one if is_image(one) else array_of(one, place) for name, one in read.items()}, place)

    def add_arrays(self, read: Mapping[str, Any], place: str) -> None:
        pictures = self.pictures_of(read, place)
        if pictures is None:
            self.arrays.append({name: self._batched(array_of(one, place), name) for name, one in read.items()})
        else:
            first = len(self.pictures)
            self.pictures.extend(file_of(one, f"samples-{first + k:08d}") for k, one in enumerate(pictures))
        if self.arrays and self.pictures:
            message = "Some samples are pictures, and others are arrays that are none."
            raise Error("invalid_samples", message, place, "Give pictures alone (uint8, channels last), or arrays alone.")

    def pictures_of(self, read: Mapping[str, Any], place: str) -> Iterable[numpy.ndarray] | None:
        if len(self.inputs) != 1 or list(read) != [self.inputs[0]["name"]]:
            return None
        (one,) = read.values()
        return [pixels_of_image(one, place)] if is_image(one) else as_pictures(one, self.inputs[0], self.described)

    def _batched(self, array: numpy.ndarray, name: str) -> numpy.ndarray:
        shape = next((one["shape"] for one in self.inputs if one["name"] == name), None)
        return array[None] if shape is not None and array.ndim == len(shape) - 1 else array

    def files(self) -> Files:
        """Pictures are a file each; arrays one of all where they have one shape and type, else a file for each."""
        if not self.arrays:
            return self.pictures
        first = self.arrays[0]
        alike = all(
            one.keys() == first.keys()
            and all(
                one[name].ndim and one[name].shape[1:] == first[name].shape[1:] and one[name].dtype == first[name].dtype
                for name in first
            )
            for one in self.arrays
        )
        if alike:
            joined = {name: numpy.concatenate([one[name] for one in self.arrays]) for name in first}
            return _files_of_mapping(joined, self.inputs, "samples", "samples")
        return [
            file
            for index, one in enumerate(self.arrays)
            for file in _files_of_mapping(one, self.inputs, f"samples-{index:08d}", f"samples[{index}]")
        ]


def open_samples(model: _core.OpenModel, samples: Samples, preprocessing: Any) -> tuple[_core.OpenData, Any]:
    """The data set, and the labels that came with it (None without). Says what has no effect, and what was guessed."""
    described = "" if preprocessing is None else preprocessing
    if not isinstance(described, str):
        described = as_json(described, "preprocessing")
    data, labels = _opened_samples(model, samples, described)
    remark = ""
    if described and not data.is_preprocessed and data.label_offset == 0:
        remark = (
            "preprocessing has no effect on these samples, which are taken as they are: pictures are files, images of "
            "Pillow, and arrays of uint8 with 1, 3 or 4 channels last"
        )
    elif data.guess:
        remark = f'no preprocessing was given; guessed "{data.guess}" from the model\'s input'
    if remark:
        warnings.warn(remark, stacklevel=3)  # where the package was called
    return data, labels


def _opened_samples(model: _core.OpenModel, samples: Samples, described: str) -> tuple[_core.OpenData, Any]:
    if _is_path(samples):
        return _core.open_paths(model, [os.fspath(samples)], described), None
    if isinstance(samples, (list, tuple)) and samples and all(_is_path(one) for one in samples):
        return _core.open_paths(model, [os.fspath(one) for one in samples], described), None
    inputs = json.loads(_core.inputs(model))
    collected = _Collected(inputs, described != "")
    if is_image(samples):
        collected.add(samples)
        return _core.open_files(model, collected.files(), described), None
    if isinstance(samples, Mapping) or hasattr(samples, "__array__") or hasattr(samples, "detach"):
        read = samples if isinstance(samples, Mapping) else {inputs[0]["name"] if inputs else "": samples}
        read = {name: array_of(value, "samples") for name, value in read.items()}
        if collected.pictures_of(read, "samples") is not None:
            collected.add_arrays(read, "samples")
            return _core.open_files(model, collected.files(), described), None
        if isinstance(samples, Mapping):
            return _core.open_files(model, _files_of_mapping(read, inputs, "samples", "samples"), described), None
        (array,) = read.values()
        return _core.open_files(model, [("samples.npy", npy_parts(array))], described), None
    if callable(getattr(samples, "get_next", None)):  # a CalibrationDataReader
        samples = iter(samples.get_next, None)
    if isinstance(samples, (bytes, bytearray)) or not hasattr(samples, "__iter__"):
        message = f"A {type(samples).__name__} gives no samples."
        hint = "Give an array, arrays by input name, something that gives them one by one, or a path."
        raise Error("invalid_samples", message, "samples", hint)
    for item in samples:
        collected.add(item)
    labels = numpy.concatenate(collected.labels) if collected.labels else None
    return _core.open_files(model, collected.files(), described), labels


def labels_of(data: _core.OpenData, labels: Any, group: int = 1) -> list[int]:
    """One for each sample (each group of them): those given, else those of class folders, else none."""
    if labels is None:
        return _core.labels(data, None, "", group)
    if _is_path(labels):
        path = Path(labels)
        try:
            return _core.labels(data, path.read_bytes(), path.name, group)
        except OSError as error:
            raise Error("io", f"The file cannot be read: {error.strerror}.", str(path), "Check the path.") from None
    array = array_of(labels, "labels").reshape(-1)
    file = b"".join(bytes(part) for part in npy_parts(array))
    return _core.labels(data, file, "labels.npy", group)


_UNLIMITED = {"z_threshold", "weights_memory", "activation_memory", "total_memory", "bops"}
"""Fields whose infinity is null in JSON; so are both ends of bounds."""


def _without_infinity(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key.endswith("_min_max_mapping"):
            return {name: _bounds(one) for name, one in value.items()}
        return {name: _without_infinity(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_infinity(one, f"{key}[{k}]") for k, one in enumerate(value)]
    if isinstance(value, float) and math.isinf(value):
        if key not in _UNLIMITED or value < 0:
            raise Error("invalid_argument", "This is no number of JSON, and here no limit that may be none.", key)
        return None
    return value


def _bounds(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        return value
    return [None if one == end else one for one, end in zip(value, (-math.inf, math.inf))]


def as_json(value: Any, place: str) -> str:
    """As the core reads it; numbers of numpy are numbers, values of the documents' classes are what they hold."""

    def refuse(one: Any) -> Any:
        raise TypeError(f"a {type(one).__name__} cannot be written as JSON")

    try:
        return json.dumps(_without_infinity(plain(value)), default=refuse, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error("invalid_argument", f"This cannot be written as JSON: {error}.", place) from None


def json_of_core(name: str, value: Any) -> Any:
    """A value of a class that the core knows, checked there, with every member."""
    return json.loads(_core.checked(name, as_json(value, name)))


def platform_of(platform: Any) -> Any:
    """A name such as "ort-cpu@v1", or the content of a platform file, whose path may be given."""
    if platform is None or isinstance(platform, (Mapping, Described)):
        return platform
    if not _is_path(platform):
        message = f"A {type(platform).__name__} is no platform."
        raise Error("invalid_argument", message, "platform", "Give a name, a file's path or its content.")
    text = os.fspath(platform)
    if isinstance(platform, str) and not text.endswith(".json") and os.sep not in text:
        return text
    return json_file(text, "platform")


def json_file(value: Any, place: str) -> Any:
    """The content of a JSON file, where a path is given; else the value."""
    if not _is_path(value):
        return value
    try:
        return json.loads(Path(value).read_text(encoding="utf-8"))
    except OSError as error:
        raise Error("io", f"The file cannot be read: {error.strerror}.", str(value), "Check the path.") from None
    except ValueError as error:
        raise Error("invalid_config", f"This is no JSON: {error}.", str(value)) from None


def require_no_argument(config: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """A misspelt argument of the function arrives among the fields of the configuration."""
    names = [one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
    for name in config:
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
        if near:
            message = f'There is no argument "{name}" of {function.__name__}().'
            raise Error("invalid_argument", message, "arguments", f'Did you mean "{near[0]}"?')


def settings_of(
    model: _core.OpenModel,
    platform: Any = None,
    config: Any = None,
    fields: Mapping[str, Any] | None = None,
    preset: str | None = None,
    overrides: Any = None,
    framework_info: Any = None,
    recipe: Any = None,
    allow_mismatch: bool = False,
) -> dict[str, Any]:
    """As the core reads them. A class of the documents has the documents' defaults: `config` sets the preset then."""
    settings = {
        "platform": platform_of(platform),
        "config": config_of(config, fields, platform),
        "preset": preset_of(config, preset),
        "overrides": overrides,
        "framework_info": onnx_framework_info(framework_info) if isinstance(framework_info, Mapping) else framework_info,
        "recipe": json_file(recipe, "recipe"),
        "allow_mismatch": allow_mismatch,
    }
    return {**settings, "overrides": overrides_as_data(model, settings, as_json)}


def timer_of(measure: Any) -> Any:
    """What the core calls with files and a sample for JSON of their times; None where nobody asked for that."""
    if measure is None or measure is False:
        return None
    timer = measure
    if measure is True:
        if importlib.util.find_spec("onnxruntime") is None:
            raise Error(
                "invalid_argument",
                "measure times files in ONNX Runtime, and the package onnxruntime is not installed.",
                "measure",
                "Install it: pip install onnxruntime.",
            )
        timer = time_files
    if not callable(timer):
        raise Error("invalid_argument", "measure is neither True, False nor a function.", "measure")

    def timed(files: list[bytes], inputs: list[tuple[str, tuple[str, list[int], bytes]]]) -> str:
        arrays = {name: numpy.frombuffer(data, dtype=kind).reshape(shape) for name, (kind, shape, data) in inputs}
        return json.dumps(dict(timer(files, arrays)), default=float)

    return timed


def config_of(config: Any, fields: Mapping[str, Any] | None, platform: Any) -> dict[str, Any]:
    given = plain(json_file(config, "config"))
    if given is not None and not isinstance(given, dict):
        raise Error("invalid_config", f"A {type(config).__name__} is no configuration.", "config", "Give a dictionary.")
    if isinstance(config, Described) and platform is not None and str(platform).partition("@")[0] != "any":
        # A class always holds the fields that are a platform's to decide: at the document's default they say nothing.
        usual, open_ = type(config)().get_config(), json_of_core(type(config).__name__, {})
        given = {k: None if open_.get(k, v) is None and v == usual.get(k) else v for k, v in given.items()}
    return {**(given or {}), **(fields or {})}


def preset_of(config: Any, preset: str | None) -> str | None:
    return "requirements" if preset is None and isinstance(config, Described) else preset
