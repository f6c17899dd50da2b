// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/samples/make_files.h"

namespace csv_files_test {
using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const DataSet> table(const std::string& text, const InputSpec& spec,
                                     const std::string& name = "t.csv") {
  return open_set({{name, bytes_of(text)}}, {spec});
}

std::string refusal(const std::string& text, const InputSpec& spec, const std::string& name = "t.csv") {
  return error_of([&] {
    const auto data = table(text, spec, name);
    data->require_samples();
    SampleReader reader(data);
    for (int64_t i = 0; i < data->size(); ++i) reader.load(i);
  });
}

}  // namespace

TEST_CASE("each row of a table is a sample, of the shape of the input") {
  const auto data = table("1,2.5,-3e-1,4\n\n 5 ,\"6\",7,8\r\n", input({1, 2, 2}));
  data->require_samples();
  REQUIRE(data->size() == 2);
  REQUIRE(data->name(1) == "t.0001");
  REQUIRE(data->formats() == std::map<std::string, int64_t>{{"csv", 2}});
  SampleReader reader(data);
  REQUIRE(reader.load(1)[0] == Tensor::of<float>({1, 2, 2}, {5, 6, 7, 8}));
  REQUIRE(reader.load(0)[0] == Tensor::of<float>({1, 2, 2}, {1, 2.5f, -0.3f, 4}));
}

TEST_CASE("names of columns, a byte order mark and other separators are understood") {
  SampleReader named(
      table("\xef\xbb\xbf"
            "a;b\n1;2\n3;4",
            input({-1, 2})));
  REQUIRE(named.load(0)[0] == Tensor::of<float>({1, 2}, {1, 2}));
  REQUIRE(named.load(1)[0] == Tensor::of<float>({1, 2}, {3, 4}));
  SampleReader marked(
      table("\xef\xbb\xbf"
            "1\t2\n",
            input({-1, 2}), "t.tsv"));
  REQUIRE(marked.load(0)[0] == Tensor::of<float>({1, 2}, {1, 2}));
  const auto counted = table("0,1,2\n9,9,9\n", input({1, 3}));
  REQUIRE(counted->size() == 1);
  REQUIRE(table("0,1\n9,9\n", input({1, 2}))->size() == 2);
}

TEST_CASE("inputs of whole numbers take whole numbers, exactly") {
  SampleReader reader(table("9007199254740993,-1\n", input({1, 2}, DType::kInt64)));
  REQUIRE(reader.load(0)[0] == Tensor::of<int64_t>({1, 2}, {9007199254740993, -1}));
  REQUIRE_THAT(refusal("1,2.5\n", input({1, 2}, DType::kInt64)),
               Contains("Line 1: Column 2 is \"2.5\", which is no whole number."));
  REQUIRE_THAT(refusal("1,256\n", input({1, 2}, DType::kUint8)), Contains("The value 256 at [0, 1] does not fit"));
}

TEST_CASE("a free dimension takes what a row has") {
  SampleReader reader(table("1,2,3,4,5,6\n", input({1, -1, 2})));
  REQUIRE(reader.load(0)[0].shape() == Shape{1, 3, 2});
  REQUIRE_THAT(refusal("1,2,3,4\n", input({1, -1, -1})), Contains("Give .npy arrays"));
}

TEST_CASE("tables that are no samples say the line, the column and what to do") {
  const InputSpec two = input({1, 2});
  REQUIRE_THAT(refusal("1,2\n3,x\n", two),
               Contains("samples[1] \"t.0001\"") && Contains("Line 2: Column 2 is \"x\", which is no finite number."));
  REQUIRE_THAT(refusal("1,2\n\n3,\n", two), Contains("Line 3: Column 2 is empty."));
  REQUIRE_THAT(refusal("1,2\n3\n", two), Contains("Line 2: There are 1 values; the first row has 2."));
  REQUIRE_THAT(refusal("1.5,2,3.5\n", two), Contains("Line 1: There are 3 values; the input \"x\" takes 1x2.") &&
                                                Contains("its label in one more column"));
  REQUIRE_THAT(refusal("1 2\n", two), Contains("Separate the values by commas"));
  REQUIRE_THAT(refusal("1,5;2,5\n", two), Contains("decimal point"));
  REQUIRE_THAT(refusal("nan,1\n", two), Contains("Column 1 is \"nan\", which is no finite number."));
  REQUIRE_THAT(refusal("1e999,1\n", two), Contains("which is no finite number"));
  REQUIRE_THAT(refusal("1,2,abc,4\n5,6,7,8\n", input({1, 4})), Contains("Line 1: Column 3 is \"abc\""));
  REQUIRE_THAT(refusal("a,1\n5,6\n", two), Contains("Line 1: Column 1 is \"a\""));
  REQUIRE_THAT(refusal("0x10,1\n", two), Contains("which is no finite number"));
  REQUIRE_THAT(refusal("1,1e-\n", two), Contains("which is no finite number"));
  REQUIRE_THAT(refusal("a,b\n", two), Contains("The file holds no row of numbers."));
  REQUIRE_THAT(refusal(" \n\n", two), Contains("The file holds no row of numbers."));
  REQUIRE_THAT(refusal("<html></html>", two), Contains("The file is named .csv and is an HTML page."));
  REQUIRE_THAT(refusal(std::string("PK\x03\x04", 4), two), Contains("a zip archive"));
  REQUIRE_THAT(refusal(std::string(200, '9') + ",1\n", two), Contains("\"999999999999999999999999...\""));
  REQUIRE_THAT(error_of([&] {
                 open_set({{"t.csv", bytes_of("1,2\n")}}, {two, two})->require_samples();
               }),
               Contains("the model has 2 inputs"));
}

namespace {

/// "name=number:count" of every class.
std::string classes_of(const DataSet& data) {
  std::string text;
  for (const SampleClass& one : data.classes())
    text += (text.empty() ? "" : " ") + one.name + "=" + std::to_string(one.number) + ":" + std::to_string(one.count);
  return text;
}

}  // namespace

TEST_CASE("one column more than the input takes holds the labels") {
  const InputSpec two = input({1, 2});
  const auto first = table("3,0.5,1.5\n0,2.5,3\n3.0,4,5\n", two);
  first->require_samples();
  REQUIRE(first->label_source() == LabelSource::kFiles);
  REQUIRE(classes_of(*first) == "0=0:1 3=3:2");
  REQUIRE(first->class_of(1) == 0u);
  REQUIRE(SampleReader(first).load(1)[0] == Tensor::of<float>({1, 2}, {2.5f, 3}));
  const auto last = table("0.5,1.5,2\n2.5,3.5,7\n", two);
  REQUIRE(classes_of(*last) == "2=2:1 7=7:1");
  REQUIRE(SampleReader(last).load(0)[0] == Tensor::of<float>({1, 2}, {0.5f, 1.5f}));
  const auto named = table("a,Label,b\n1,9,2\n3,8,4\n", two);
  REQUIRE(classes_of(*named) == "8=8:1 9=9:1");
  REQUIRE(SampleReader(named).load(1)[0] == Tensor::of<float>({1, 2}, {3, 4}));
  const auto words = table("1,2,rose\n3,4,iris\n5,6,rose\n", two);
  REQUIRE(classes_of(*words) == "iris=0:1 rose=1:2");
  const auto numbered = table("label,0,1\n4,9,9\n", two);
  REQUIRE(numbered->size() == 1);
  REQUIRE(classes_of(*numbered) == "4=4:1");
  // a free dimension takes all values, unless a column is called so
  REQUIRE(table("1,2,3\n", input({1, -1}))->classes().empty());
  REQUIRE(classes_of(*table("a,b,label\n1,2,3\n", input({1, -1}))) == "3=3:1");
  REQUIRE_THAT(refusal("1,2,a\n3,4,\n", two), Contains("Line 2: The label is empty."));
  REQUIRE_THAT(refusal("1,2,3\nx,4,5\n", two), Contains("Line 2: Column 1 is \"x\""));
}

TEST_CASE("a table with labels beside one without is a fault") {
  const auto mixed = open_set({{"a.csv", bytes_of("1,2\n")}, {"b.csv", bytes_of("1,2,3\n")}}, {input({1, 2})});
  REQUIRE(mixed->classes().empty());
  REQUIRE_THAT(error_of([&] { mixed->require_samples(); }), Contains("a.csv") && Contains("holds no labels"));
}

TEST_CASE("a table beside samples of other kinds is passed over, beside tables it is a fault") {
  const FileBytes array = npy<float>("<f4", "(1, 2)", {1, 2});
  const auto beside = open_set({{"a.npy", array}, {"names.csv", bytes_of("file,label\na,0\n")}}, {input({1, 2})});
  beside->require_samples();
  REQUIRE(beside->skipped().size() == 1);
  REQUIRE_THAT(beside->skipped()[0].reason, Contains("no table of samples"));
  const auto among = open_set({{"a.csv", bytes_of("1,2\n")}, {"b.csv", bytes_of("1,2,3,4\n")}}, {input({1, 2})});
  REQUIRE_THAT(error_of([&] { among->require_samples(); }), Contains("samples \"b.csv\""));
}

TEST_CASE("a long table is read part by part, with every row where it belongs") {
  std::string text = "first,second\n";
  for (int i = 0; i < 300000; ++i) text += std::to_string(i) + "," + std::to_string(-i) + "\n";
  REQUIRE(text.size() > (size_t{3} << 20));
  const auto data = table(text, input({1, 2}));
  REQUIRE(data->size() == 300000);
  SampleReader reader(data);
  bool right = true;
  for (int64_t i = 0; i < data->size(); ++i) {
    const Tensor tensor = reader.load(i)[0];
    right =
        right && tensor.data<float>()[0] == static_cast<float>(i) && tensor.data<float>()[1] == static_cast<float>(-i);
  }
  REQUIRE(right);
}

TEST_CASE("bytes changed in a table are read or refused, never worse") {
  const std::string good = "a,b,c\n1,2.5,3\n-4,5e2,\"6\"\n";
  int read = 0, refused = 0;
  for (size_t at = 0; at < good.size(); ++at)
    for (char c : {'\0', '\n', ',', ';', '"', '-', 'e', '\xff'}) {
      std::string bad = good;
      bad[at] = c;
      (refusal(bad, input({1, 3})) == "no error" ? read : refused) += 1;
    }
  REQUIRE(read > 0);
  REQUIRE(refused > 0);
}

}  // namespace csv_files_test
