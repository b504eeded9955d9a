import GraphModel

/// Tracks where locally typed text ends (`typed`). Text that continues there leans to the left, so that no other
/// client's words come in between (docs/decisions/0029-words-in-one-piece.md). The ends are offsets in the stored
/// text; commits of other clients move them like an editor's cursor, and text inserted at an end goes after it.
extension ObjectState {
  /// Lets local edits lean on earlier local text that they continue. That text is of an unanswered save, of the save
  /// that is being answered, or of the unsaved edits below.
  func lean(above answered: [PropertyNumber: PropertyEdit]) {
    var numbers = Set(edits.keys)
    for save in sent { numbers.formUnion(save.edits.keys) }
    for number in numbers where entity.property(number)?.attribute?.kind == .text {
      var ends = answered[number].map { $0.ends(behind: typed[number] ?? []) } ?? typed[number] ?? []
      func step(_ local: PropertyEdit) -> PropertyEdit {
        var local = local
        if let splices = local.splices, let base = local.textBase {
          local.splices = TextSplice.withAffinity(splices, at: ends, of: base)
        }
        ends = local.ends(behind: ends)
        return local
      }
      for index in sent.indices { sent[index].edits[number] = sent[index].edits[number].map(step) }
      edits[number] = edits[number].map(step)
    }
  }

  /// Moves the ends over another client's commit while nothing is unsaved here.
  func followTyped(_ moved: [Edit], at revision: Revision) {
    // The client's own commit, whose answer arrived first.
    if revision == typedAt { return }
    for edit in moved {
      if case .splice(let splices) = edit.action {
        follow(edit.property, [splices])
      } else {
        typed[edit.property] = nil
      }
    }
  }

  /// Moves the ends over all recorded commits.
  /// - Parameters:
  ///   - answered: the edits of the save that has just been committed.
  ///   - revision: the revision of its commit.
  func followTyped(_ answered: [PropertyNumber: PropertyEdit], committedAt revision: Revision) {
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

  /// Moves the ends of one text; what other clients insert at an end goes after it.
  private func follow(_ number: PropertyNumber, _ moves: [[TextSplice]]) {
    guard let ends = typed[number] else { return }
    typed[number] = ends.map { end in
      moves.reduce(end) { TextSplice.rebasedOffset($0, over: $1, afterInsertions: false) }
    }
  }
}

extension ObjectState.PropertyEdit {
  /// The ends of locally typed text after this edit; empty if they are unknown.
  fileprivate func ends(behind ends: [Int]) -> [Int] {
    guard let splices else {
      // All text of a new object is local.
      return textBase == nil ? value.stringValue.map { [$0.utf8.count] } ?? [] : []
    }
    let own = TextSplice.ends(of: splices)
    let all = Set(ends.map { TextSplice.rebasedOffset($0, over: splices, afterInsertions: true) } + own)
    return all.count > TextSplice.maximumHunks ? own : all.sorted()
  }
}
