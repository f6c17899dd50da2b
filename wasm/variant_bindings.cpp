// SPDX-License-Identifier: Apache-2.0
// Variants of a model (core/variants/variants.h), which the light engine is without: one step after the other as the
// package asks, which takes samples through the workers in between.
#include <emscripten/bind.h>

#include <cmath>
#include <optional>
#include <utility>

#include "core/base/byte_stream.h"
#include "core/base/json.h"
#include "core/onnx/read.h"
#include "core/onnx/write.h"
#include "core/variants/variants.h"
#include "wasm/guard.h"
#include "wasm/js_source.h"
#include "wasm/sample_job.h"
#include "wasm/session.h"

namespace tersor::wasm {

using emscripten::val;

namespace {

/// What a worker has seen, on its way to another.
struct SeenPart {
  std::vector<std::string> names;
  std::vector<float> values;

  static constexpr auto fields() { return members(&SeenPart::names, &SeenPart::values); }
};

class Ranges : public SampleJob {
 public:
  explicit Ranges(std::shared_ptr<const OpenedModel> opened)
      : opened_(std::move(opened)), values_(largest_values_program(opened_->model), opened_->model) {}
  void add(const JobSample& sample) override {
    try {
      values_.add(sample.inputs);
    } catch (const Error& error) {
      throw error.within(sample.place);
    }
  }
  ByteBuffer finish() override {
    SeenPart part;
    for (const auto& [name, value] : values_.values()) part.names.push_back(name), part.values.push_back(value);
    return to_bytes(part);
  }
  JobResult merge(std::span<const samples::Bytes> parts, std::span<const std::byte>) override {
    for (const samples::Bytes& bytes : parts) {
      const auto part = from_bytes<SeenPart>(bytes.view);
      Largest seen;
      for (size_t k = 0; k < part.names.size(); ++k) seen[part.names[k]] = part.values[k];
      values_.merge(seen);
    }
    Json json = Json::object();
    for (const auto& [name, value] : values_.values()) json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
    return to_text(json, false);
  }

 private:
  std::shared_ptr<const OpenedModel> opened_;
  LargestValues values_;
};

std::optional<Largest> read_largest(const std::string& text) {
  if (text.empty()) return std::nullopt;
  Largest largest;
  const Json json = parse_json(text, "largest");
  for (const auto& entry : json.items())
    largest[entry.key()] = entry.value().is_null() ? HUGE_VALF : entry.value().get<float>();
  return largest;
}

/// The variant that was made last, until it is judged.
struct Unjudged {
  std::string key;
  Variant row;
  report::Report report;
};

Unjudged& last_made() {
  static Unjudged last;
  return last;
}

/// JSON {kinds, calibrated, judged, held_aside}; `total` 0: there are no samples.
val plan_variants(double total, double calibrate, double judge) {
  return guard([&] {
    const VariantSamples samples =
        variant_samples(static_cast<int64_t>(total), static_cast<int64_t>(calibrate), static_cast<int64_t>(judge));
    Json kinds = Json::array();
    for (const VariantKind& kind : variant_kinds()) {
      const std::string_view platform = kind.platform_of(total > 0);
      kinds.push_back({{"dtype", kind.dtype},
                       {"file", kind.file},
                       {"platform", platform.empty() ? Json(nullptr) : Json(platform)},
                       {"is_half", kind.is_half},
                       {"is_judged", total > 0 && kind.is_judged()}});
    }
    return to_text(Json{{"kinds", std::move(kinds)},
                        {"calibrated", samples.calibrated},
                        {"judged", samples.judged},
                        {"held_aside", samples.held_aside}},
                   false);
  });
}

/// {model, computed, row}: bytes, those of what the engine runs in its place (null: the file itself), JSON of Variant.
/// `settings` and `statistics` as of quantize(); `largest`: JSON of a job of kind ranges; empty: none.
val make_variant(const std::string& key, const std::string& model, const std::string& dtype,
                 const std::string& settings, const val& statistics, const std::string& largest) {
  return guard([&] {
    const VariantKind& kind = variant_kind(dtype);
    const auto opened = session().opened(model);
    std::optional<QuantizedFile> begun;
    if (!kind.platform.empty()) {
      const auto given = session().calibrated(model, parse_json(settings, "settings"), statistics);
      begun.emplace(QuantizedFile{given.job,
                                  tersor::quantize(*given.job, given.statistics, draft(*given.job, given.statistics))});
    }
    const std::optional<Largest> seen = read_largest(largest);
    VariantFile made = variant_file(kind, *opened, begun ? &*begun : nullptr, seen ? &*seen : nullptr);
    val result = val::object();
    result.set("model", to_array(made.bytes));
    result.set("computed", kind.is_half && seen ? to_array(onnx::write(*made.computed)) : val::null());
    result.set("row", to_text(to_json(made.row), false));
    last_made() = {key, std::move(made.row), std::move(made.report)};
    return result;
  });
}

/// Keeps a model just as the bytes have it, for comparisons.
val open_computed(const std::string& key, const val& bytes) {
  return guard([&] {
    samples::Bytes file = copied(bytes);
    session().keep_model(key, {onnx::read({std::move(file.owner), file.view}), {}, {}});
  });
}

/// JSON of Variant. `comparison`, `guess`, `leader`: JSON of report::Comparison, of a Diagnostic or null, and of the
/// Variant that leads so far or null.
val judge_variant(const std::string& key, const std::string& comparison, bool held_aside, const std::string& guess,
                  const std::string& leader) {
  return guard([&] {
    Unjudged last = std::exchange(last_made(), {});
    TERSOR_CHECK(last.key == key);
    report::Comparison found;
    from_json(parse_json(comparison, "comparison"), found, "comparison");
    std::optional<Diagnostic> remark;
    from_json(parse_json(guess, "guess"), remark, "guess");
    std::optional<Variant> best;
    from_json(parse_json(leader, "leader"), best, "leader");
    judge(last.row, std::move(last.report), std::move(found), held_aside, remark, best ? &*best : nullptr);
    return to_text(to_json(last.row), false);
  });
}

}  // namespace

std::unique_ptr<SampleJob> make_ranges(std::shared_ptr<const OpenedModel> opened) {
  return std::make_unique<Ranges>(std::move(opened));
}

EMSCRIPTEN_BINDINGS(tersor_variants) {
  using emscripten::function;
  function("planVariants", &plan_variants);
  function("makeVariant", &make_variant);
  function("openComputed", &open_computed);
  function("judgeVariant", &judge_variant);
}

}  // namespace tersor::wasm
