// SPDX-License-Identifier: Apache-2.0
#include "wasm/gather_job.h"

#include <utility>

namespace tersor::wasm {

GatherJob::GatherJob(std::shared_ptr<const Job> job, calibrate::Statistics statistics, Gathering::Options options)
    : gathering_(std::move(job), std::move(statistics), std::move(options)) {
  begin_pass();
}

void GatherJob::begin_pass() {
  samples_.clear(), first_.clear(), own_.clear(), inputs_.clear();
  if (gathering_.pass() == nullptr) return;
  const std::vector<size_t>& places = pass().places();
  for (size_t k = 0; k < places.size(); ++k)
    samples_[static_cast<int64_t>(gathering_.gathered().statistics.samples[places[k]].index)] = k;
  const auto lists = pass().lists();
  for (size_t k = 0; k < lists.size(); ++k) first_[lists[k][0]] = k;
}

Json GatherJob::plan() {
  if (gathering_.pass() == nullptr) return nullptr;
  Json numbers = Json::array();
  for (const size_t place : pass().places()) numbers.push_back(gathering_.gathered().statistics.samples[place].index);
  return {{"stage", pass().stage()},
          {"steps", to_json(pass().count())},
          {"samples", std::move(numbers)},
          {"lanes", to_json(pass().lanes())}};
}

Rounds& GatherJob::pass() {
  TERSOR_CHECK(gathering_.pass() != nullptr);
  return *gathering_.pass();
}

void GatherJob::run(size_t list) {
  if (!runner_) runner_ = pass().runner();
  runner_->run(list, [this](size_t sample) {
    if (pass().asks_again()) return inputs_.at(sample);
    auto given = inputs_.extract(sample);
    TERSOR_CHECK(given);
    return std::move(given.mapped());
  });
}

void GatherJob::add(int64_t number, std::span<const Tensor> inputs) {
  const size_t sample = samples_.at(number);
  inputs_[sample].assign(inputs.begin(), inputs.end());
  own_.insert(sample);
  // What a pass keeps of its samples may be smaller than they are.
  if (const auto list = first_.find(sample); list != first_.end() && !pass().asks_again()) {
    run(list->second);
    done_.insert(list->second);
  }
}

ByteBuffer GatherJob::advance(std::span<const std::byte> before) {
  if (!before.empty()) pass().take(before);
  if (pass().done()) return {};
  const auto lists = pass().lists();
  for (size_t k = 0; k < lists.size(); ++k)
    if (own_.contains(lists[k][0]) && !done_.contains(k)) run(k);
  done_.clear();
  if (!runner_) runner_ = pass().runner();
  ByteBuffer sums = runner_->sums();
  runner_ = nullptr;
  return sums;
}

ByteBuffer GatherJob::merge(std::span<const samples::Bytes> sums) {
  std::vector<std::span<const std::byte>> views;
  for (const samples::Bytes& one : sums) views.push_back(one.view);
  return pass().outcome(pass().joined(views));
}

void GatherJob::next() {
  gathering_.next();
  begin_pass();
}

}  // namespace tersor::wasm
