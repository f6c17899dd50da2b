// SPDX-License-Identifier: Apache-2.0
// Names only: every function of door.h as Python calls it, without the GIL while it works. Errors become tersor.Error.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <new>

#include "buffer_source.h"
#include "core/base/json.h"
#include "core/native/folder_source.h"
#include "core/samples/fixed_batch.h"
#include "core/samples/selection.h"
#include "door.h"
#include "listener.h"
#include "own_quantizers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tersor::python {

namespace {

using Data = std::shared_ptr<const samples::DataSet>;

/// Data sets cross as a class of their own: nanobind's pointers are not to const objects.
struct OpenData {
  Data data;
};

nb::bytes to_bytes(const std::vector<std::byte>& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

void raise(const Error& error) {
  const nb::object type = nb::module_::import_("tersor._error").attr("Error");
  const nb::object raised =
      type(std::string(to_word(error.code)).c_str(), error.message.c_str(), error.place.c_str(), error.hint.c_str());
  PyErr_SetObject(type.ptr(), raised.ptr());
}

void translate(const std::exception_ptr& failure, void*) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    raise(error);
  } catch (const std::bad_alloc&) {
    raise(Error(ErrorCode::kOutOfMemory, "The memory is used up.", {}, "Use fewer threads or fewer samples."));
  }
}

/// Without the GIL; what Python raised meanwhile comes before the error that it ended the call with.
template <class Work>
auto at_work(int threads, nb::object progress, Work&& work) {
  Listener listener(std::move(progress));
  const auto released = [&] {
    const nb::gil_scoped_release unlocked;
    return work(Workforce{threads, listener.tell()});
  };
  try {
    return released();
  } catch (const Error& error) {
    if (error.code == ErrorCode::kCancelled) listener.rethrow();
    throw;
  }
}

/// The files beside a model's own, as `external` gives them; it outlives what this returns.
onnx::ExternalData files_beside(const nb::object& external) {
  return [&](const std::string& location) {
    const nb::gil_scoped_acquire locked;
    samples::Bytes weights = bytes_of(external(location.c_str()), location);
    return onnx::Source{std::move(weights.owner), weights.view};
  };
}

OpenModel open_model_of(const nb::object& file, const std::string& name, const nb::object& external) {
  samples::Bytes bytes = bytes_of(file, "model");
  const onnx::ExternalData beside = files_beside(external);
  const nb::gil_scoped_release unlocked;
  return open_model(name, {std::move(bytes.owner), bytes.view}, beside);
}

/// (bytes of the model, bytes of the weights beside it).
nb::tuple convert_model(const nb::object& file, const nb::object& external, int64_t opset,
                        const std::string& location) {
  samples::Bytes bytes = bytes_of(file, "model");
  const onnx::ExternalData beside = files_beside(external);
  const auto written = [&] {
    const nb::gil_scoped_release unlocked;
    return convert({std::move(bytes.owner), bytes.view}, beside, opset, location);
  };
  const ConvertedModel made = written();
  return nb::make_tuple(to_bytes(made.bytes), to_bytes(made.weights));
}

OpenData open_files(const OpenModel& model, const nb::list& files, const std::string& preprocessing) {
  auto source = std::make_shared<BufferSource>();
  for (const nb::handle file : files) {
    const auto [path, buffers] = nb::cast<std::pair<std::string, nb::list>>(file);
    std::vector<samples::Bytes> parts;
    for (const nb::handle buffer : buffers) parts.push_back(bytes_of(buffer, path));
    source->add(path, std::move(parts));
  }
  const nb::gil_scoped_release unlocked;
  return {open_data(model, std::move(source), preprocessing)};
}

OpenData open_paths(const OpenModel& model, const std::vector<std::string>& paths, const std::string& preprocessing) {
  const nb::gil_scoped_release unlocked;
  return {open_data(model, open_samples(paths, ""), preprocessing)};
}

std::vector<samples::Bytes> all_bytes(const nb::list& objects, const std::string& place) {
  std::vector<samples::Bytes> all;
  for (const nb::handle one : objects) all.push_back(bytes_of(one, place));
  return all;
}

std::vector<int64_t> labels(const OpenData& data, const nb::object& file, const std::string& name, int64_t group) {
  std::optional<samples::Bytes> bytes;
  if (!file.is_none()) bytes = bytes_of(file, "labels");
  return labels_of(*data.data, bytes, name, group);
}

/// (numpy's name of its type, shape, bytes).
nb::tuple to_array(const Tensor& tensor) {
  nb::list shape;
  for (const int64_t dim : tensor.shape().dims()) shape.append(dim);
  return nb::make_tuple(std::string(name_of(tensor.dtype())), shape,
                        nb::bytes(tensor.bytes().data(), tensor.bytes().size()));
}

/// `function`(files, [(name of an input, array)]) returns JSON of RuntimeTimes.
Timer timer_of(const nb::object& function) {
  if (function.is_none()) return {};
  return [&function](const std::vector<std::vector<std::byte>>& files, const std::map<std::string, Tensor>& inputs) {
    const nb::gil_scoped_acquire locked;
    nb::list models, arrays;
    for (const std::vector<std::byte>& one : files) models.append(to_bytes(one));
    for (const auto& [name, tensor] : inputs) arrays.append(nb::make_tuple(name, to_array(tensor)));
    return report::read_times(nb::cast<std::string>(function(models, arrays)));
  };
}

/// (name, function), whose function takes the numbers of samples and [(name of an output, [array of each])].
std::shared_ptr<const tersor::evaluate::OwnMetric> metric_of(const nb::tuple& metric, const OpenModel& model,
                                                             const Data& data) {
  std::vector<std::string> names;
  const tersor::Graph& graph = model.opened->model.graph;
  for (const tersor::ValueId output : graph.outputs) names.push_back(graph.name_of(output));
  const auto value = [&metric, names, batch = data->batch()](std::span<const tersor::evaluate::SampleOutputs> samples) {
    const nb::gil_scoped_acquire locked;
    nb::list numbers, outputs;
    std::vector<nb::list> arrays(names.size());
    for (const auto& one : samples) {
      numbers.append(one.sample);
      const std::vector<Tensor> rows = tersor::samples::first_rows(*one.outputs, batch);
      for (size_t k = 0; k < std::min(rows.size(), names.size()); ++k) arrays[k].append(to_array(rows[k]));
    }
    for (size_t k = 0; k < names.size(); ++k) outputs.append(nb::make_tuple(names[k], arrays[k]));
    return nb::cast<double>(metric[1](numbers, outputs));
  };
  return std::make_shared<const tersor::evaluate::OwnMetric>(
      tersor::evaluate::OwnMetric{nb::cast<std::string>(metric[0]), value});
}

/// (minutes, bytes of a checkpoint, function that takes such bytes, function that takes JSON of where a training stands
/// and says whether it is to end), each or None.
void take_training(const nb::tuple& training, Quantization& options) {
  options.training.minutes = nb::cast<std::optional<double>>(training[0]);
  if (!training[1].is_none()) {
    const auto state = nb::cast<nb::bytes>(training[1]);  // the caller's tuple keeps it
    options.training.resume = {static_cast<const std::byte*>(state.data()), state.size()};
    tersor::tune::epochs_of_checkpoint(options.training.resume);  // what is none is said before anything is computed
  }
  if (const nb::object keep = training[2]; !keep.is_none())
    options.training.keep = [&training](const tersor::ByteBuffer& state) {
      const nb::gil_scoped_acquire locked;
      training[2](nb::bytes(state.data(), state.size()));
    };
  if (const nb::object watch = training[3]; !watch.is_none())
    options.watch = [&training](const std::string& now) {
      const nb::gil_scoped_acquire locked;
      return nb::cast<bool>(training[3](now));
    };
}

nb::tuple quantize_model(const OpenModel& model, const std::string& settings, const nb::list& statistics,
                         const OpenData* data, std::vector<int64_t> known, int64_t limit, std::string runtime,
                         bool classes, bool compares, const nb::object& timer, const std::optional<nb::tuple>& metric,
                         const std::optional<std::pair<std::optional<double>, std::optional<double>>>& aim,
                         const std::optional<std::pair<std::optional<double>, std::optional<double>>>& limits,
                         const std::optional<nb::tuple>& training, const nb::list& trainable, int threads,
                         nb::object progress) {
  Quantization options{all_bytes(statistics, "statistics"),
                       data == nullptr ? nullptr : data->data,
                       std::move(known),
                       limit,
                       std::move(runtime),
                       classes,
                       compares,
                       timer_of(timer),
                       {}};
  if (metric) options.metric = metric_of(*metric, model, data->data);
  if (aim) options.aim = tersor::Aim{aim->first, aim->second};
  if (limits) options.limits = tersor::report::CheckLimits{limits->first, limits->second};
  if (training) take_training(*training, options);
  options.trainable_quantizers = own_quantizers(trainable);
  const QuantizedModel made = at_work(threads, std::move(progress), [&](const Workforce& workforce) {
    return quantize(model, settings, options, workforce);
  });
  return nb::make_tuple(to_bytes(made.bytes), made.recipe, made.report, to_bytes(made.statistics), made.check);
}

/// (JSON of Variant, bytes), the bytes None where there is no file; None after the last.
nb::object next_variant(tersor::VariantMaker& maker, int threads, nb::object progress) {
  const auto made =
      at_work(threads, std::move(progress), [&](const Workforce& workforce) { return maker.next(workforce); });
  if (!made) return nb::none();
  const nb::object bytes = made->row.refused ? nb::object(nb::none()) : nb::object(to_bytes(made->bytes));
  return nb::make_tuple(to_text(to_json(made->row), false), bytes);
}

/// By output: (name, numpy's name of its type, shape, bytes), one for each sample.
nb::list run_model(const OpenModel& model, const OpenData& data, const std::string& runtime, int threads,
                   nb::object progress) {
  const RunOutputs made = at_work(threads, std::move(progress), [&](const Workforce& workforce) {
    return run(model, data.data, runtime, workforce);
  });
  nb::list outputs;
  for (size_t k = 0; k < made.names.size(); ++k) {
    nb::list tensors;
    for (const std::vector<Tensor>& sample : made.samples) tensors.append(to_array(sample[k]));
    outputs.append(nb::make_tuple(made.names[k], tensors));
  }
  return outputs;
}

/// (name, operator type, activation function, count of outputs, weights); a weight is (name, shape, float32 bytes).
nb::list layers_of_model(const OpenModel& model, const std::string& settings, size_t which) {
  nb::list all;
  for (const tersor::framework::Layer& layer : layers(model, settings, which)) {
    nb::list weights;
    for (const tersor::framework::LayerWeight& weight : layer.weights) {
      nb::list shape;
      for (const int64_t dim : weight.value.shape().dims()) shape.append(dim);
      weights.append(
          nb::make_tuple(weight.name, shape, nb::bytes(weight.value.bytes().data(), weight.value.bytes().size())));
    }
    all.append(nb::make_tuple(layer.name, layer.type, layer.activation, layer.outputs, weights));
  }
  return all;
}

}  // namespace

}  // namespace tersor::python

NB_MODULE(_core, module) {
  using namespace tersor::python;
  using tersor::Workforce;
  nb::register_exception_translator(&translate);
  // At the end of the process Python's modules may keep what they hold.
  nb::set_leak_warnings(false);

  nb::class_<OpenModel>(module, "OpenModel").def_ro("name", &OpenModel::name);
  nb::class_<OpenData>(module, "OpenData")
      .def_prop_ro("size", [](const OpenData& data) { return data.data->size(); })
      .def_prop_ro("is_preprocessed", [](const OpenData& data) { return data.data->is_preprocessed(); })
      .def_prop_ro("label_offset", [](const OpenData& data) { return data.data->preprocessing().label_offset; })
      .def_prop_ro("guess", [](const OpenData& data) {
        return data.data->is_guess() ? std::string(data.data->guess()) : std::string();  // empty: somebody gave it
      });

  nb::class_<tersor::VariantMaker>(module, "Variants").def("next", &next_variant, "threads"_a, "progress"_a.none());
  module.def(
      "variants",
      [](const OpenModel& model, const OpenData* data, int64_t calibrate, std::vector<std::string> names) {
        return variants(model, data == nullptr ? nullptr : data->data, calibrate, std::move(names));
      },
      "model"_a, "data"_a.none(), "calibrate"_a, "names"_a);

  module.attr("__version__") = std::string(tersor::tool_version());
  module.def("open_model", &open_model_of, "file"_a, "name"_a, "external"_a);
  module.def("as_made_from", &as_made_from, "model"_a, "other"_a);
  module.def("inspect", &inspect, "model"_a);
  module.def("inputs", &inputs_of, "model"_a);
  module.def("open_files", &open_files, "model"_a, "files"_a, "preprocessing"_a);
  module.def("open_paths", &open_paths, "model"_a, "paths"_a, "preprocessing"_a);
  module.def("labels", &labels, "data"_a, "file"_a.none(), "name"_a, "group"_a);
  module.def(
      "calibrate",
      [](const OpenModel& model, const OpenData& data, const std::string& settings, int64_t limit, int64_t shard,
         int64_t shards, int threads, nb::object progress) {
        return to_bytes(at_work(threads, std::move(progress), [&](const Workforce& workforce) {
          return calibrate(model, *data.data, settings, limit, {shard, shards}, workforce);
        }));
      },
      "model"_a, "data"_a, "settings"_a, "limit"_a, "shard"_a, "shards"_a, "threads"_a, "progress"_a.none());
  module.def(
      "merge", [](const nb::list& parts) { return to_bytes(merge(all_bytes(parts, "statistics"))); }, "parts"_a);
  module.def("quantize", &quantize_model, "model"_a, "settings"_a, "statistics"_a, "data"_a.none(), "labels"_a,
             "limit"_a, "runtime"_a, "classes"_a, "compare"_a, "timer"_a.none(), "metric"_a.none(), "aim"_a.none(),
             "limits"_a.none(), "training"_a.none(), "trainable"_a, "threads"_a, "progress"_a.none());
  module.def("convert", &convert_model, "file"_a, "external"_a, "opset"_a, "location"_a);
  module.def(
      "tradeoff",
      [](const OpenModel& model, const OpenData& data, const std::string& settings, const std::vector<int64_t>& labels,
         int64_t limit, int64_t points, int threads, nb::object progress) {
        return at_work(threads, std::move(progress), [&](const Workforce& workforce) {
          return tradeoff(model, settings, data.data, labels, limit, points, workforce);
        });
      },
      "model"_a, "data"_a, "settings"_a, "labels"_a, "limit"_a, "points"_a, "threads"_a, "progress"_a.none());
  module.def(
      "evaluate",
      [](const OpenModel& model, const OpenModel* reference, const OpenData& data, const std::vector<int64_t>& known,
         const std::string& metric, const std::string& runtime, int64_t group, int threads, nb::object progress) {
        return at_work(threads, std::move(progress), [&](const Workforce& workforce) {
          return evaluate(model, reference, data.data, known, {metric, runtime, group}, workforce);
        });
      },
      "model"_a, "reference"_a.none(), "data"_a, "labels"_a, "metric"_a, "runtime"_a, "group"_a, "threads"_a,
      "progress"_a.none());
  module.def(
      "compare",
      [](const OpenModel& in_float, const OpenModel& quantized, const OpenData& data, const std::string& runtime,
         bool classes, const std::string& output_roles, int threads, nb::object progress) {
        return at_work(threads, std::move(progress), [&](const Workforce& workforce) {
          return compare(in_float, quantized, data.data, runtime, classes, output_roles, workforce);
        });
      },
      "in_float"_a, "quantized"_a, "data"_a, "runtime"_a, "classes"_a, "output_roles"_a, "threads"_a,
      "progress"_a.none());
  module.def("run", &run_model, "model"_a, "data"_a, "runtime"_a, "threads"_a, "progress"_a.none());
  module.def(
      "default_calibration_count", [](int64_t size) { return tersor::samples::default_calibration_count(size, true); },
      "size"_a);
  module.def("platforms", &platforms);
  module.def("platform", &platform, "platform"_a, "config"_a);
  module.def("layers", &layers_of_model, "model"_a, "settings"_a, "which"_a);
  module.def("checked", &checked, "class_name"_a, "value"_a);
}
