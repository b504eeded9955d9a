import ArgumentParser

/// `completion`: prints a script that makes the shell call the program's `complete`. The program knows its
/// commands and the graph; the scripts differ in a dozen lines.
struct CompletionCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "completion",
      abstract: "Print the script that completes \(RunningProgram.current.completedNames) in your shell.",
      discussion: """
        In ~/.bashrc: source <(\(RunningProgram.current.name) completion bash)
        In ~/.zshrc, after compinit: source <(\(RunningProgram.current.name) completion zsh)
        For fish: \(RunningProgram.current.name) completion fish > \
        ~/.config/fish/completions/\(RunningProgram.current.name).fish
        """)
  }

  enum ShellName: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

  @Argument(help: "Your shell.")
  var shell: ShellName

  func run() throws {
    switch shell {
    case .bash: CommandFailure.printed(Self.bash(RunningProgram.current.name))
    case .zsh: CommandFailure.printed(Self.zsh(RunningProgram.current.name))
    case .fish: CommandFailure.printed(Self.fish(RunningProgram.current.name))
    }
  }

  // `complete -- WORD...` prints candidates for the last word, one a line, some with a tab and a description; a line
  // `:files` requests the shell's own completion of file names. zsh and fish quote an inserted candidate, bash does
  // not. With `--bash`, candidates are therefore printed with quotes, so that no name is ever executed as a command.

  static func bash(_ name: String) -> String {
    #"""
    # \#(name): completion for bash. source <(\#(name) completion bash)
    _\#(name)() {
      local line
      COMPREPLY=()
      while IFS= read -r line; do
        if [[ "$line" == $'\tfiles' ]]; then compopt -o default; else COMPREPLY+=("$line"); fi
      done < <("${COMP_WORDS[0]}" complete --bash -- "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
    }
    complete -F _\#(name) \#(name)
    """#
  }

  static func zsh(_ name: String) -> String {
    #"""
    #compdef \#(name)
    # \#(name): completion for zsh. source <(\#(name) completion zsh), behind compinit
    _\#(name)() {
      local line
      local -a candidates
      for line in "${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case "$line" in
          ('') ;;
          (:files) _files ;;
          (*$'\t'*) candidates+=("${${${line%%$'\t'*}//\\/\\\\}//:/\\:}:${line#*$'\t'}") ;;
          (*) candidates+=("${${line//\\/\\\\}//:/\\:}") ;;
        esac
      done
      (( ${#candidates} )) && _describe -V \#(name) candidates
    }
    compdef _\#(name) \#(name)
    """#
  }

  static func fish(_ name: String) -> String {
    #"""
    # \#(name): completion for fish. \#(name) completion fish | source
    function __\#(name)_complete
      set -l words (commandline -opc)
      # The quotation mark may be open still.
      set -l current (commandline -ct | string replace -r '^(--[^=]*=)?["\']' '$1' | string replace -ra '\\\\(.)' '$1')
      for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
          __fish_complete_path "$current"
        else
          printf '%s\n' $line
        end
      end
    end
    complete -c \#(name) -f -a '(__\#(name)_complete)'
    """#
  }
}
