import GraphModel

extension TextSplice {
  /// Merges two versions of a text and keeps both edits. If they do not fit together, `mine` wins; the other one is
  /// in the history.
  static func merged(_ before: String, mine: String, theirs: String) -> String {
    let rebased = rebase(differences(from: before, to: mine), over: differences(from: before, to: theirs))
    return apply(rebased, to: theirs) ?? mine
  }
}
