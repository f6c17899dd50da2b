// SPDX-License-Identifier: Apache-2.0
#include "core/samples/data_set.h"
#include "core/samples/fixed_batch.h"
#include "core/samples/graph_preset.h"
#include "core/samples/labels.h"
#include "core/samples/model_inputs.h"

#include <limits>

#include "tests/catch.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"

namespace data_set_test {
using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

FileBytes one(float value) {
  return npy<float>("<f4", "(1, 2)", {value, value});
}

FileBytes jpeg() {
  return bytes_of(std::span<const uint8_t>(material::kJpegSquare420));
}

std::vector<std::string> names(const DataSet& data) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < data.size(); ++i) result.push_back(data.name(i));
  return result;
}

/// The first value of every sample.
std::vector<float> firsts(const std::shared_ptr<const DataSet>& data) {
  std::vector<float> result;
  SampleReader reader(data);
  for (int64_t i = 0; i < data->size(); ++i) result.push_back(reader.load(i)[0].data<float>()[0]);
  return result;
}

/// Counts what is read, and refuses to give large ranges.
class FrugalSource : public FileSource {
 public:
  explicit FrugalSource(const NamedFiles& files) : inner_(source_of(files)) {}
  const std::vector<SourceFile>& files() const override { return inner_->files(); }
  Bytes read(size_t file, uint64_t offset, uint64_t length) const override {
    largest = std::max(largest, length);
    return inner_->read(file, offset, length);
  }
  mutable uint64_t largest = 0;

 private:
  std::shared_ptr<const FileSource> inner_;
};

}  // namespace

TEST_CASE("samples stand in bytewise order of their paths, array elements by index") {
  const auto data = open_set({{"b.npy", one(4)},
                              {"a/z.npy", one(2)},
                              {"a.npy", npy<float>("<f4", "(2, 2)", {0, 0, 1, 1})},
                              {"B.npy", one(9)},
                              {"\xc3\xa9.npy", one(5)}},
                             {input({1, 2})});
  REQUIRE(names(*data) == std::vector<std::string>{"B", "a.0000", "a.0001", "a/z", "b", "\xc3\xa9"});
  REQUIRE(firsts(data) == std::vector<float>{9, 0, 1, 2, 4, 5});
  REQUIRE(data->place(3) == "samples[3] \"a/z\"");
  REQUIRE(data->formats() == std::map<std::string, int64_t>{{"npy", 6}});
}

TEST_CASE("samples may be read in any order by several readers") {
  const auto data =
      open_set({{"a.npy", npy<float>("<f4", "(3, 2)", {0, 0, 1, 1, 2, 2})}, {"b.npy", one(3)}}, {input({-1, 2})});
  SampleReader reader(data), other(data);
  REQUIRE(reader.load(3)[0] == Tensor::of<float>({1, 2}, {3, 3}));
  REQUIRE(other.load(2)[0] == Tensor::of<float>({1, 2}, {2, 2}));
  REQUIRE(reader.load(0)[0] == Tensor::of<float>({1, 2}, {0, 0}));
}

TEST_CASE("an element of a large array is read alone") {
  std::vector<float> values(1000000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 1000);
  auto source = std::make_shared<FrugalSource>(NamedFiles{{"a.npy", npy<float>("<f4", "(1000, 1000)", values)}});
  const auto data = DataSet::open(source, {input({1, 1000})});
  SampleReader reader(data);
  REQUIRE(reader.load(999)[0].data<float>()[0] == 999);
  REQUIRE(source->largest < 100000);
}

TEST_CASE("archives give an array to each input by name") {
  const std::vector<InputSpec> inputs = {input({1, 3, 2}, DType::kFloat32, "a"), input({1, 1}, DType::kInt64, "b")};
  const auto data = open_set({{"many.npz", bytes_of(std::span<const uint8_t>(material::kNpzDeflated))},
                              {"one.npz", bytes_of(std::span<const uint8_t>(material::kNpzStored))}},
                             inputs);
  data->require_samples();
  REQUIRE(names(*data) == std::vector<std::string>{"many.0000", "many.0001", "many.0002", "many.0003", "one"});
  SampleReader reader(data);
  const auto third = reader.load(2), last = reader.load(4);
  REQUIRE(third[0] == Tensor::of<float>({1, 3, 2}, {12, 13, 14, 15, 16, 17}));
  REQUIRE(third[1] == Tensor::of<int64_t>({1, 1}, {2}));
  REQUIRE(last[1] == Tensor::of<int64_t>({1, 1}, {7}));
}

TEST_CASE("frames beside a state that cannot be stacked are one sample") {
  const std::vector<InputSpec> inputs = {input({-1, 2}, DType::kFloat32, "frames"),
                                         input({1, 1, 2}, DType::kFloat32, "state")};
  const auto data = open_set({{"s.npz", zip_of({{"frames.npy", npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6})},
                                                {"state.npy", npy<float>("<f4", "(1, 1, 2)", {7, 8})}})}},
                             inputs);
  data->require_samples();
  REQUIRE(data->size() == 1);
  SampleReader reader(data);
  const auto sample = reader.load(0);
  REQUIRE(sample[0] == Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  REQUIRE(sample[1] == Tensor::of<float>({1, 1, 2}, {7, 8}));
}

TEST_CASE("the past of a decoder is empty where samples have none; another state has to be there") {
  std::vector<InputSpec> inputs = {input({-1, 2, -1, 4}, DType::kFloat32, "past_key_values.0.key"),
                                   input({-1, -1}, DType::kInt64, "input_ids")};
  inputs[0].next = 1;
  const NamedFiles prompts = {{"input_ids.npy", npy<int64_t>("<i8", "(2, 3)", {5, 6, 7, 8, 9, 10})}};
  const auto data = open_set({{"s.npz", zip_of(prompts)}}, inputs);
  data->require_samples();
  REQUIRE(data->size() == 2);
  SampleReader reader(data);
  const auto second = reader.load(1);
  REQUIRE(second[0].shape() == Shape{1, 2, 0, 4});
  REQUIRE(second[1] == Tensor::of<int64_t>({1, 3}, {8, 9, 10}));
  // token ids alone leave no choice either
  const auto alone = open_set({{"s.npy", npy<int64_t>("<i8", "(1, 3)", {5, 6, 7})}}, inputs);
  REQUIRE(SampleReader(alone).load(0)[0].shape() == Shape{1, 2, 0, 4});
  inputs[0].name = "hidden";
  REQUIRE_THAT(error_of([&] {
                 open_set({{"s.npz", zip_of(prompts)}}, inputs)->require_samples();
               }),
               Contains("The input \"hidden\" is missing"));
}

TEST_CASE("an archive that lacks an input, or holds different counts, is a problem that names it") {
  const auto problem = [](const NamedFiles& members, const std::vector<InputSpec>& inputs) {
    return error_of([&] { open_set({{"s.npz", zip_of(members)}}, inputs)->require_samples(); });
  };
  const std::vector<InputSpec> two = {input({1, 2}, DType::kFloat32, "a"), input({1, 2}, DType::kFloat32, "b")};
  REQUIRE_THAT(problem({{"a.npy", one(1)}, {"c.npy", one(1)}}, two),
               Contains("samples \"s.npz\" | The input \"b\" is missing; the archive holds \"a\", \"c\"."));
  REQUIRE_THAT(problem({{"a.npy", one(1)}, {"b.npy", npy<float>("<f4", "(2, 2)", {1, 1, 2, 2})}}, two),
               Contains("There are 1 samples of the input \"a\" and 2 of \"b\"."));
  REQUIRE_THAT(problem({{"a.npy", one(1)}, {"b.npy", npy<float>("<f4", "(1, 3)", {1, 1, 2})}}, two),
               Contains("The array \"b.npy\""));
  REQUIRE(problem({{"arr_0.npy", one(1)}}, {input({1, 2})}) == "no error");
  REQUIRE_THAT(error_of([&] {
                 open_set({{"a.npy", one(1)}}, two)->require_samples();
               }),
               Contains("the model has 2 inputs: \"a\", \"b\""));
}

TEST_CASE("files that are no samples are listed as skipped, with what they are") {
  const auto data = open_set({{"README.md", bytes_of("# text")},
                              {".DS_Store", bytes_of("x")},
                              {"__MACOSX/a.npy", one(1)},
                              {"cat.webp", bytes_of("RIFF....WEBP")},
                              {"a.npy", one(1)},
                              {"sub/.hidden/x.npy", one(2)}},
                             {input({1, 2})});
  REQUIRE(data->size() == 1);
  std::string listed;
  for (const Skipped& file : data->skipped()) listed += file.path + ": " + file.reason + "\n";
  REQUIRE(listed ==
          ".DS_Store: hidden\nREADME.md: of an unknown kind (.md)\n__MACOSX/a.npy: hidden\ncat.webp: a WebP picture\n"
          "sub/.hidden/x.npy: hidden\n");
}

TEST_CASE("files that should be samples and cannot are problems, and the first is the error") {
  const auto data = open_set({{"a.npy", one(1)},
                              {"b.npy", npy<float>("<f4", "(1, 3)", {1, 2, 3})},
                              {"c.jpg", bytes_of("<html>")},
                              {"d.png", jpeg()},
                              {"e.npy", {}}},
                             {input({1, 2})});
  REQUIRE(data->size() == 1);
  REQUIRE(data->problems().size() == 4);
  REQUIRE_THAT(
      error_of([&] { data->require_samples(); }),
      Contains("samples \"b.npy\" | The shape is 1x3, the input \"x\" takes 1x2.") && Contains("3 more of the files"));
  REQUIRE(data->problems()[1].error.message == "The file is named .jpg and is an HTML page.");
  REQUIRE(data->problems()[2].error.message == "The input \"x\" takes 1x2, which is no picture of 1 or 3 channels.");
  REQUIRE(data->problems()[3].error.message == "The file is named .npy and is an empty file.");
}

TEST_CASE("labels among the samples are recognized") {
  REQUIRE_THAT(error_of([] {
                 open_set({{"y.npy", npy<int64_t>("<i8", "(3,)", {0, 1, 2})}}, {input({1, 2})})->require_samples();
               }),
               Contains("The shape is 3, the input \"x\" takes 1x2.") && Contains("If these are labels"));
}

TEST_CASE("no samples is an error that says what was there and what is read") {
  REQUIRE_THAT(error_of([] {
                 open_set({}, {input({1, 2})})->require_samples();
               }),
               Contains("There are no samples here.") && Contains(".npy"));
  REQUIRE_THAT(error_of([] {
                 open_set({{"a.gif", bytes_of("GIF89a")}}, {input({1, 2})})->require_samples();
               }),
               Contains("The file \"a.gif\" (a GIF picture) cannot be read as one."));
  REQUIRE_THAT(
      error_of([] {
        open_set({{"a.mp3", bytes_of("ID3\3")}, {"b.mat", bytes_of("MATLAB 5.0")}}, {input({1, 2})})->require_samples();
      }),
      Contains("None of the 2 files can be read as one; the first is \"a.mp3\" (an MP3 recording)."));
}

TEST_CASE("NaN in a sample names the sample") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto data = open_set({{"x.npy", npy<float>("<f4", "(3, 2)", {0, 0, 0, nan, 0, 0})}}, {input({1, 2})});
  SampleReader reader(data);
  REQUIRE_NOTHROW(reader.load(0));
  REQUIRE_THAT(error_of([&] { reader.load(1); }),
               Contains("samples[1] \"x.0001\" | The value at [0, 1] of the input \"x\" is not a number"));
}

TEST_CASE("a model that is only run takes any value") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto data = open_set({{"x.npy", npy<float>("<f4", "(1, 2)", {0, nan})}}, {input({1, 2})});
  SampleReader reader(data, SampleReader::Values::kAny);
  REQUIRE_NOTHROW(reader.load(0));
}

TEST_CASE("samples of one row fill the rows of a fixed batch, those of the whole batch stay") {
  const auto rows = open_set({{"x.npy", npy<float>("<f4", "(3, 2)", {1, 2, 3, 4, 5, 6})}}, {input({4, 2})});
  REQUIRE(rows->size() == 3);
  REQUIRE(rows->batch() == 4);
  const Tensor second = SampleReader(rows).load(1)[0];
  REQUIRE(second.shape() == Shape{4, 2});
  REQUIRE(second.to_doubles() == std::vector<double>{3, 4, 3, 4, 3, 4, 3, 4});
  const auto pictures = open_set({{"cat/0.jpg", jpeg()}, {"dog/1.jpg", jpeg()}}, {input({2, 3, 16, 16})});
  REQUIRE(pictures->size() == 2);
  REQUIRE(pictures->classes().size() == 2);
  REQUIRE(SampleReader(pictures).load(0)[0].shape() == Shape{2, 3, 16, 16});
  const auto whole = open_set({{"x.npy", npy<float>("<f4", "(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8})}}, {input({4, 2})});
  REQUIRE(whole->size() == 1);
  REQUIRE(whole->batch() == 1);
  // Opened anew with another preprocessing, the rows fill the batch again.
  const auto again = pictures->with(preset("raw", input({2, 3, 16, 16})));
  REQUIRE(again->batch() == 2);
  REQUIRE(again->size() == 2);
}

TEST_CASE("of what a model makes of a repeated sample the first row counts") {
  const std::vector<Tensor> made = first_rows(
      {Tensor::of<float>({2, 3}, {1, 2, 3, 1, 2, 3}), Tensor::of<float>({1, 2}, {5, 6}), Tensor::scalar(7.0f)}, 2);
  REQUIRE(made[0].shape() == Shape{1, 3});
  REQUIRE(made[0].to_doubles() == std::vector<double>{1, 2, 3});
  REQUIRE(made[1].shape() == Shape{1, 2});
  REQUIRE(made[2].shape() == Shape{});
  REQUIRE(first_rows(fill_batch({Tensor::of<float>({1, 2}, {5, 6})}, 3), 3)[0].to_doubles() ==
          std::vector<double>{5, 6});
}

TEST_CASE("one label a row for samples of whole batches is answered with what to do") {
  const auto whole = open_set({{"x.npy", npy<float>("<f4", "(4, 2)", {1, 2, 3, 4, 5, 6, 7, 8})}}, {input({4, 2})});
  const std::string text = "0\n1\n0\n1\n";
  const auto held = std::make_shared<const std::string>(text);
  try {
    read_labels({"labels.txt", std::as_bytes(std::span(*held)), held}, *whole, 1, 0);
    FAIL("accepted");
  } catch (const Error& error) {
    REQUIRE(error.hint.find("whole batches of 4") != std::string::npos);
  }
}

TEST_CASE("a graph that takes off a mean says how pictures are to be read") {
  const auto preset_of = [](const char* type, float constant, bool normalizes = false) {
    Graph graph;
    graph.inputs = {graph.add_value("x", DType::kFloat32, std::vector<Dim>{{1, {}}, {3, {}}, {8, {}}, {8, {}}})};
    Node node;
    node.op_type = type;
    node.inputs = {graph.inputs[0], graph.add_initializer("c", Tensor::scalar(constant))};
    if (normalizes)
      node.inputs = {graph.inputs[0], graph.add_initializer("g", Tensor::of<float>({1}, std::vector<float>{1})),
                     graph.add_initializer("b", Tensor::of<float>({1}, std::vector<float>{0})), node.inputs[1],
                     graph.add_initializer("v", Tensor::of<float>({1}, std::vector<float>{0.07f}))};
    node.outputs = {graph.add_value("y")};
    graph.outputs = node.outputs;
    graph.append(std::move(node));
    return std::string(preset_of_graph(graph).value_or("none"));
  };
  REQUIRE(preset_of("Div", 255) == "raw");
  REQUIRE(preset_of("Sub", 127.5f) == "raw");
  REQUIRE(preset_of("BatchNormalization", 0.45f, true) == "unit");
  REQUIRE(preset_of("Mul", 0.5f) == "none");
  REQUIRE(preset_of("Conv", 255) == "none");
  DataSetOptions options;
  options.guess = "raw";
  const auto data = open_set({{"0.jpg", jpeg()}}, {input({1, 3, 256, 256})}, options);
  REQUIRE(data->guess() == "raw");
  REQUIRE(data->preprocessing().scale == 1);
}

TEST_CASE("pictures are one sample each, with a guess where nobody says how they are prepared") {
  const NamedFiles files = {{"cat/0.jpg", jpeg()}, {"dog/0.png", png_of({2, 2, 8, 2, 0, {}, FileBytes(14)})}};
  const auto guessed = open_set(files, {input({1, 3, 16, 16})});
  REQUIRE(guessed->is_guess());
  REQUIRE(guessed->has_pictures());
  REQUIRE(guessed->preprocessing().scale == 1.0 / 255);
  SampleReader reader(guessed);
  REQUIRE(reader.load(0)[0].shape() == Shape{1, 3, 16, 16});
  DataSetOptions options;
  options.preprocessing = preset("raw", input({1, 3, 16, 16}));
  const auto given = open_set(files, {input({1, 3, 16, 16})}, options);
  REQUIRE_FALSE(given->is_guess());
  SampleReader other(given);
  REQUIRE(other.load(1)[0].data<float>()[0] == 0);
  REQUIRE_FALSE(open_set({{"a.npy", one(1)}}, {input({1, 2})})->is_guess());
}

TEST_CASE("a picture that turns out broken names the sample") {
  FileBytes cut = jpeg();
  cut.resize(cut.size() - 20);
  const auto data = open_set({{"cat/0.jpg", cut}}, {input({1, 3, 16, 16})});
  SampleReader reader(data);
  REQUIRE_THAT(error_of([&] { reader.load(0); }),
               Contains("samples[0] \"cat/0\" | The JPEG picture is damaged: it is cut short."));
}

TEST_CASE("class folders are numbered bytewise, or by labels.txt") {
  const NamedFiles files = {
      {"dog/a.npy", one(1)}, {"cat/a.npy", one(2)}, {"cat/deep/b.npy", one(3)}, {"Cow/a.npy", one(4)}};
  const auto listed = [](const DataSet& data) {
    std::string text;
    for (const SampleClass& folder : data.classes())
      text += folder.name + "=" + std::to_string(folder.number) + " x" + std::to_string(folder.count) + " ";
    return text;
  };
  REQUIRE(listed(*open_set(files, {input({1, 2})})) == "Cow=0 x1 cat=1 x2 dog=2 x1 ");
  NamedFiles with_names = files;
  with_names.push_back({"labels.txt", bytes_of("dog\r\nbird\ncat\n\nCow\n")});
  REQUIRE(listed(*open_set(with_names, {input({1, 2})})) == "dog=0 x1 cat=2 x2 Cow=3 x1 ");
  DataSetOptions options;
  options.preprocessing = Preprocessing{};
  options.preprocessing->label_offset = 1;
  REQUIRE(listed(*open_set(files, {input({1, 2})}, options)) == "Cow=1 x1 cat=2 x2 dog=3 x1 ");
  with_names.back().second = bytes_of("dog\ncat\n");
  REQUIRE_THAT(error_of([&] {
                 open_set(with_names, {input({1, 2})});
               }),
               Contains("The folder \"Cow\" is not among the 2 classes"));
  with_names.back().second = bytes_of("dog\ncat\ndog\n");
  REQUIRE_THAT(error_of([&] {
                 open_set(with_names, {input({1, 2})});
               }),
               Contains("labels.txt\" line 3 | The class \"dog\" stands twice."));
}

TEST_CASE("class folders are numbered by the model's names of its classes, where all of them are among these") {
  const NamedFiles files = {{"Sea_lion/a.npy", one(1)}, {"cat/a.npy", one(2)}, {"dog/a.npy", one(3)}};
  const auto numbers = [&](std::vector<std::string> names) {
    DataSetOptions options;
    options.class_names = std::move(names);
    std::string text;
    const auto data = open_set(files, {input({1, 2})}, options);
    for (const SampleClass& folder : data->classes()) text += folder.name + "=" + std::to_string(folder.number) + " ";
    return text;
  };
  REQUIRE(numbers({"dog", "bird", "sea lion", "cat"}) == "dog=0 Sea_lion=2 cat=3 ");
  REQUIRE(numbers({"dog", "bird", "cat", "cow"}) == "Sea_lion=0 cat=1 dog=2 ");
  REQUIRE(numbers({"dog", "Dog", "cat", "sea lion"}) == "Sea_lion=0 cat=1 dog=2 ");
}

TEST_CASE("a model's names of its classes are read as JSON, Python or people write them") {
  Model model;
  model.graph.outputs = {model.graph.add_unique_value("y", DType::kFloat32)};
  model.graph.value(model.graph.outputs[0]).shape = std::vector<Dim>{Dim{1, {}}, Dim{3, {}}};
  const auto read_names = [&](const char* key, const char* text) {
    model.metadata = {{"author", "somebody"}, {key, text}};
    std::string read;
    for (const std::string& one : class_names(model)) read += one + ";";
    return read;
  };
  const std::string wanted = "cat;dog;sea lion;";
  REQUIRE(read_names("names", "{0: 'cat', 1: \"dog\", 2: 'sea lion'}") == wanted);
  REQUIRE(read_names("id2label", R"({"2": "sea lion", "0": "cat", "1": "dog"})") == wanted);
  REQUIRE(read_names("classes", "['cat', 'dog', 'sea lion']") == wanted);
  REQUIRE(read_names("labels", "cat\r\ndog\nsea lion\n") == wanted);
  REQUIRE(read_names("class_names", "cat, dog,sea lion") == wanted);
  REQUIRE(read_names("names", "{0: 'it\\'s', 1: 'b', 2: 'c'}") == "it's;b;c;");
  for (const char* none : {"{0: 'cat', 1: 'dog'}", "{0: 'cat', 2: 'dog', 3: 'x'}", "['cat', 'dog', 'dog']", "{", "[]",
                           "{99999999999999999999: 'cat', 1: 'a', 2: 'b'}", ",,"})
    REQUIRE(read_names("names", none).empty());
  REQUIRE(read_names("comment", "cat,dog,sea lion").empty());
}

TEST_CASE("a sample outside of all folders, or one folder alone, makes no classes") {
  REQUIRE(
      open_set({{"a.npy", one(1)}, {"cat/a.npy", one(2)}, {"dog/a.npy", one(3)}}, {input({1, 2})})->classes().empty());
  REQUIRE(open_set({{"calib/0.npy", one(1)}, {"calib/1.npy", one(2)}}, {input({1, 2})})->classes().empty());
}

TEST_CASE("names of files are labels where they are as many as the model's classes") {
  const NamedFiles files = {
      {"cat_1.npy", one(1)}, {"cat_2.npy", one(2)}, {"sea lion (3).npy", one(3)}, {"dog4.npy", one(4)}};
  DataSetOptions options;
  options.classes = 3;
  const auto data = open_set(files, {input({1, 2})}, options);
  REQUIRE(data->label_source() == LabelSource::kNames);
  REQUIRE(data->classes().size() == 3);
  REQUIRE(data->classes()[0].name == "cat");
  REQUIRE(data->classes()[0].count == 2);
  REQUIRE(data->classes()[2].name == "sea lion");
  REQUIRE(*data->class_of(2) == 1);  // dog4
  options.classes = 4;
  REQUIRE(open_set(files, {input({1, 2})}, options)->classes().empty());
  REQUIRE(open_set(files, {input({1, 2})})->classes().empty());
}

TEST_CASE("an archive may hold labels beside the samples") {
  const auto archive = [](const FileBytes& labels, const std::string& name = "y.npy") {
    return open_set({{"a.npz", zip_of({{"x.npy", npy<float>("<f4", "(3, 2)", {1, 1, 2, 2, 3, 3})}, {name, labels}})}},
                    {input({1, 2}, DType::kFloat32, "images")});
  };
  const auto data = archive(npy<int64_t>("<i8", "(3,)", {7, 2, 7}));
  data->require_samples();
  REQUIRE(data->size() == 3);
  REQUIRE(data->label_source() == LabelSource::kFiles);
  REQUIRE(data->classes().size() == 2);
  REQUIRE(data->classes()[*data->class_of(1)].number == 2);
  REQUIRE(data->classes()[1].count == 2);
  REQUIRE(archive(npy<float>("<f4", "(3,)", {0, 1, 2}))->classes().empty());
  REQUIRE_THAT(error_of([&] {
                 archive(npy<int64_t>("<i8", "(3,)", {0, -1, 2}))->require_samples();
               }),
               Contains("Label 1 is -1; classes are numbered from 0."));
  REQUIRE_THAT(error_of([&] {
                 archive(npy<int64_t>("<i8", "(3,)", {0, 1, 2}), "z.npy")->require_samples();
               }),
               Contains("The input \"images\" is missing"));
}

TEST_CASE("an input whose next value is an output is a state") {
  Graph graph;
  const auto value = [&](const char* name, std::vector<int64_t> dims) {
    std::vector<Dim> shape;
    for (const int64_t dim : dims) shape.push_back({dim, dim < 0 ? "N" : ""});
    return graph.add_value(name, DType::kFloat32, shape);
  };
  graph.inputs = {value("x", {-1, 16}), value("h", {2, -1, 8}), value("picture", {-1, 3, 8, 8})};
  graph.outputs = {value("y", {-1, 1}), value("hn", {-1, -1, -1}), value("drawn", {-1, 3, 8, 8})};
  const std::vector<InputSpec> inputs = model_inputs(graph);
  REQUIRE_FALSE(inputs[0].is_state());
  REQUIRE(inputs[1].next == 1u);
  REQUIRE_FALSE(inputs[2].is_state());
  REQUIRE(class_count(graph) == std::nullopt);
  graph.outputs[0] = value("classes", {-1, 10});
  REQUIRE(class_count(graph) == 10);
}

TEST_CASE("a model without inputs has one empty sample") {
  const auto data = open_set({}, {});
  data->require_samples();
  REQUIRE(data->size() == 1);
  REQUIRE(data->name(0) == "sample");
  SampleReader reader(data);
  REQUIRE(reader.load(0).empty());
}

}  // namespace data_set_test
