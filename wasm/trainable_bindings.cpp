// SPDX-License-Identifier: Apache-2.0
// Names of the trainable quantizers, which the light engine is without.
#include <emscripten/bind.h>

#include "wasm/guard.h"
#include "wasm/trainable_objects.h"

namespace tersor::wasm {

using emscripten::val;

namespace {

TrainableObjects& trainables() {
  static TrainableObjects only;
  return only;
}

val make_trainable(const std::string& text) {
  return guard([&] { return trainables().make(text); });
}
val drop_trainable(int id) {
  return guard([&] { trainables().drop(id); });
}
val initialize_trainable(int id, const val& values, const val& shape, const std::string& name) {
  return guard([&] { return trainables().initialize(id, values, shape, name); });
}
val call_trainable(int id, const val& variables, const val& inputs, bool training) {
  return guard([&] { return trainables().call(id, variables, inputs, training); });
}
val gradient_of_trainable(int id, const val& variables, const val& inputs, const val& by_output) {
  return guard([&] { return trainables().gradient(id, variables, inputs, by_output); });
}
val convert_trainable(int id, const val& variables) {
  return guard([&] { return trainables().convert(id, variables); });
}
val variables_of_trainable(int id, const std::string& group) {
  return guard([&] { return trainables().trainable(id, group); });
}

}  // namespace

EMSCRIPTEN_BINDINGS(tersor_trainable) {
  using emscripten::function;
  function("makeTrainable", &make_trainable);
  function("dropTrainable", &drop_trainable);
  function("initializeTrainable", &initialize_trainable);
  function("callTrainable", &call_trainable);
  function("gradientOfTrainable", &gradient_of_trainable);
  function("convertTrainable", &convert_trainable);
  function("variablesOfTrainable", &variables_of_trainable);
}

}  // namespace tersor::wasm
