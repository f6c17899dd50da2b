// SPDX-License-Identifier: Apache-2.0
#include "core/tpc/builtin.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/tpc/builtin_files.h"
#include "core/tpc/read.h"

namespace tersor::tpc {

namespace {

std::string label_of(const BuiltinFile& file) {
  return std::string(file.name) + "@v" + std::to_string(file.version);
}

/// Kept, for reading a platform takes longer than many a call that names one.
TargetPlatformCapabilities read_once(const BuiltinFile& file) {
  static std::mutex mutex;
  static std::map<std::string, TargetPlatformCapabilities> known;
  const std::lock_guard lock(mutex);
  const std::string label = label_of(file);
  const auto found = known.find(label);
  if (found != known.end()) return found->second;
  TargetPlatformCapabilities platform = read_platform(file.text, label);
  std::vector<PriceList> lists;
  from_json(parse_json(file.prices, "prices.json"), lists, "prices.json");
  if (!lists.empty()) {
    platform.prices = std::move(lists[0]);
    platform.other_prices.assign(std::make_move_iterator(lists.begin() + 1), std::make_move_iterator(lists.end()));
  }
  return known.emplace(label, std::move(platform)).first->second;
}

std::string table_of(const TargetPlatformModel& model) {
  if (!model.tpc_minor_version) return {};
  return std::to_string(*model.tpc_minor_version) + "." + std::to_string(model.tpc_patch_version.value_or(0));
}

std::string all_labels() {
  std::string list;
  for (const PlatformLabel& one : builtin_platforms())
    list += (list.empty() ? "" : ", ") + one.name + "@v" + std::to_string(one.version) +
            (one.table.empty() ? "" : " (" + one.table + ")");
  return list;
}

[[noreturn]] void unknown(std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  for (const PlatformLabel& one : builtin_platforms())
    if (names.empty() || names.back() != one.name) names.push_back(one.name);
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  throw Error(ErrorCode::kInvalidPlatform, what, "platform",
              (known ? "" : suggestion(name, names)) + "Use one of: " + all_labels() + "; or give a platform file.");
}

std::optional<int> whole_number(std::string_view digits) {
  int number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

/// The newest of the platform's files whose table is `number`, or begins with it ("4" of "4.1").
std::optional<int> version_of_table(std::string_view name, std::string_view number) {
  std::optional<int> version;
  for (const PlatformLabel& one : builtin_platforms()) {
    const bool same = one.table == number || one.table.substr(0, one.table.find('.')) == number;
    if (one.name == name && !one.table.empty() && same) version = one.version;
  }
  return version;
}

}  // namespace

std::vector<PlatformLabel> builtin_platforms() {
  std::vector<PlatformLabel> labels;
  for (const BuiltinFile& file : builtin_files()) {
    const TargetPlatformCapabilities platform = read_platform(file.text, label_of(file));
    labels.push_back(
        {platform.name, platform.version, platform.title, platform.description, table_of(platform.tp_model)});
  }
  return labels;
}

TargetPlatformCapabilities get_target_platform_capabilities(std::string_view name, std::optional<int> version) {
  const BuiltinFile* found = nullptr;
  for (const BuiltinFile& file : builtin_files())
    if (file.name == name && (!version || file.version == *version)) found = &file;
  if (found != nullptr) return read_once(*found);
  unknown(name, "There is no platform \"" + shortened(name) + "\"" +
                    (version ? " of version " + std::to_string(*version) : "") + ".");
}

TargetPlatformCapabilities get_target_platform_capabilities_by_label(std::string_view label) {
  const size_t at = label.find('@');
  if (at == std::string_view::npos) return get_target_platform_capabilities(label);
  const std::string_view name = label.substr(0, at), rest = label.substr(at + 1);
  const auto version = !rest.empty() && rest[0] == 'v' ? whole_number(rest.substr(1)) : version_of_table(name, rest);
  if (version) return get_target_platform_capabilities(name, version);
  unknown(name, "There is no platform \"" + shortened(label) + "\"; the form is NAME, NAME@vK or NAME@TABLE.");
}

}  // namespace tersor::tpc
