// SPDX-License-Identifier: Apache-2.0
// tersor help [COMMAND]: what --help prints; and from the same table of options the manual page and the completions of
// shells, which packages install.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/command.h"
#include "core/cli/print.h"
#include "core/config/preference.h"
#include "core/config/quantization_config.h"
#include "core/job/job.h"
#include "core/simulate/profile.h"
#include "core/tpc/builtin.h"

namespace tersor::cli {

namespace {

struct HelpOptions {
  std::string command, completion;
  bool manual = false;
};

using Commands = std::vector<const CLI::App*>;

Commands commands_of(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

/// Of a command, with those of its groups; positional ones apart.
std::vector<const CLI::Option*> options_of(const CLI::App& command, bool positional) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* one : command.get_options())
    if (one->get_positional() == positional) options.push_back(one);
  if (command.get_parent() == nullptr) return options;
  for (const CLI::App* group : commands_of(command))
    for (const CLI::Option* one : options_of(*group, positional)) options.push_back(one);
  return options;
}

/// "-o", "--output".
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_min() > 0;  // 0 of flags
}

template <class E>
std::vector<std::string> words_of() {
  std::vector<std::string> words = enum_words<E>();
  for (std::string& word : words)
    for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return words;
}

std::vector<std::string> platform_names() {
  std::vector<std::string> names;
  for (const tpc::PlatformLabel& one : tpc::builtin_platforms())
    if (std::find(names.begin(), names.end(), one.name) == names.end()) names.push_back(one.name);
  return names;
}

/// Of the configuration, each followed by `end`.
std::vector<std::string> field_names(const char* end = "") {
  std::vector<std::string> names;
  for (const Json& field : config::describe_quantization_config())
    names.push_back(field.at("name").get<std::string>() + end);
  return names;
}

/// What an option's value may be, where that is a word out of few, or begins with one that ends in "=".
std::vector<std::string> values_of(const std::string& long_name) {
  if (long_name == "--runtime") return words_of<simulate::Profile>();
  if (long_name == "--prefer") return words_of<config::Preference>();
  if (long_name == "--platform") return platform_names();
  if (long_name == "--explain") return field_names();
  if (long_name == "--set") return field_names("=");
  if (long_name == "--completion") return {"bash", "zsh", "fish"};
  return {};
}

/// What a command's arguments may be, where that is a word out of few; files else.
std::vector<std::string> arguments_of(const CLI::App& program, const std::string& command) {
  std::vector<std::string> words;
  if (command == "help")
    for (const CLI::App* one : commands_of(program)) words.push_back(one->get_name());
  if (command == "platforms") return platform_names();
  return words;
}

std::string replaced(std::string text, const std::map<char, std::string>& by) {
  std::string result;
  for (const char c : text) {
    const auto found = by.find(c);
    result += found == by.end() ? std::string(1, c) : found->second;
  }
  return result;
}

/// Of text in a manual page: no hyphen is a dash, no line begins with a request.
std::string in_manual(const std::string& text) {
  std::string result = replaced(text, {{'-', "\\-"}, {'\\', "\\e"}, {'\n', "\n.br\n"}});
  return result.empty() || (result[0] != '.' && result[0] != '\'') ? result : "\\&" + result;
}

void print_manual_options(const std::vector<const CLI::Option*>& options) {
  for (const CLI::Option* one : options) {
    const std::string name = one->get_positional() ? one->get_name(true) : joined(names_of(*one));
    const std::string value = takes_value(*one) && !one->get_positional() ? " \\fIVALUE\\fR" : "";
    print(".TP\n\\fB%s\\fR%s\n%s\n", in_manual(name).c_str(), value.c_str(), in_manual(one->get_description()).c_str());
  }
}

void print_manual(const CLI::App& program) {
  print(".TH TERSOR 1 \"\" \"tersor %s\" \"User Commands\"\n.SH NAME\ntersor \\- %s\n",
        std::string(tool_version()).c_str(), in_manual(program.get_description()).c_str());
  print(".SH SYNOPSIS\n.B tersor\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]\n.SH OPTIONS\n");
  print_manual_options(options_of(program, false));
  print(".SH COMMANDS\n");
  for (const CLI::App* command : commands_of(program)) {
    print(".SS %s\n%s\n", command->get_name().c_str(), in_manual(command->get_description()).c_str());
    print_manual_options(options_of(*command, true));
    print_manual_options(options_of(*command, false));
    if (!command->get_footer().empty()) print(".PP\n%s\n", in_manual(command->get_footer()).c_str());
  }
  print(".SH EXIT STATUS\n.nf\n%s\n.fi\n", in_manual(program.get_footer()).c_str());
}

std::string option_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* one : options_of(command, false))
    for (std::string& name : names_of(*one)) words.push_back(std::move(name));
  return joined(words, " ");
}

const char* const kWithWords[] = {"--platform", "--prefer", "--runtime", "--explain", "--set", "--completion"};

void print_bash(const CLI::App& program) {
  print(
      "# bash completion of tersor: made by tersor help --completion bash\n"
      "_tersor() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
      "  COMPREPLY=()\n"
      "  case $before in\n");
  for (const char* name : kWithWords) print("    %s) words='%s' ;;\n", name, joined(values_of(name), " ").c_str());
  print("  esac\n  if [ -z \"$words\" ]; then\n    case $((COMP_CWORD > 1)):$word:${COMP_WORDS[1]} in\n");
  print("      0:*) words='%s %s' ;;\n", joined(arguments_of(program, "help"), " ").c_str(),
        option_words(program).c_str());
  for (const CLI::App* one : commands_of(program)) {
    const std::string name = one->get_name(), arguments = joined(arguments_of(program, name), " ");
    print("      1:-*:%s) words='%s' ;;\n", name.c_str(), option_words(*one).c_str());
    if (!arguments.empty()) print("      1:*:%s) words='%s' ;;\n", name.c_str(), arguments.c_str());
  }
  print(
      "    esac\n"
      "  fi\n"
      "  [ -z \"$words\" ] || COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  case ${COMPREPLY-} in *=) compopt -o nospace 2> /dev/null ;; esac\n"
      "  return 0\n"
      "}\n"
      "complete -o default -F _tersor tersor\n");
}

/// In single quotes of a shell.
std::string quoted(const std::string& text) {
  return "'" + replaced(text, {{'\'', "'\\''"}, {'\n', " "}}) + "'";
}

/// An action of _arguments; after "=" no space follows.
std::string zsh_words(const std::vector<std::string>& words) {
  const std::string all = joined(words, " ");
  return all.back() == '=' ? "{compadd -S \"\" -- " + all + "}" : "(" + all + ")";
}

std::string zsh_argument(const CLI::Option& option, const std::string& name) {
  const std::map<char, std::string> special = {{'[', "\\["}, {']', "\\]"}, {':', "\\:"}};
  std::string text = name + "[" + replaced(option.get_description(), special) + "]";
  if (takes_value(option)) {
    const auto words = values_of("--" + (option.get_lnames().empty() ? std::string() : option.get_lnames()[0]));
    text += ":value:" + (words.empty() ? std::string("_files") : zsh_words(words));
  }
  return quoted((option.get_items_expected_max() > 1 ? "*" : "") + text);
}

void print_zsh(const CLI::App& program) {
  print(
      "#compdef tersor\n"
      "# zsh completion of tersor: made by tersor help --completion zsh\n"
      "if (( CURRENT == 2 )); then\n"
      "  local -a commands=(\n");
  for (const CLI::App* one : commands_of(program))
    print("    %s\n", quoted(one->get_name() + ":" + replaced(one->get_description(), {{':', "\\:"}})).c_str());
  print("  )\n  _describe command commands\n  return\nfi\ncase $words[2] in\n");
  for (const CLI::App* one : commands_of(program)) {
    print("  %s)\n    shift words; (( CURRENT-- ))\n    _arguments", one->get_name().c_str());
    for (const CLI::Option* option : options_of(*one, false))
      for (const std::string& name : names_of(*option)) print(" \\\n      %s", zsh_argument(*option, name).c_str());
    const std::vector<std::string> arguments = arguments_of(program, one->get_name());
    print(" \\\n      '%s' ;;\n", arguments.empty() ? "*:file:_files" : (":name:" + zsh_words(arguments)).c_str());
  }
  print("esac\n");
}

void print_fish(const CLI::App& program) {
  const auto line = [](const std::string& text) { print("complete -c tersor %s\n", text.c_str()); };
  const auto described = [](const std::string& text) {
    return " -d '" + replaced(text, {{'\'', "\\'"}, {'\\', "\\\\"}, {'\n', " "}}) + "'";
  };
  print("# fish completion of tersor: made by tersor help --completion fish\n");
  for (const CLI::App* one : commands_of(program))
    line("-n __fish_use_subcommand -f -a " + one->get_name() + described(one->get_description()));
  for (const CLI::App* one : commands_of(program)) {
    const std::vector<std::string> arguments = arguments_of(program, one->get_name());
    if (!arguments.empty())
      line("-n '__fish_seen_subcommand_from " + one->get_name() + "' -f -a '" + joined(arguments, " ") + "'");
    for (const CLI::Option* option : options_of(*one, false)) {
      std::string text = "-n '__fish_seen_subcommand_from " + one->get_name() + "'";
      for (const std::string& name : option->get_snames()) text += " -s " + name;
      for (const std::string& name : option->get_lnames()) text += " -l " + name;
      std::vector<std::string> words;
      for (const std::string& name : option->get_lnames()) words = values_of("--" + name);
      if (takes_value(*option)) text += words.empty() ? " -r" : " -x -a '" + joined(words, " ") + "'";
      line(text + described(option->get_description()));
    }
  }
}

void print_command(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* one : commands_of(program)) {
    if (one->get_name() == name) {
      print("%s", one->help(program.get_name()).c_str());
      return;
    }
    names.push_back(one->get_name());
  }
  const std::string near = nearest_name(name, names);
  throw CLI::ValidationError(
      "There is no subcommand \"" + name + "\"." + (near.empty() ? "" : " Did you mean \"" + near + "\"?"),
      CLI::ExitCodes::ValidationError);
}

void help(const CLI::App& program, const HelpOptions& options) {
  static const std::map<std::string, void (*)(const CLI::App&)> shells = {
      {"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  if (!options.completion.empty()) return shells.at(options.completion)(program);
  if (options.manual) return print_manual(program);
  if (options.command.empty())
    // help() would give that of the command that was called, this one
    std::fputs(program.get_formatter()->make_help(&program, program.get_name(), CLI::AppFormatMode::Normal).c_str(),
               stdout);
  else
    print_command(program, options.command);
}

}  // namespace

void add_help(CLI::App& program) {
  auto options = std::make_shared<HelpOptions>();
  CLI::App* command = program.add_subcommand("help", "Help for a command, the manual page, or completions for a shell");
  command->footer(
      "Examples:\n  tersor help quantize\n  tersor help --manual > tersor.1\n  tersor help --completion bash > "
      "/etc/bash_completion.d/tersor");
  command->add_option("COMMAND", options->command, "The command to explain");
  command->add_flag("--manual", options->manual, "Print the manual page");
  command
      ->add_option("--completion", options->completion, "Print what completes words in this shell: bash, zsh or fish")
      ->check([](const std::string& shell) {
        const bool known = shell == "bash" || shell == "zsh" || shell == "fish";
        return known ? std::string() : "There is no completion for \"" + shell + "\", only for bash, zsh and fish.";
      });
  command->callback([options, &program] { help(program, *options); });
}

}  // namespace tersor::cli
