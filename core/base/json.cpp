// SPDX-License-Identifier: Apache-2.0
#include "core/base/json.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "core/base/faults.h"

namespace tersor {

namespace {

/// Watches a text being parsed for members that an object has twice: the parser keeps the last and says nothing.
class Repeats {
 public:
  Repeats(std::string_view place, ErrorCode code) : place_(place), code_(code) {}

  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        begin_value();
        open_.push_back({event == Json::parse_event_t::array_start, {}, {}, 0});
        break;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        open_.pop_back();
        break;
      case Json::parse_event_t::key:
        add_key(parsed.get_ref<const std::string&>());
        break;
      case Json::parse_event_t::value:
        begin_value();
    }
    return true;
  }

  void throw_if_any() const { faults_.throw_if_any(code_, "The file", place_); }

 private:
  struct Level {
    bool is_array;
    std::set<std::string> keys;
    std::string key;  // the latest
    size_t items;     // of an array, so far
  };

  void begin_value() {
    if (!open_.empty() && open_.back().is_array) ++open_.back().items;
  }

  void add_key(const std::string& key) {
    open_.back().key = key;
    if (open_.back().keys.insert(key).second) return;
    std::string at = place_;
    for (const Level& level : open_)
      at = level.is_array ? at + "[" + std::to_string(level.items - 1) + "]" : detail::join_place(at, level.key);
    faults_.add(Error(code_, "The field \"" + key + "\" is there twice.", at, "Leave one of them."));
  }

  std::string place_;
  ErrorCode code_;
  std::vector<Level> open_;
  Faults faults_;
};

}  // namespace

Json parse_json(std::string_view text, std::string_view place, ErrorCode code) {
  Repeats repeats(place, code);
  std::string fault;
  const char* hint = "Check the brackets, commas and quotes around that place.";
  try {
    Json json = Json::parse(text.begin(), text.end(), std::ref(repeats));
    repeats.throw_if_any();
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    size_t line = 1, column = 1;
    for (size_t i = 0; i + 1 < error.byte && i < text.size(); ++i) {
      column = text[i] == '\n' ? 1 : column + 1;
      line += text[i] == '\n' ? 1 : 0;
    }
    fault = "This is not valid JSON: the fault is at line " + std::to_string(line) + ", column " +
            std::to_string(column) + ".";
  } catch (const nlohmann::json::out_of_range& error) {
    fault = "No double can hold " + std::string(std::strrchr(error.what(), ' ') + 1) + ".";  // its last word
    hint = "Its size may be 1.79e308 at most.";
  }
  throw Error(code, fault, std::string(place), hint);
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
  std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw Error(ErrorCode::kInvalidConfig, "Found " + text + " where " + std::string(expected) + " is expected.",
              std::string(place));
}

void unknown_key(std::string_view key, const std::vector<std::string>& allowed, std::string_view place) {
  throw Error(ErrorCode::kInvalidConfig, "There is no field \"" + std::string(key) + "\" here.", std::string(place),
              suggestion(key, allowed) + "The fields are: " + joined(allowed) + ".");
}

std::string join_place(std::string_view place, std::string_view key) {
  return place.empty() ? std::string(key) : std::string(place) + "." + std::string(key);
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
