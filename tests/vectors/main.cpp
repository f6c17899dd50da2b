// SPDX-License-Identifier: Apache-2.0
// tersor-vectors FILE.json: one line per case with what was expected and what came out, then the count of each. With
// --if-there the file is looked for among the shared specifications, and its absence is no failure.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/error.h"
#include "tests/vectors/case.h"

using namespace tersor;
using namespace tersor::vectors;

namespace {

using Judge = std::optional<Verdict> (*)(const Case&);
constexpr Judge kJudges[] = {judge_quantizer,          judge_histogram,  judge_activation, judge_weight,
                             judge_correction,         judge_similarity, judge_graph,      judge_numbered_graph,
                             judge_numbered_selection, judge_mixed,      judge_trainable,  judge_numbered};

Case read_case(const Json& json, const Json& inputs) {
  Case one;
  one.id = json.value("id", "?");
  one.title = json.value("title", "");
  one.function = json.value("function", "");
  one.input = json.value("input", Json::object());
  one.output = json.contains("output") ? json["output"] : json.value("expected", Json());
  one.tolerance = json.value("tolerance", 0.0);
  one.deviates = json.value("deviates", "");
  one.inputs = &inputs;
  return one;
}

Verdict judge(const Case& one) {
  try {
    for (const Judge judge_case : kJudges)
      if (const auto found = judge_case(one)) return *found;
  } catch (const std::exception& error) {
    return {Verdict::kFailed, "a result", std::string("an error: ") + error.what(), {}};
  }
  return skipped("no rule here for the kind \"" + one.function + "\"");
}

void print(const Case& one, const Verdict& found) {
  constexpr const char* kWords[] = {"pass", "FAIL", "skip"};
  std::printf("%s %s %s%s%s:", kWords[found.kind], one.id.c_str(), one.function.c_str(),
              one.function.empty() ? "" : ", ", one.title.c_str());
  if (found.kind != Verdict::kSkipped) std::printf(" expected %s, got %s", found.expected.c_str(), found.got.c_str());
  if (!found.remark.empty()) std::printf("%s %s", found.kind == Verdict::kSkipped ? "" : ";", found.remark.c_str());
  std::printf("\n");
}

int run(const std::string& path, bool if_there) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(if_there ? stdout : stderr, "%s: %s is not here.\n", if_there ? "skipped" : "tersor-vectors",
                 path.c_str());
    return if_there ? 0 : 2;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json json = parse_json(text, path);
  const Json inputs = json.value("inputs", Json::object());
  int counts[3] = {0, 0, 0};
  for (const Json& one : json.at("vectors")) {
    const Case read = read_case(one, inputs);
    const Verdict found = judge(read);
    print(read, found);
    ++counts[found.kind];
  }
  std::printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
  return counts[1] == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool if_there = argc == 3 && std::string(argv[1]) == "--if-there";
  if (argc != 2 && !if_there) {
    std::fprintf(stderr, "usage: tersor-vectors FILE.json\n");
    return 2;
  }
  const char* shared = std::getenv("TERSOR_SHARED");
  const std::string path =
      if_there ? std::string(shared != nullptr ? shared : "../shared") + "/spec/" + argv[2] : std::string(argv[1]);
  try {
    return run(path, if_there);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tersor-vectors: %s\n", error.what());
    return 2;
  }
}
