import ArgumentParser

/// `stickies completion`: what a shell needs to know, which is only whom to ask. The program knows its commands and the
/// graph, and the shells' ways to ask differ in a dozen lines.
struct CompletionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "completion", abstract: "Print the completion for your shell: commands, options, notes, boards, tags.")

  enum ShellName: String, ExpressibleByArgument, CaseIterable { case bash, zsh, fish }

  @Argument(help: "Your shell.")
  var shell: ShellName

  func run() throws {
    switch shell {
    case .bash: print(Self.bash)
    case .zsh: print(Self.zsh)
    case .fish: print(Self.fish)
    }
  }

  // `stickies complete -- WORD...` prints candidates for the last word, one a line, a tab and a description behind some;
  // a line `:files` asks for the shell's own completion of file names.

  private static let bash = #"""
    # stickies: completion for bash. source <(stickies completion bash)
    _stickies() {
      local line current="${COMP_WORDS[COMP_CWORD]}" files=
      COMPREPLY=()
      while IFS= read -r line; do
        if [[ "$line" == :files ]]; then files=yes; else COMPREPLY+=("$(printf %q "${line%%$'\t'*}")"); fi
      done < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
      if [[ -n "$files" ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
      fi
    }
    complete -F _stickies stickies
    """#

  private static let zsh = #"""
    #compdef stickies
    # stickies: completion for zsh. source <(stickies completion zsh), behind compinit
    _stickies() {
      local line
      local -a told
      for line in "${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        case "$line" in
          ('') ;;
          (:files) _files ;;
          (*$'\t'*) told+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
          (*) told+=("${line//:/\\:}") ;;
        esac
      done
      (( ${#told} )) && _describe -V stickies told
    }
    compdef _stickies stickies
    """#

  private static let fish = #"""
    # stickies: completion for fish. stickies completion fish | source
    function __stickies_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct)
      for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
          __fish_complete_path "$current"
        else
          echo $line
        end
      end
    end
    complete -c stickies -f -a '(__stickies_complete)'
    """#
}
