// SPDX-License-Identifier: Apache-2.0
// What every bound function answers with: {ok: true, value} or {ok: false, error: {code, message, place, hint}}. No C++
// exception leaves the bindings.
#pragma once

#include <emscripten/val.h>

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/base/error.h"

namespace tersor::wasm {

emscripten::val failure(const Error& error);

template <class Work>
emscripten::val guard(Work&& work) {
  try {
    emscripten::val answer = emscripten::val::object();
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      answer.set("value", emscripten::val::null());
    } else {
      answer.set("value", work());
    }
    answer.set("ok", true);
    return answer;
  } catch (const Error& error) {
    return failure(error);
  } catch (const std::bad_alloc&) {
    return failure(Error(ErrorCode::kOutOfMemory, "The memory is used up.", {},
                         "Use fewer workers or smaller samples, or the native program."));
  } catch (const std::exception& error) {
    return failure(Error(ErrorCode::kInternal, error.what(), {}, "This is a bug in Tersor; please report it."));
  }
}

}  // namespace tersor::wasm
