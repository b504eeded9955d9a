// Tests: TextSavingTests.swift, TextTypingTests.swift
import GraphModel

/// Rebases unsaved texts over the commits of other clients.
///
/// A text is a stack of layers: the stored text, then unanswered saves, then unsaved edits, each a difference from
/// the one below. The commits of other clients go in underneath as splices, so that a word that is being typed stays
/// in one piece, wherever others write.
///
/// While a save is in flight, the client does not know which deltas precede it on the server; they are kept in
/// `textMoves` until the answer arrives. Where only complete images arrived, the two texts are compared instead.
extension ObjectState {
  /// The splices of one commit to a text.
  struct CommittedSplices {
    let revision: Revision
    let splices: [TextSplice]
  }

  /// Records a commit's edits of texts.
  func recordTextMoves(_ moved: [Edit], at revision: Revision) {
    guard !edits.isEmpty || !sent.isEmpty else { return moveTypedEnds(moved, at: revision) }
    for edit in moved where entity.property(edit.property)?.attribute?.kind == .text {
      if case .splice(let splices) = edit.action {
        textMoves[edit.property, default: []].append(CommittedSplices(revision: revision, splices: splices))
      } else {
        untrackedTexts.insert(edit.property)
      }
    }
  }

  /// Marks texts as untracked: a complete image arrived, and the edits before it are unknown.
  func markTextsUntracked() {
    guard !edits.isEmpty || !sent.isEmpty else { return typed = [:] }
    for property in entity.storedProperties where property.attribute?.kind == .text {
      untrackedTexts.insert(property.number)
    }
  }

  /// Rebases the remaining edits over all recorded moves, and clears the record. Called between two saves: none of
  /// the queued ones has been sent.
  /// - Parameters:
  ///   - answered: the edits of the save that has just been committed, based on the same text as the moves.
  ///   - revision: the revision of its commit, whose own delta is among the moves.
  func rebaseTexts(after answered: [PropertyNumber: PropertyEdit] = [:], committedAt revision: Revision = 0) {
    defer { (textMoves, untrackedTexts) = ([:], []) }
    guard let stored else { return typed = [:] }
    setInsertionAffinity(above: answered)
    moveTypedEnds(answered, committedAt: revision)
    var numbers = Set(edits.keys)
    for save in sent { numbers.formUnion(save.edits.keys) }
    // Texts are independent of each other: their order does not matter.
    for number in numbers {
      guard let property = entity.property(number), property.attribute?.kind == .text,
        let text = stored[property].stringValue
      else { continue }
      if untrackedTexts.contains(number) || !move(number, to: text, answered[number], committedAt: revision) {
        compare(number, with: text)
      }
    }
  }

  /// Rebases the layers of a text over the recorded moves.
  /// - Returns: false if the moves do not lead to the stored text.
  private func move(
    _ number: PropertyNumber, to stored: String, _ answered: PropertyEdit?, committedAt revision: Revision
  ) -> Bool {
    let recorded = textMoves[number, default: []]
    var moves = recorded.map(\.splices)
    if let answered {
      guard let own = answered.splices else { return false }
      moves = Self.transform(own, recorded.filter { $0.revision < revision }.map(\.splices)).moves
      moves += recorded.filter { $0.revision > revision }.map(\.splices)
    }
    var layers = sent.compactMap { $0.edits[number] } + [edits[number]].compactMap { $0 }
    guard var baseText = layers.first?.textBase else { return false }
    for splices in moves {
      guard let next = TextSplice.apply(splices, to: baseText) else { return false }
      baseText = next
    }
    guard UTF8Comparison.equal(baseText, stored) else { return false }
    for index in layers.indices {
      guard let own = layers[index].splices else { return false }
      let moved = Self.transform(own, moves)
      guard let text = TextSplice.apply(moved.own, to: baseText) else { return false }
      (layers[index].textBase, layers[index].value, layers[index].splices) = (baseText, .string(text), moved.own)
      (moves, baseText) = (moved.moves, text)
    }
    for index in sent.indices where sent[index].edits[number] != nil {
      sent[index].edits[number] = layers.removeFirst()
    }
    if edits[number] != nil { edits[number] = layers.removeFirst() }
    return true
  }

  /// Rebases a local edit over a sequence of other clients' moves, and the moves over the edit.
  static func transform(
    _ own: [TextSplice], _ moves: [[TextSplice]]
  ) -> (own: [TextSplice], moves: [[TextSplice]]) {
    var own = own
    var transformed = [[TextSplice]]()
    for splices in moves {
      transformed.append(TextSplice.rebase(splices, under: own))
      own = TextSplice.rebase(own, over: splices)
    }
    return (own, transformed)
  }

  /// Rebases the layers of a text by comparing it with the stored text; no save is in flight.
  private func compare(_ number: PropertyNumber, with stored: String) {
    var baseText = stored
    func step(_ local: PropertyEdit) -> PropertyEdit {
      let moved = local.rebased(onto: baseText)
      baseText = moved.value.stringValue ?? baseText
      return moved
    }
    for index in sent.indices { sent[index].edits[number] = sent[index].edits[number].map(step) }
    edits[number] = edits[number].map(step)
  }
}

extension ObjectState.PropertyEdit {
  /// Computes the splices after the value was set again.
  /// - Parameters:
  ///   - older: the previous edit; nil for the first.
  ///   - newer: an edit on top of the older one, if it is known.
  mutating func composeSplices(after older: Self?, _ newer: Self? = nil) {
    splices = nil
    // A text that is set to null, or whose previous text is unknown, is replaced completely.
    guard let base = textBase, let mine = value.stringValue else { return }
    if let made = older?.splices, let before = older?.value.stringValue {
      var step: [TextSplice]?
      if let newer, let newerBase = newer.textBase, UTF8Comparison.equal(newerBase, before) { step = newer.splices }
      let found = {
        TextSplice.withAffinity(
          TextSplice.differences(from: before, to: mine), at: TextSplice.ends(of: made), of: before)
      }
      splices = TextSplice.compose(made, then: step ?? found())
    }
    if let splices, splices.count <= TextSplice.maximumHunks { return }
    splices = TextSplice.differences(from: base, to: mine)
  }

  /// The same edit on another stored text. It is found by comparison, because the splices between the two are
  /// unknown.
  func rebased(onto stored: String) -> Self {
    guard let base = textBase, let splices, !UTF8Comparison.equal(base, stored) else { return self }
    let moved = TextSplice.rebase(splices, over: TextSplice.differences(from: base, to: stored))
    guard let text = TextSplice.apply(moved, to: stored) else { return self }
    var local = self
    (local.textBase, local.value, local.splices) = (stored, .string(text), moved)
    return local
  }
}
