# SPDX-License-Identifier: Apache-2.0
"""What callers give as model, samples and labels, in the forms that the core takes."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import inspect
import io
import json
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union, cast

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
"""The path of an ONNX file, its bytes, an open file, an `onnx.ModelProto`, an `onnx_ir.Model`, or the `ONNXProgram` that PyTorch
exports; or a pair of such and its files of weights, `{"model.onnx.data": bytes}`, or their folder."""

Samples = Union[Path_, Sequence[Path_], Array, Mapping[str, Array], Iterable[Any]]
"""An array with a leading axis of samples; arrays by input name; something to iterate over that gives samples or
batches, alone or with their labels, as a DataLoader does, or lists of arrays in the order of the inputs; a function that gives
one, as TensorFlow Lite's representative_dataset; a data set of PyTorch; a reader with `get_next`; or paths of folders, .npy,
.npz, .zip, .csv, pictures. Arrays of uint8 with 1, 3 or 4 channels last and images of Pillow are pictures, which are preprocessed
as those of a folder."""


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike))


def open_model(model: Model, beside: Callable[[str], None] | None = None) -> _core.OpenModel:
    """`beside` is told the name of each file beside the model's own that weights are read from."""
    return _core.open_model(*model_parts(model, beside))


def model_parts(model: Model, beside: Callable[[str], None] | None = None) -> tuple[Any, str, Callable[[str], Any]]:
    """Bytes, name, and what gives the bytes of a file that holds weights."""
    if isinstance(model, tuple) and len(model) == 2:
        held, files = model
        return (*model_parts(held)[:2], _weights_given(files))
    if _is_path(model):
        path = Path(model)

        def weights(location: str) -> bytes:
            if beside is not None:
                beside(location)
            return _weights(path.parent, location)

        try:
            return path.read_bytes(), path.name, weights
        except OSError as error:
            raise Error("io", f"The file cannot be read: {error.strerror}.", str(path), "Check the path.") from None
    if hasattr(model, "model_proto"):  # ONNXProgram of torch.onnx
        model = model.model_proto
    elif type(model).__module__.partition(".")[0] == "onnx_ir":
        import onnx_ir

        model = onnx_ir.to_proto(model)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if callable(getattr(model, "read", None)):
        name = getattr(model, "name", "")
        model = model.read()
        if isinstance(model, str):
            message = "The file is open for text."
            raise Error("invalid_argument", message, "model", 'Open it with "rb", or give its path.')
        if isinstance(name, str) and os.path.isfile(name):
            folder = Path(name).parent
            return model, Path(name).name, lambda location: _weights(folder, location)
    try:
        memoryview(model)
    except TypeError:
        message = f"A {type(model).__name__} is no model."
        hint = "Give the path of an ONNX file, its bytes, or an onnx.ModelProto."
        raise Error("invalid_argument", message, "model", hint) from None
    return model, "", _no_weights


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
    message = f'The file "{location}" that holds weights of the model is not here.'
    raise Error("io", message, location, f"Give the model's path, or (model, {{{location!r}: its bytes}}).")


def _weights_given(files: Any) -> Callable[[str], Any]:
    """Of a model's files of weights by name, or of the folder that they lie in."""
    if _is_path(files):
        return lambda location: _weights(Path(files), location)
    if not isinstance(files, Mapping):
        message = f"A {type(files).__name__} does not say where the weights of the model are."
        raise Error("invalid_argument", message, "model[1]", "Give bytes by the names of files, or a folder.")
    return lambda location: files[location] if location in files else _no_weights(location)


def array_of(value: Array, place: str) -> numpy.ndarray:
    """As numpy array in memory order; no copy where it is one already."""
    if hasattr(value, "detach"):  # a tensor of PyTorch
        value = value.detach()
        value = value.cpu() if hasattr(value, "cpu") else value
        if "bfloat16" in str(getattr(value, "dtype", "")):  # of which numpy has none
            value = value.float()
    try:
        array = numpy.asarray(value)
    except Exception as error:
        message = f"A {type(value).__name__} is no array: {error}"
        raise Error("invalid_samples", message, place, "Give a numpy array.") from error
    if array.dtype.kind == "V" and "float" in array.dtype.name:  # bfloat16 and smaller ones of ml_dtypes
        array = array.astype(numpy.float32)
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
    if sum(one.nbytes for one in arrays.values()) <= IN_MEMORY:
        file = io.BytesIO()
        numpy.savez(file, **arrays)
        return [file.getbuffer()]
    with tempfile.TemporaryFile(prefix="tersor-samples-") as beside:
        numpy.savez(beside, **arrays)
        beside.flush()
        return [numpy.memmap(beside, numpy.uint8, "r")]


Files = list  # of (path, parts)


def without_others(arrays: Mapping[str, Any], inputs: Sequence[Any], place: str) -> Mapping[str, Any]:
    """What is for inputs of the model. What is for none is said and dropped, where all inputs are there beside it."""
    names = [one["name"] for one in inputs]
    others = [name for name in arrays if name not in names]
    if not others:
        return arrays
    if any(name not in arrays for name in names):
        near = difflib.get_close_matches(str(others[0]), names, n=1)
        meant = f'Did you mean "{near[0]}"? ' if near else ""
        listed = ", ".join(f'"{name}"' for name in names)
        raise Error("invalid_samples", f'The model has no input "{others[0]}".', place, f"{meant}Its inputs are {listed}.")
    said = ", ".join(f'"{name}"' for name in others)
    message = f"The model has no input {said}: what the samples hold under {'these names' if len(others) > 1 else 'this name'} is dropped."
    warnings.warn(message, stacklevel=outside())
    return {name: arrays[name] for name in names}


def outside() -> int:
    """The stack level, of who asks, at which the package was called."""
    level, frame = 1, inspect.currentframe()
    frame = frame.f_back if frame is not None else None
    folder = os.path.dirname(__file__)
    while frame is not None and frame.f_code.co_filename.startswith(folder):
        level, frame = level + 1, frame.f_back
    return level


def _files_of_mapping(arrays: Mapping[str, Array], inputs: Sequence[Any], path: str, place: str) -> Files:
    read = {name: array_of(value, f"{place}[{name!r}]") for name, value in arrays.items()}
    if len(inputs) == 1 and len(read) == 1:
        return [(f"{path}.npy", npy_parts(next(iter(read.values()))))]
    return [(f"{path}.npz", _npz_parts(read))]


def _is_whole(value: Any) -> bool:
    """An input, and not a number of one."""
    return isinstance(value, Mapping) or is_image(value) or bool(getattr(value, "ndim", 0))


def _without_labels(item: Any, inputs: int) -> tuple[Any, Any]:
    """A sample, and its labels where they stand behind it: (x, labels), (x, y, labels) of two inputs, ({name: x}, labels)."""
    if not isinstance(item, (tuple, list)) or not item or is_image(item[-1]):
        return item, None
    first = item[0]
    is_pair = len(item) == 2 and (inputs == 1 or isinstance(first, Mapping) or (isinstance(first, (tuple, list)) and len(first) == inputs))
    if is_pair:
        return first, item[1]
    return (item[:-1], item[-1]) if len(item) == inputs + 1 else (item, None)


IN_MEMORY = 1 << 28
"""Bytes of an input's arrays that are kept in memory; where there are more all lie in a file."""


class _Stream:
    """Arrays of one input, one after the other; callers may use their memory again."""

    def __init__(self) -> None:
        self.file: Any = io.BytesIO()
        self.kinds: list[tuple[tuple[int, ...], numpy.dtype]] = []

    def add(self, array: numpy.ndarray) -> None:
        self.kinds.append((array.shape, array.dtype))
        self.file.write(memoryview(array.reshape(-1).view(numpy.uint8)) if array.size else b"")
        if isinstance(self.file, io.BytesIO) and self.file.tell() > IN_MEMORY:
            held, self.file = self.file, tempfile.TemporaryFile(prefix="tersor-samples-")
            self.file.write(held.getbuffer())

    def bytes(self) -> numpy.ndarray:
        """Of all of them; then no more come."""
        if isinstance(self.file, io.BytesIO):
            return numpy.frombuffer(self.file.getbuffer(), numpy.uint8)
        if not isinstance(self.file, numpy.memmap):
            with self.file as file:
                file.flush()
                self.file = numpy.memmap(file, numpy.uint8, "r")
        return self.file

    def as_one(self) -> numpy.ndarray | None:
        """All of them along their first axis; None where they differ in another, or in type."""
        shape, kind = self.kinds[0]
        if any(not one or one[1:] != shape[1:] or other != kind for one, other in self.kinds):
            return None
        return self.bytes().view(kind).reshape(sum(one[0] for one, _ in self.kinds), *shape[1:])

    def each(self) -> list[numpy.ndarray]:
        data, arrays, at = self.bytes(), [], 0
        for shape, kind in self.kinds:
            end = at + math.prod(shape) * kind.itemsize
            arrays.append(data[at:end].view(kind).reshape(shape))
            at = end
        return arrays


class _Collected:
    """Samples or batches, one by one. `described`: a preprocessing says that they are pictures."""

    def __init__(self, inputs: Sequence[Any], described: bool) -> None:
        self.inputs = inputs
        self.described = described
        self.arrays: dict[str, _Stream] = {}
        self.names: list[list[str]] = []
        """Of the arrays of each item."""
        self.pictures: Files = []
        self.labels: list[Any] = []

    def add(self, item: Any) -> None:
        place = f"samples[{len(self.names) or len(self.pictures)}]"
        names = [one["name"] for one in self.inputs] or [""]
        item, labels = _without_labels(item, len(names))
        if labels is not None:
            self.labels.append(numpy.atleast_1d(array_of(labels, f"{place}[{len(names)}]")))
        if isinstance(item, (tuple, list)) and len(item) == len(names) and (len(names) > 1 or _is_whole(item[0])):
            item = dict(zip(names, item)) if len(names) > 1 else item[0]
        read = without_others(item, self.inputs, place) if isinstance(item, Mapping) else {names[0]: item}
        self.add_arrays({name: one if is_image(one) else array_of(one, place) for name, one in read.items()}, place)

    def add_arrays(self, read: Mapping[str, Any], place: str) -> None:
        pictures = self.pictures_of(read, place)
        if pictures is None:
            self.names.append(list(read))
            for name, one in read.items():
                self.arrays.setdefault(name, _Stream()).add(self._batched(array_of(one, place), name))
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
        if not self.names:
            return self.pictures
        joined = {name: one.as_one() for name, one in self.arrays.items() if len(one.kinds) == len(self.names)}
        if len(joined) == len(self.arrays) and all(one is not None for one in joined.values()):
            return _files_of_mapping(joined, self.inputs, "samples", "samples")
        each = {name: iter(one.each()) for name, one in self.arrays.items()}
        files: Files = []
        for index, names in enumerate(self.names):
            item = {name: next(each[name]) for name in names}
            files += _files_of_mapping(item, self.inputs, f"samples-{index:08d}", f"samples[{index}]")
        return files


def open_samples(
    model: _core.OpenModel, samples: Samples, preprocessing: Any, labels: Any = None
) -> tuple[_core.OpenData, Any]:
    """The data set, and `labels`, else those that came with it (None without). Says what has no effect or was guessed."""
    described = "" if preprocessing is None else preprocessing
    if not isinstance(described, str):
        described = as_json(described, "preprocessing")
    data, with_labels = _opened_samples(model, samples, described)
    remark = ""
    if described and not data.is_preprocessed and data.label_offset == 0:
        remark = (
            "preprocessing has no effect on these samples, which are taken as they are: pictures are files, images of "
            "Pillow, and arrays of uint8 with 1, 3 or 4 channels last"
        )
    elif data.guess:
        remark = f'no preprocessing was given; guessed "{data.guess}" from the model\'s input'
    if remark:
        warnings.warn(remark, stacklevel=outside())
    return data, with_labels if labels is None else labels


def _opened_samples(model: _core.OpenModel, samples: Samples, described: str) -> tuple[_core.OpenData, Any]:
    if callable(getattr(samples, "read", None)):  # an open file
        content = samples.read()
        kind = ".npy" if content[:6] == b"\x93NUMPY" else ".npz" if content[:2] == b"PK" else ""
        name = getattr(samples, "name", "")
        path = os.path.basename(name) if isinstance(name, str) and not kind else f"samples{kind}"
        return _core.open_files(model, [(path, [content])], described), None
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
        named = isinstance(samples, Mapping)
        read = without_others(samples, inputs, "samples") if named else {inputs[0]["name"] if inputs else "": samples}
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
    elif callable(samples) and not hasattr(samples, "__iter__") and not hasattr(samples, "__getitem__"):
        samples = samples()  # a representative_dataset of TensorFlow Lite
    elif not hasattr(samples, "__iter__") and hasattr(samples, "__getitem__") and hasattr(samples, "__len__"):
        samples = map(samples.__getitem__, range(len(samples)))  # a Dataset of PyTorch
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


Function = TypeVar("Function", bound=Callable[..., Any])

_ELSEWHERE = {
    "samples": (
        "calibration_data_reader calibration_dataset calibration_data calib_dataset representative_dataset "
        "representative_data_gen representative_data dataset data_reader data"
    ),
    "keep_float": "nodes_to_exclude op_types_to_exclude op_types_to_exclude_output_quantization exclude_nodes ignored_nodes",
    "overrides": "nodes_to_quantize op_types_to_quantize tensor_quant_overrides",
    "model": "model_input input_model in_model model_path float_model",
    "platform": "target_device target_platform_capabilities tpc activation_type backend",
    "calibration_samples": "subset_size num_samples n_samples num_calib_batches",
    "config": "core_config quant_config extra_options quantization_config",
    "metric": "validation_fn eval_func",
    "classes": "is_classifier",
    "format": "quant_format",
}
"""Our arguments, with other tools' names of them."""


def require_no_argument(config: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """A misspelt argument of the function, or another tool's, arrives among the fields of the configuration."""
    names = [one.name for one in inspect.signature(function).parameters.values() if one.kind is not one.VAR_KEYWORD]
    ours = {other: name for name, others in _ELSEWHERE.items() for other in others.split() if name in names}
    for name in config:
        if name in ("output", "model_output", "output_model", "output_path", "quantized_model_path"):
            hint = "The result has the file: result.save(path)."
        elif name in ours:
            hint = f'It is "{ours[name]}" here.'
        else:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.82)
            if not near:
                continue
            hint = f'Did you mean "{near[0]}"?'
        message = f'There is no argument "{name}" of {function.__name__}().'
        raise Error("invalid_argument", message, "arguments", hint)


def named(function: Function) -> Function:
    """The function, which says of an argument that it has not which the nearest is."""
    names = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(*given: Any, **asked: Any) -> Any:
        unknown = {name: value for name, value in asked.items() if name not in names}
        if unknown:
            require_no_argument(unknown, function)
            message = f'There is no argument "{next(iter(unknown))}" of {function.__name__}().'
            raise Error("invalid_argument", message, "arguments", f"It takes {', '.join(names)}.")
        return function(*given, **asked)

    return cast(Function, checked)


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
    keep_float: Any = None,
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
        "keep_float": [keep_float] if isinstance(keep_float, str) else list(keep_float or []),
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
