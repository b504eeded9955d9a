// Tests: TextTypingTests.swift, ConcurrentTypingTests.swift
import GraphModel

/// Tracks the ends of locally typed text (`typed`). Text that continues at an end has left affinity, so that no other
/// client's words come in between (docs/decisions/0029-words-in-one-piece.md). The ends are offsets in the stored
/// text; commits of other clients move them like an editor's cursor, and text inserted at an end goes after it.
extension ObjectState {
  /// Gives left affinity to local edits that continue earlier local text: text of an unanswered save, of the save that
  /// is being answered, or of the unsaved edits below.
  func setInsertionAffinity(above answered: [PropertyNumber: PropertyEdit]) {
    var numbers = Set(edits.keys)
    for save in sent { numbers.formUnion(save.edits.keys) }
    for number in numbers where entity.property(number)?.attribute?.kind == .text {
      let stored = typed[number, default: []]
      var ends = answered[number].map { $0.ends(after: stored) } ?? stored
      func step(_ local: PropertyEdit) -> PropertyEdit {
        var local = local
        if let splices = local.splices, let base = local.textBase {
          local.splices = TextSplice.withAffinity(splices, at: ends, of: base)
        }
        ends = local.ends(after: ends)
        return local
      }
      for index in sent.indices { sent[index].edits[number] = sent[index].edits[number].map(step) }
      edits[number] = edits[number].map(step)
    }
  }

  /// Moves the ends over another client's commit while nothing is unsaved here.
  func moveTypedEnds(_ moved: [Edit], at revision: Revision) {
    // The client's own commit, whose answer arrived first.
    if revision == typedAt { return }
    for edit in moved {
      if case .splice(let splices) = edit.action {
        moveEnds(of: edit.property, over: [splices])
      } else {
        typed[edit.property] = nil
      }
    }
  }

  /// Moves the ends over all recorded commits.
  /// - Parameters:
  ///   - answered: the edits of the save that has just been committed.
  ///   - revision: the revision of its commit.
  func moveTypedEnds(_ answered: [PropertyNumber: PropertyEdit], committedAt revision: Revision) {
    defer { if !answered.isEmpty { typedAt = revision } }
    for number in Set(typed.keys).union(answered.keys) where entity.property(number)?.attribute?.kind == .text {
      guard !untrackedTexts.contains(number) else {
        typed[number] = nil
        continue
      }
      let recorded = textMoves[number, default: []]
      guard var own = answered[number] else {
        moveEnds(of: number, over: recorded.filter { $0.revision != typedAt }.map(\.splices))
        continue
      }
      let before = recorded.filter { $0.revision < revision }.map(\.splices)
      moveEnds(of: number, over: before)
      own.splices = own.splices.map { Self.transform($0, before).own }
      typed[number] = own.ends(after: typed[number, default: []])
      moveEnds(of: number, over: recorded.filter { $0.revision > revision }.map(\.splices))
    }
  }

  /// Moves the ends of one text; an insertion by other clients at an end is placed after it.
  private func moveEnds(of number: PropertyNumber, over moves: [[TextSplice]]) {
    typed[number] = typed[number].map { ends in
      ends.map { end in moves.reduce(end) { TextSplice.rebasedOffset($0, over: $1, afterInsertions: false) } }
    }
  }
}

extension ObjectState.PropertyEdit {
  /// The ends of locally typed text after this edit; empty if they are unknown.
  fileprivate func ends(after ends: [Int]) -> [Int] {
    guard let splices else {
      // All text of a new object is local.
      guard textBase == nil, let text = value.stringValue else { return [] }
      return [text.utf8.count]
    }
    let own = TextSplice.ends(of: splices)
    let all = Set(ends.map { TextSplice.rebasedOffset($0, over: splices, afterInsertions: true) } + own)
    return all.count > TextSplice.maximumHunks ? own : all.sorted()
  }
}
