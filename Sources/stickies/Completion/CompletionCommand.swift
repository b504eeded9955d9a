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
      local rest="${COMP_LINE:0:COMP_POINT}" i word gap line quote= lead= files=
      local -a words=()
      for ((i = 0; i <= COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        gap="${rest%%[![:space:]]*}"
        rest="${rest#"$gap"}"
        if ((i < COMP_CWORD)); then rest="${rest#"$word"}"; else word="$rest"; fi
        quote=
        case "$word" in
          [\"\']*) quote="${word:0:1}" word="${word:1}"; ((i < COMP_CWORD)) && word="${word%"$quote"}" ;;
          *) word="${word//\\/}" ;;
        esac
        # readline parts words at = and :, which belong to them; what lies before is not replaced.
        if ((i > 1)) && [[ -z "$gap" ]]; then
          lead="${words[-1]}"
          words[-1]+="$word"
          [[ "$word" == [=:] ]] && lead="${words[-1]}"
        elif ((i > 0)); then
          lead=
          words+=("$word")
        fi
      done
      COMPREPLY=()
      while IFS= read -r line; do
        if [[ "$line" == :files ]]; then
          files=yes
          continue
        fi
        line="${line%%$'\t'*}"
        line="${line#"$lead"}"
        case "$quote" in
          \') ;;
          \") line="${line//\\/\\\\}" line="${line//\"/\\\"}" line="${line//\$/\\\$}" line="${line//\`/\\\`}" ;;
          *) line="$(printf %q "$line")" ;;
        esac
        COMPREPLY+=("$line")
      done < <("${COMP_WORDS[0]}" complete -- "${words[@]}" 2>/dev/null)
      if [[ -n "$files" ]]; then
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${words[-1]#"$lead"}")
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
      for line in "${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case "$line" in
          ('') ;;
          (:files) _files ;;
          (*$'\t'*) told+=("${${${line%%$'\t'*}//\\/\\\\}//:/\\:}:${line#*$'\t'}") ;;
          (*) told+=("${${line//\\/\\\\}//:/\\:}") ;;
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
      # The quotation mark may be open still.
      set -l current (commandline -ct | string replace -r '^(--[^=]*=)?["\']' '$1' | string replace -ra '\\\\(.)' '$1')
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
