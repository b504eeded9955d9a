import GraphModel

/// Where what was typed here ends (`typed`), and what goes on there: it leans to the left, so that nobody's words come in
/// between (docs/decisions/0029-words-in-one-piece.md). The ends are places in the stored text; what others commit moves them
/// as an editor's cursor, their words come behind.
extension ObjectState {
  /// Lets what is unsaved lean on what was typed before it, wherever it goes on there: in a save that is under way, in one
  /// that is answered, in what is unsaved below it.
  func lean(above answered: [PropertyNumber: LocalValue]) {
    var numbers = Set(edits.keys)
    for save in sent { numbers.formUnion(save.edits.keys) }
    for number in numbers where entity.property(number)?.attribute?.kind == .text {
      var ends = answered[number].map { $0.ends(behind: typed[number] ?? []) } ?? typed[number] ?? []
      func step(_ local: LocalValue) -> LocalValue {
        var local = local
        if let splices = local.splices, let base = local.textBase {
          local.splices = TextSplice.leaning(splices, on: ends, of: base)
        }
        ends = local.ends(behind: ends)
        return local
      }
      for index in sent.indices { sent[index].edits[number] = sent[index].edits[number].map(step) }
      edits[number] = edits[number].map(step)
    }
  }

  /// Others committed while nothing is unsaved here.
  func followTyped(_ moved: [Edit], at revision: Revision) {
    // One's own, whose answer came first.
    if revision == typedAt { return }
    for edit in moved {
      if case .splice(let splices) = edit.action {
        follow(edit.property, [splices])
      } else {
        typed[edit.property] = nil
      }
    }
  }

  /// Moves the ends over all that was heard of.
  /// - Parameters:
  ///   - answered: the edits of a save that is committed now.
  ///   - revision: its commit's.
  func followTyped(_ answered: [PropertyNumber: LocalValue], committedAt revision: Revision) {
    defer { if !answered.isEmpty { typedAt = revision } }
    for number in Set(typed.keys).union(answered.keys) where entity.property(number)?.attribute?.kind == .text {
      guard !untrackedTexts.contains(number) else {
        typed[number] = nil
        continue
      }
      let heard = textMoves[number] ?? []
      guard var own = answered[number] else {
        follow(number, heard.filter { $0.revision != typedAt }.map(\.splices))
        continue
      }
      let before = heard.filter { $0.revision < revision }.map(\.splices)
      follow(number, before)
      own.splices = own.splices.map { Self.under($0, before).own }
      typed[number] = own.ends(behind: typed[number] ?? [])
      follow(number, heard.filter { $0.revision > revision }.map(\.splices))
    }
  }

  /// What others insert at an end comes behind it.
  private func follow(_ number: PropertyNumber, _ moves: [[TextSplice]]) {
    guard let ends = typed[number] else { return }
    typed[number] = ends.map { end in moves.reduce(end) { TextSplice.moved($0, by: $1, isBehind: false) } }
  }
}

extension ObjectState.LocalValue {
  /// The ends of what was typed, behind this edit of one's own; none where nobody can tell.
  fileprivate func ends(behind ends: [Int]) -> [Int] {
    guard let splices else {
      // Of a new object all is one's own.
      return textBase == nil ? value.stringValue.map { [$0.utf8.count] } ?? [] : []
    }
    let own = TextSplice.ends(of: splices)
    let all = Set(ends.map { TextSplice.moved($0, by: splices, isBehind: true) } + own)
    return all.count > TextSplice.maximumPlaces ? own : all.sorted()
  }
}
