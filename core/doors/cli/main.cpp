// SPDX-License-Identifier: Apache-2.0
// The program `tersor`. Exit status: 0 done, 1 an error that was explained, 2 wrong usage.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/command.h"
#include "core/cli/files.h"
#include "core/cli/heap.h"
#include "core/cli/print.h"
#include "core/cli/progress_line.h"
#include "core/job/job.h"

namespace tersor::cli {

// The list of subcommands, in the order of --help; each is declared here and defined in the file of its name.

// clang-format off
void add_inspect(CLI::App& program);
void add_calibrate(CLI::App& program);
void add_merge(CLI::App& program);
void add_sweep(CLI::App& program);
void add_quantize(CLI::App& program);
void add_tune(CLI::App& program);
void add_tradeoff(CLI::App& program);
void add_variants(CLI::App& program);
void add_run(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_compare(CLI::App& program);
void add_check(CLI::App& program);
void add_platforms(CLI::App& program);
void add_config(CLI::App& program);
void add_convert(CLI::App& program);
void add_help(CLI::App& program);

const std::initializer_list<AddCommand> kCommands = {
    add_inspect,
    add_calibrate,
    add_merge,
    add_sweep,
    add_quantize,
    add_tune,
    add_tradeoff,
    add_variants,
    add_run,
    add_evaluate,
    add_compare,
    add_check,
    add_platforms,
    add_config,
    add_convert,
    add_help,
};
// clang-format on

namespace {

/// Asked for anywhere on the command line: then errors are JSON as well.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--json") == 0) return true;
  return false;
}

int explain(const Error& error, bool json) {
  erase_progress_line();
  if (json) {
    print_error("%s\n", to_text(error_to_json(error)).c_str());
    return 1;
  }
  print_error("error: %s%s%s\n", error.place.c_str(), error.place.empty() ? "" : ": ", error.message.c_str());
  if (!error.hint.empty()) print_error("       %s\n", error.hint.c_str());
  return 1;
}

/// Whether all that was printed has arrived.
int printed(bool json) {
  std::cout.flush();  // of the command line's library
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return 0;
  return explain(Error(ErrorCode::kIo, "What is printed could not be written completely.", "standard output",
                       "Free some space, or print elsewhere."),
                 json);
}

/// A file that was changed under way explains what else was found wrong.
Error cause_of(const Error& error) {
  try {
    expect_unchanged();
    return error;
  } catch (const Error& changed) {
    return changed;
  }
}

/// The long options that a command takes, without their dashes.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* group : command.get_subcommands(all))
    for (std::string& name : options_of(*group)) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> subcommands_of(const CLI::App& program) {
  std::vector<std::string> names;
  const auto all = [](const CLI::App*) { return true; };
  for (const CLI::App* command : program.get_subcommands(all)) names.push_back(command->get_name());
  return names;
}

/// The library's messages on options that do not go together or have no value, as sentences.
std::string in_plain_words(const CLI::ParseError& error) {
  const std::string said = error.what();
  const auto part = [&](std::string_view between) {
    const size_t at = said.find(between);
    return at == std::string::npos ? std::pair(said, std::string())
                                   : std::pair(said.substr(0, at), said.substr(at + between.size()));
  };
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const auto [name, why] = part(": ");
    if (why.find("missing") != std::string::npos) return name + ": needs a value.";
    if (why.find("At Most") != std::string::npos) return name + ": is given more than once; give it once.";
  }
  if (dynamic_cast<const CLI::RequiresError*>(&error) != nullptr) {
    const auto [name, other] = part(" requires ");
    return name + ": needs " + other + " beside it.";
  }
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    const auto [name, other] = part(" excludes ");
    return name + ": does not go together with " + other + "; give one of them.";
  }
  return said;
}

/// What was wrong with the command line. An argument that nothing takes is the likelier slip than what is missing then.
std::string slip(const CLI::App& program, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = program.remaining(true);
  const bool may_be_unknown = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (unknown.empty() || !may_be_unknown) return in_plain_words(error);
  const std::vector<CLI::App*> chosen = program.get_subcommands();
  const std::string name = unknown[0].substr(0, unknown[0].find('='));
  const bool option = name[0] == '-';
  const bool subcommand = chosen.empty() && !option;
  const std::string what = subcommand ? "subcommand" : option ? "option" : "place for the argument";
  std::string near;
  if (subcommand) near = nearest_name(name, subcommands_of(program));
  if (option)
    near = nearest_name(name.substr(std::min(name.find_first_not_of('-'), name.size())),
                        options_of(chosen.empty() ? program : *chosen[0]));
  if (!near.empty()) near = " Did you mean \"" + std::string(option ? "--" : "") + near + "\"?";
  return "There is no " + what + " \"" + name + "\"." + near;
}

int correct(const std::string& message, bool json) {
  const char* const hint = "Run with --help for more information.";
  if (json)
    explain(Error(ErrorCode::kInvalidArgument, message, "command line", hint), json);
  else
    print_error("%s\n%s\n", message.c_str(), hint);
  return 2;
}

/// An empty value is rather a variable of the shell that is not set than what leaving the option out means.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator filled(
      [](std::string& value) { return std::string(value.empty() ? "needs a value and got an empty one." : ""); }, "");
  for (CLI::Option* option : app.get_options())
    if (option->get_type_size() > 0) option->check(filled);
  for (CLI::App* inner : app.get_subcommands({})) refuse_empty_values(*inner);
}

int run(int argc, char** argv) {
  const bool json = wants_json(argc, argv);
  CLI::App program("Quantizes float ONNX models to int8 on your own samples.", "tersor");
  program.set_version_flag("--version", "tersor " + std::string(tool_version()));
  program.require_subcommand(1);
  program.footer("Exit status:\n  0  done\n  1  an error that was explained on standard error\n  2  wrong usage");
  program.get_formatter()->column_width(36);
  for (AddCommand add : kCommands) add(program);
  refuse_empty_values(program);
  // Then a file that grows beyond the limit of the shell is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    if (argc == 1) {
      std::cout << program.help();
      return printed(json);
    }
    program.parse(argc, argv);
    expect_unchanged();
    return printed(json);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return correct(slip(program, error), json);
    program.exit(error);  // --help and --version
    return printed(json);
  } catch (const Error& error) {
    return explain(cause_of(error), json);
  } catch (const std::bad_alloc&) {
    return explain(Error(ErrorCode::kOutOfMemory, "The memory is used up.", {}, "Use fewer threads or fewer samples."),
                   json);
  } catch (const std::exception& error) {
    return explain(
        Error(ErrorCode::kInternal, error.what(), {}, "This is a bug in Tersor; please report it with this text."),
        json);
  }
}

}  // namespace
}  // namespace tersor::cli

int main(int argc, char** argv) {
  tersor::cli::keep_freed_memory();
  return tersor::cli::run(argc, argv);
}
