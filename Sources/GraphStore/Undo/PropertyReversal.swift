// Tests: UndoPastOthersTests.swift, UndoSameValueTests.swift, RandomUndoTests.swift
import GraphModel

/// The reversal of a step's edits of one property, across the changes of others in between and afterwards.
///
/// It receives all changes of the property from the step's first edit on, oldest first. Its state always refers to
/// the value after the last one received.
struct PropertyReversal {
  enum Method {
    case none
    /// The splices that remove the step's edits from the present text.
    case splices([TextSplice])
    /// Restores `old` if the property has the value that the step set.
    case set(old: Value, gave: Value)
    /// Members to add (true) or to remove (false). `locked` has the entries of locked members, which are not applied.
    case members([ObjectID: Bool], locked: [ObjectID: Bool])
    /// An ordered list before and after each edit, oldest first. Changes by others in between stay.
    case lists([List])
  }

  struct List {
    let old: [ObjectID]
    let new: [ObjectID]
    /// Members that another author has added, removed or moved since; they stay as that author left them.
    var locked = Set<ObjectID>()
  }

  /// A reversal whose value was replaced by another step of the author, or by a change that was undone. It becomes
  /// valid again when the property gets the replaced value back.
  struct SupersededEdit {
    let method: Method
    let value: Value
  }

  /// The origin of a change after the step's edit.
  enum ChangeOrigin {
    /// One of two commits that cancel each other.
    case cancelled
    /// Another step of the same author.
    case own
    /// Another author. The present value counts as theirs, even if it is equal.
    case other
  }

  /// Two commits that cancel each other. The older one was received, the newer one was not.
  private struct CancellingCommits {
    let pair: Revision
    let before: PropertyReversal
  }

  var method = Method.none
  var overlay: SupersededEdit?
  /// The open pairs, innermost last. Empty after every change that is not part of a pair.
  private var open = [CancellingCommits]()
  /// The pairs whose older commit was received; `composed` has those whose characters the reversal already removes.
  private var seen = Set<Revision>()
  private var composed = Set<Revision>()
  /// The value that the step would have restored, if its reversal is no longer possible.
  var lost: Value?
  /// The last change that replaced the step's value.
  var other: PastChange?
  /// The value before the step of a position that has changed only for spacing so far.
  private var spacedFrom: Value?

  // MARK: - Received changes

  /// Receives an edit of the step.
  mutating func receiveOwn(_ edit: HistoryEdit) {
    open = []
    switch edit.action {
    case .set(.objects(let old), .objects(let new)):
      var lists = [List]()
      if case .lists(let earlier) = method { lists = earlier }
      if let last = lists.last, last.new == old, last.locked.isEmpty {
        lists[lists.count - 1] = List(old: last.old, new: new)
      } else {
        lists.append(List(old: old, new: new))
      }
      method = .lists(lists)
    case .set(let old, let new):
      resolve(old)
      composed = []
      switch method {
      case .none, .members, .lists: method = .set(old: spacedFrom ?? old, gave: new)
      case .set(let oldest, _): method = .set(old: oldest, gave: new)
      case .splices(let splices):
        let oldest = old.stringValue.flatMap { TextSplice.apply(splices, to: $0) }
        method = .set(old: oldest.map(Value.string) ?? old, gave: new)
      }
    case .splice(let splices, let removed):
      resolve(nil)
      let back = HistoryEdit.reversal(of: splices, removed: removed)
      switch method {
      case .none, .members, .lists: method = .splices(back)
      case .splices(let earlier): method = .splices(TextSplice.compose(back, then: earlier))
      case .set(let old, let gave):
        let text = gave.stringValue.flatMap { TextSplice.apply(splices, to: $0) }
        method = if let text { .set(old: old, gave: .string(text)) } else { .splices(back) }
      }
    case .members(let added, let removed):
      var (members, locked) = ([ObjectID: Bool](), [ObjectID: Bool]())
      if case .members(let earlier, let theirs) = method { (members, locked) = (earlier, theirs) }
      // The first edit of a member decides: it has the state before the step, or the state that another author left.
      for id in added where members[id] == nil { members[id] = false }
      for id in removed where members[id] == nil { members[id] = true }
      method = .members(members, locked: locked)
    }
  }

  /// Receives a position change that only made space; the place is the same.
  mutating func space(_ edit: HistoryEdit) {
    if case .none = method, overlay == nil, lost == nil, case .set(let old, _) = edit.action {
      spacedFrom = spacedFrom ?? old
    }
    if case .set(_, let new) = edit.action { renumber(to: new) }
  }

  /// Replaces the number of the step's position.
  ///
  /// It changed to make space, or because the undo of a move could not restore the exact number.
  mutating func renumber(to new: Value) {
    switch method {
    case .set(let oldest, _): method = .set(old: oldest, gave: new)
    case .none, .splices, .members, .lists: return
    }
  }

  /// Receives an edit that was undone since, or the undo of it; together they have no effect.
  ///
  /// If nothing else came between them, the state before them is restored. Otherwise the characters of a text are
  /// removed both times, so that they do not shift the step's characters.
  /// - Parameter pair: the revision of the newer commit; there may be several older ones.
  mutating func cancel(_ edit: HistoryEdit, of change: PastChange, pair: Revision) {
    if change.revision == pair {
      if close(pair) { return }
      open = []
    } else if !open.contains(where: { $0.pair == pair }) {
      var before = self
      before.open = []
      open.append(CancellingCommits(pair: pair, before: before))
    }
    let isFirst = seen.insert(pair).inserted
    if case .splice(let back) = edit.reversed.action, isFirst || composed.contains(pair) {
      switch method {
      case .none where overlay == nil:
        method = .splices(back)
        composed.insert(pair)
        return
      case .splices(let earlier):
        method = .splices(TextSplice.compose(back, then: earlier))
        composed.insert(pair)
        return
      default: break
      }
    }
    receive(edit, of: change, from: .cancelled)
  }

  /// Closes the pairs that end before a revision. An undo that did not change the property is not received.
  mutating func closePairs(before revision: Revision) {
    while let last = open.last, last.pair < revision, close(last.pair) {}
  }

  /// Closes a pair after its newer commit; returns whether the state before the pair was restored.
  mutating func close(_ pair: Revision) -> Bool {
    guard let last = open.last, last.pair == pair else { return false }
    let outer = open.dropLast()
    self = last.before
    open = Array(outer)
    return true
  }

  /// Receives a revival with another text than the deleted one.
  ///
  /// The deleting author had edited the object before, and undid both.
  mutating func receiveRevival(from old: String, to new: String) {
    // Other reversals restore complete values, on which the text in between has no effect.
    guard case .splices(let splices) = method, !UTF8Comparison.equal(old, new) else { return }
    if let text = TextSplice.apply(splices, to: old) {
      method = .splices(TextSplice.differences(from: new, to: text))
    }
  }

  /// Uses the known text to keep characters that would be removed and inserted again.
  mutating func trim(_ text: String) {
    if case .splices(let splices) = method { method = .splices(TextSplice.trim(splices, of: text)) }
  }

  /// Receives an edit of another author or of another step.
  mutating func receive(_ edit: HistoryEdit, of change: PastChange, from origin: ChangeOrigin) {
    if origin != .cancelled { open = [] }
    switch (method, edit.action) {
    case (.members, .members(let added, let removed)):
      if origin == .other { lock(added + removed, by: change) }
    case (.lists, .set(.objects(let old), .objects(let new))):
      if origin == .other { lock(Self.touched(from: old, to: new), by: change) }
    case (.members, _), (.lists, _): return
    case (.splices(let splices), .splice(let theirs, _)): method = .splices(TextSplice.rebase(splices, over: theirs))
    case (.splices(let splices), .set(let old, let new)) where origin != .other && !splices.isEmpty:
      cover(change, from: origin, text: old)
      restore(new)
    case (_, .set(_, let new)):
      cover(change, from: origin)
      if origin != .other { restore(new) }
    default: cover(change, from: origin)
    }
  }

  /// The members of a list that an edit added, removed or moved.
  ///
  /// A list does not record its moves. The moves are the smallest set that leads to the new order: if two neighbors
  /// changed places, one of them has moved.
  private static func touched(from old: [ObjectID], to new: [ObjectID]) -> [ObjectID] {
    let before = Set(old)
    let moved = ListReorderer.runs(from: old, to: new).flatMap(\.objects).filter(before.contains)
    return before.symmetricDifference(new) + moved
  }

  /// Locks members that another author has added, removed or moved.
  private mutating func lock(_ ids: [ObjectID], by change: PastChange) {
    switch method {
    case .members(var members, var locked):
      for id in ids {
        if let wanted = members.removeValue(forKey: id), locked[id] == nil { locked[id] = wanted }
        // A locked member may change again: the newest change is reported.
        if locked[id] != nil { other = change }
      }
      method = .members(members, locked: locked)
    case .lists(var lists):
      for index in lists.indices {
        let (old, new) = (Set(lists[index].old), Set(lists[index].new))
        let touched = ids.filter { old.contains($0) || new.contains($0) }
        if touched.isEmpty { continue }
        lists[index].locked.formUnion(touched)
        other = change
      }
      method = .lists(lists)
    case .none, .splices, .set: assertionFailure("only a reversal of members has members to lock")
    }
  }

  /// Receives a move by another step. The position is from that step, even if it is equal.
  mutating func receiveMove(of change: PastChange) {
    cover(change, from: .other)
  }

  /// Receives a revival before which the changes are unknown.
  mutating func receiveGap(_ change: PastChange) {
    open = []
    switch method {
    case .members, .lists: return
    case .none, .splices, .set: cover(change, from: .own)
    }
  }

  /// - Parameter text: the preceding text, if known.
  private mutating func cover(_ change: PastChange, from origin: ChangeOrigin, text: Value? = nil) {
    switch method {
    case .none:
      spacedFrom = nil
      if overlay == nil, lost == nil { return }
    case .splices(let splices):
      if let text {
        overlay = SupersededEdit(method: method, value: text)
      } else if !splices.isEmpty {
        // Offsets are meaningless in a text that was replaced completely.
        markLost(.null)
      }
    case .set(_, let gave): overlay = SupersededEdit(method: method, value: gave)
    case .members, .lists: return assertionFailure("members are locked one by one, never replaced together")
    }
    method = .none
    composed = []
    // A cancelled change is not the reason; the change before it is.
    if origin != .cancelled || other == nil { other = change }
    if origin == .other { resolve(nil) }
  }

  /// Receives a new value, which may be the replaced one.
  private mutating func restore(_ value: Value) {
    if let overlay, overlay.value == value { resolve(value) }
  }

  /// Makes a replaced reversal valid again if the property has its value; otherwise marks it as lost. Nil for a value
  /// that is unknown or another author's.
  mutating func resolve(_ value: Value?) {
    // Most reversals were never replaced.
    guard let overlay else { return }
    self.overlay = nil
    if overlay.value == value {
      method = overlay.method
    } else if case .set(let old, _) = overlay.method {
      markLost(old)
    } else {
      markLost(.null)
    }
  }

  /// Keeps the first value that the step can no longer restore.
  mutating func markLost(_ value: Value) {
    if lost == nil { lost = value }
  }
}

extension Value {
  var wholeNumber: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }
}
