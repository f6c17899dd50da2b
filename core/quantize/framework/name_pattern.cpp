// SPDX-License-Identifier: Apache-2.0
// By hand, because std::regex takes exponential time and recurses by letter, and RE2 brings Abseil, which no
// distribution has for WebAssembly and which is many times the size of this file there.
#include "core/framework/name_pattern.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace tersor::framework {

namespace {

using Bytes = std::bitset<256>;

constexpr size_t kMostSteps = 20000, kMostNested = 100, kMostTimes = 1000;

void add_range(Bytes& bytes, unsigned char first, unsigned char last) {
  for (int byte = first; byte <= last; ++byte) bytes.set(static_cast<size_t>(byte));
}

/// \d, \w, \s; none for other letters.
Bytes class_of(char letter) {
  Bytes bytes;
  if (letter == 'd' || letter == 'w') add_range(bytes, '0', '9');
  if (letter == 'w') add_range(bytes, 'a', 'z'), add_range(bytes, 'A', 'Z'), bytes.set('_');
  if (letter == 's')
    for (const char one : {' ', '\t', '\n', '\r', '\f', '\v'}) bytes.set(static_cast<size_t>(one));
  return bytes;
}

}  // namespace

/// Reads an expression; what it has read stands in `steps` with jumps relative to each step, so that a block of steps
/// may be moved and repeated.
class NamePattern::Reader {
 public:
  Reader(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  std::vector<Step> read() {
    alternatives();
    if (!at_end()) refuse("has a ) without its (");
    steps_.push_back({Step::Kind::kMatch});
    return std::move(steps_);
  }

 private:
  using Block = std::vector<Step>;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(
        ErrorCode::kInvalidConfig, "The pattern \"" + std::string(text_) + "\" " + what + ".", place_,
        "Regular expressions have . [ ] ( ) | * + ? {m,n} ^ $ \\d \\w \\s; \\ before a sign takes it as it is.");
  }
  bool at_end() const { return at_ == text_.size(); }
  bool sees(char letter) const { return !at_end() && text_[at_] == letter; }
  bool take(char letter) {
    if (!sees(letter)) return false;
    ++at_;
    return true;
  }
  char next(const char* otherwise) {
    if (at_end()) refuse(otherwise);
    return text_[at_++];
  }
  void append(const Block& block) {
    if (steps_.size() + block.size() > kMostSteps) refuse("is too long");
    steps_.insert(steps_.end(), block.begin(), block.end());
  }
  void split_at(size_t place, std::ptrdiff_t first, std::ptrdiff_t second) {
    Step step{Step::Kind::kSplit};
    step.next[0] = first;
    step.next[1] = second;
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(place), step);
  }
  std::ptrdiff_t length_from(size_t begin) const { return static_cast<std::ptrdiff_t>(steps_.size() - begin); }

  void alternatives() {
    if (++nested_ > kMostNested) refuse("has too many groups within each other");
    const size_t begin = steps_.size();
    sequence();
    if (take('|')) {
      split_at(begin, 1, length_from(begin) + 2);
      const size_t jump = steps_.size();
      split_at(jump, 0, 0);
      alternatives();
      steps_[jump].next[0] = steps_[jump].next[1] = length_from(jump);
    }
    --nested_;
  }

  void sequence() {
    while (!at_end() && !sees('|') && !sees(')')) {
      const size_t begin = steps_.size();
      atom();
      quantifier(begin);
    }
  }

  void atom() {
    const char letter = next("");
    Step step;
    if (letter == '(') {
      if (take('?') && !take(':')) refuse("looks ahead or behind, or names a group");
      alternatives();
      if (!take(')')) refuse("has a ( without its )");
      return;
    }
    if (letter == '^' || letter == '$') {
      step.kind = letter == '^' ? Step::Kind::kBegin : Step::Kind::kEnd;
    } else if (letter == '.') {
      step.bytes.set();
      step.bytes.reset('\n');
    } else if (letter == '[') {
      step.bytes = set_of_bytes();
    } else if (letter == '\\') {
      step.bytes = escaped();
    } else if (letter == '*' || letter == '+' || letter == '?') {
      refuse(std::string("repeats nothing with ") + letter);
    } else {
      step.bytes.set(static_cast<unsigned char>(letter));
    }
    append({step});
  }

  Bytes escaped() {
    const char letter = next("ends with \\");
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    Bytes bytes = class_of(letter);
    if (bytes.any()) return bytes;
    bytes = class_of(static_cast<char>(letter | 0x20));
    if (is_letter && bytes.any()) return ~bytes;
    if (is_letter || (letter >= '1' && letter <= '9'))
      refuse(std::string("has \\") + letter + ", which is not known here");
    bytes.set(static_cast<unsigned char>(letter));
    return bytes;
  }

  Bytes set_of_bytes() {
    constexpr const char* kOpen = "has a [ without its ]";
    const bool inverse = take('^');
    Bytes bytes;
    for (bool first = true; first || !sees(']'); first = false) {
      const char letter = next(kOpen);
      if (letter == '\\') {
        bytes |= escaped();
        continue;
      }
      const bool is_range = sees('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
      char last = letter;
      if (is_range) ++at_, last = next(kOpen);
      const auto from = static_cast<unsigned char>(letter), to = static_cast<unsigned char>(last);
      if (to < from) refuse("has a range whose end is before its beginning");
      add_range(bytes, from, to);
    }
    ++at_;
    return inverse ? ~bytes : bytes;
  }

  void quantifier(size_t begin) {
    size_t least = 0, most = 0;  // most 0: any number
    if (take('*')) {
    } else if (take('+')) {
      least = 1;
    } else if (take('?')) {
      most = 1;
    } else if (!read_times(least, most)) {
      return;
    }
    take('?');  // as few as possible: what matches is the same
    const Block block(steps_.begin() + static_cast<std::ptrdiff_t>(begin), steps_.end());
    const auto length = static_cast<std::ptrdiff_t>(block.size());
    steps_.resize(begin);
    for (size_t k = 0; k < least; ++k) append(block);
    if (most == 0 && least > 0) {
      split_at(steps_.size(), -length, 1);
    } else if (most == 0) {
      split_at(begin, 1, length + 2);
      append(block);
      split_at(steps_.size(), -length - 1, -length - 1);
    }
    for (size_t k = least; k < most; ++k) {
      split_at(steps_.size(), 1, length + 1);
      append(block);
    }
  }

  /// {m}, {m,} and {m,n}; what is none of these is text.
  bool read_times(size_t& least, size_t& most) {
    const size_t begin = at_;
    const auto number = [&](size_t& value) {
      const size_t first = at_;
      for (value = 0; !at_end() && text_[at_] >= '0' && text_[at_] <= '9' && value <= kMostTimes; ++at_)
        value = value * 10 + static_cast<size_t>(text_[at_] - '0');
      return at_ > first;
    };
    bool is_open = false;
    if (take('{') && number(least)) {
      most = least;
      if (take(',')) is_open = !number(most);
      if (take('}')) {
        if (least > kMostTimes || most > kMostTimes) refuse("repeats more than 1000 times");
        if (!is_open && most < least) refuse("has a number of times whose end is before its beginning");
        if (is_open) most = 0;
        if (!is_open && most == 0) refuse("repeats something no time");
        return true;
      }
    }
    at_ = begin;
    return false;
  }

  std::string_view text_;
  const std::string& place_;
  size_t at_ = 0, nested_ = 0;
  std::vector<Step> steps_;
};

NamePattern::NamePattern(std::string_view text, const std::string& place) : steps_(Reader(text, place).read()) {}

bool NamePattern::matches(std::string_view name) const {
  std::vector<size_t> now{0}, then;
  std::vector<size_t> seen(steps_.size(), 0);  // 1 + the place at which a step was entered last
  for (size_t at = 0; at <= name.size() && !now.empty(); ++at) {
    then.clear();
    while (!now.empty()) {
      const size_t index = now.back();
      now.pop_back();
      if (std::exchange(seen[index], at + 1) == at + 1) continue;
      const Step& step = steps_[index];
      const auto to = [&](std::ptrdiff_t jump) {
        return static_cast<size_t>(static_cast<std::ptrdiff_t>(index) + jump);
      };
      switch (step.kind) {
        case Step::Kind::kMatch:
          return true;
        case Step::Kind::kSplit:
          now.push_back(to(step.next[0]));
          now.push_back(to(step.next[1]));
          break;
        case Step::Kind::kBegin:
          if (at == 0) now.push_back(to(1));
          break;
        case Step::Kind::kEnd:
          if (at == name.size()) now.push_back(to(1));
          break;
        case Step::Kind::kByte:
          if (at < name.size() && step.bytes[static_cast<unsigned char>(name[at])]) then.push_back(to(1));
          break;
      }
    }
    now.swap(then);
  }
  return false;
}

}  // namespace tersor::framework
