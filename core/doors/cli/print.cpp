// SPDX-License-Identifier: Apache-2.0
#include "core/cli/print.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "core/base/visible.h"

namespace tersor::cli {

namespace {

void put(std::FILE* stream, const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return;
  std::string text(static_cast<size_t>(length) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  text = visible(std::move(text));
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace

void print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  put(stdout, format, arguments);
  va_end(arguments);
}

void print_error(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  put(stderr, format, arguments);
  va_end(arguments);
}

void print_note(const Diagnostic& note) {
  print_error("note: %s%s%s\n", note.place.empty() ? "" : (note.place + ": ").c_str(), note.message.c_str(),
              note.hint.empty() ? "" : (" " + note.hint).c_str());
}

}  // namespace tersor::cli
