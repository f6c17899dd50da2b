// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <cmath>
#include <set>

#include "core/base/faults.h"

namespace tersor {

namespace {

constexpr size_t kMostLevels = 64;  // of lists and objects within each other: whoever walks them may call itself

/// Line and column, from 1, of the byte of that number.
std::string position_text(std::string_view text, size_t byte) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n' ? 1 : 0;
  }
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Builds the value while a text is parsed, in time linear in its length: the library's own way looks every new member
/// up among those before it, keeps the last of two that are the same and says nothing, and goes down any depth.
class Builder {
 public:
  Builder(std::string_view place, ErrorCode code) : place_(place), code_(code) {}

  bool null() { return add(nullptr) != nullptr; }
  bool boolean(bool value) { return add(value) != nullptr; }
  bool number_integer(int64_t value) { return add(value) != nullptr; }
  bool number_unsigned(uint64_t value) { return add(value) != nullptr; }
  bool number_float(double value, const std::string&) { return add(value) != nullptr; }
  bool string(std::string& value) { return add(std::move(value)) != nullptr; }
  bool binary(Json::binary_t&) { return false; }  // not in text
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(const std::string& key) {
    Level& level = open_.back();
    level.key = key;
    if (!level.keys.insert(key).second)
      faults_.attempt([&] {
        throw Error(code_, "The field \"" + shortened(key) + "\" is there twice.", path(), "Leave one of them.");
      });
    return true;
  }

  bool parse_error(size_t byte, const std::string& token, const nlohmann::json::exception& error) {
    wrong_at_ = byte;
    constexpr int kNumberOverflow = 406;  // as nlohmann::json numbers its errors
    if (error.id == kNumberOverflow) too_large_ = token;
    return false;
  }

  /// Of a text that was parsed to its end.
  Json take() {
    faults_.throw_if_any(code_, "The file", place_);
    return std::move(root_);
  }

  /// Of one that was not.
  [[noreturn]] void fail(std::string_view text) const {
    if (open_.size() == kMostLevels)
      throw Error(code_, "Lists and objects are nested more than " + std::to_string(kMostLevels) + " deep.", place_,
                  "No file that is read here is nested as deep; this one may be damaged.");
    if (!too_large_.empty())
      throw Error(code_, "No double can hold '" + shortened(too_large_) + "'.", place_,
                  "Its size may be 1.79e308 at most.");
    throw Error(
        code_,
        "This is not valid JSON: the fault is at " + position_text(text, wrong_at_ > 0 ? wrong_at_ - 1 : 0) + ".",
        place_, "Check the brackets, commas and quotes around that place.");
  }

 private:
  struct Level {
    Json* value;
    std::set<std::string> keys;
    std::string key;  // the latest
  };

  Json* add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& into = *open_.back().value;
    if (into.is_array()) {
      into.push_back(std::move(value));
      return &into.back();
    }
    detail::append(into, open_.back().key.c_str(), std::move(value));
    return &into.get_ref<Json::object_t&>().back().second;
  }

  bool open(Json value) {
    if (open_.size() == kMostLevels) return false;
    Json* const added = add(std::move(value));
    open_.push_back({added, {}, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// To the member that is being read.
  std::string path() const {
    std::string at = place_;
    for (size_t i = 0; i < open_.size(); ++i) {
      const Level& level = open_[i];
      if (!level.value->is_array())
        at = detail::join_place(at, level.key);
      else
        at += "[" + std::to_string(level.value->size() - 1) + "]";
    }
    return at;
  }

  std::string place_;
  ErrorCode code_;
  Json root_;
  std::vector<Level> open_;
  size_t wrong_at_ = 0;
  std::string too_large_;  // a number
  Faults faults_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view place, ErrorCode code) {
  Builder builder(place, code);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) builder.fail(text);
  return builder.take();
}

std::string to_text(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

Json error_to_json(const Error& error) {
  return Json{{"code", to_word(error.code)}, {"message", error.message}, {"place", error.place}, {"hint", error.hint}};
}

namespace detail {

Json object_for(size_t members) {
  Json::object_t object;
  object.reserve(members);
  return object;
}

void append(Json& object, const char* key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

void wrong_type(const Json& found, std::string_view expected, std::string_view place) {
  throw Error(ErrorCode::kInvalidConfig,
              "Found " + shortened(to_text(found, false), 60) + " where " + std::string(expected) + " is expected.",
              std::string(place));
}

void unknown_key(std::string_view key, const std::vector<std::string>& allowed, std::string_view place) {
  throw Error(ErrorCode::kInvalidConfig, "There is no field \"" + shortened(key) + "\" here.", std::string(place),
              suggestion(key, allowed) + "The fields are: " + joined(allowed) + ".");
}

std::string join_place(std::string_view place, std::string_view key) {
  return place.empty() ? shortened(key) : std::string(place) + "." + shortened(key);
}

int64_t read_integer(const Json& json, int64_t low, int64_t high, std::string_view place) {
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(high))
    wrong_type(json, "a smaller number", place);
  if (json.is_number_float()) {
    const double number = json.get<double>();
    if (number == std::floor(number) && number >= -9e15 && number <= 9e15 && number >= static_cast<double>(low) &&
        number <= static_cast<double>(high))
      return static_cast<int64_t>(number);
    wrong_type(json, "a whole number", place);
  }
  if (!json.is_number_integer()) wrong_type(json, "a whole number", place);
  const int64_t number = json.get<int64_t>();
  if (number < low || number > high)
    wrong_type(json, "a whole number from " + std::to_string(low) + " to " + std::to_string(high), place);
  return number;
}

double read_number(const Json& json, std::string_view place) {
  if (!json.is_number()) wrong_type(json, "a number", place);
  const double number = json.get<double>();
  if (!std::isfinite(number)) wrong_type(json, "a finite number", place);
  return number;
}

}  // namespace detail
}  // namespace tersor
