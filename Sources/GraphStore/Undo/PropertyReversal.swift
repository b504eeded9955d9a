import GraphModel

/// The way of one property back over a step's edits, past what others did between and behind them. It is fed everything
/// that happened to the property from the step's first edit on, oldest first, and always speaks of the value as the last
/// of these left it.
struct PropertyReversal {
  enum Way {
    case none
    /// What makes of the text as it is the text without the step's edits.
    case splices([TextSplice])
    /// Back to `old`, as long as the property has what the step gave it.
    case set(old: Value, gave: Value)
    /// True: the object comes back in; false: it goes out. Of the locked members, what the step alone would have them do.
    case members([ObjectID: Bool], locked: [ObjectID: Bool])
    /// An ordered list, as each edit found it and left it, oldest first. What others did between them stays.
    case lists([List])
  }

  struct List {
    let old: [ObjectID]
    let new: [ObjectID]
    /// Members that another author has taken out or put in since: they stay as that author left them.
    var locked = Set<ObjectID>()
  }

  /// A value that another step of the author, or a change and its undo, has put in the place of what the step gave. The
  /// way back is good again when the property has that value again.
  struct Overlay {
    let way: Way
    let value: Value
  }

  /// Whose change of the property it is that stands behind the step.
  enum Passed {
    /// One of two commits of which the other took this one back.
    case cancelled
    /// Another step of the same author.
    case own
    /// Another author's: whatever value the property has by now, it is theirs.
    case other
  }

  /// Two commits of which one took the other back: the older is known here, the newer is still to come.
  private struct Pair {
    let pair: Revision
    let before: PropertyReversal
  }

  var way = Way.none
  var overlay: Overlay?
  /// The innermost is the last. Empty behind every change that is not one of a pair.
  private var open = [Pair]()
  /// Pairs of which the older commit is known, and those whose letters are taken out of the way that there is now.
  private var seen = Set<Revision>()
  private var composed = Set<Revision>()
  /// What the step would have restored where it lost for good.
  var lost: Value?
  /// Who changed last what the step gave.
  var other: PastChange?
  /// Of a place that has changed only to make room for others so far: what it was before the step.
  private var spacedFrom: Value?

  // MARK: - What happened

  /// An edit of the step.
  mutating func take(_ edit: HistoryEdit) {
    open = []
    switch edit.action {
    case .set(.objects(let old), .objects(let new)):
      var lists = [List]()
      if case .lists(let earlier) = way { lists = earlier }
      if let last = lists.last, last.new == old, last.locked.isEmpty {
        lists[lists.count - 1] = List(old: last.old, new: new)
      } else {
        lists.append(List(old: old, new: new))
      }
      way = .lists(lists)
    case .set(let old, let new):
      settle(old)
      composed = []
      switch way {
      case .none, .members, .lists: way = .set(old: spacedFrom ?? old, gave: new)
      case .set(let oldest, _): way = .set(old: oldest, gave: new)
      case .splices(let splices):
        let oldest = old.stringValue.flatMap { TextSplice.apply(splices, to: $0) }
        way = .set(old: oldest.map(Value.string) ?? old, gave: new)
      }
    case .splice(let splices, _):
      settle(nil)
      guard case .splice(let back) = edit.reversed.action else { return }
      switch way {
      case .none, .members, .lists: way = .splices(back)
      case .splices(let earlier): way = .splices(TextSplice.compose(back, then: earlier))
      case .set(let old, let gave):
        let text = gave.stringValue.flatMap { TextSplice.apply(splices, to: $0) }
        way = text.map { .set(old: old, gave: .string($0)) } ?? .splices(back)
      }
    case .members(let added, let removed):
      var (members, locked) = ([ObjectID: Bool](), [ObjectID: Bool]())
      if case .members(let earlier, let theirs) = way { (members, locked) = (earlier, theirs) }
      // The first edit of a member decides: that is how it was before the step, or as another author left it.
      for id in added where members[id] == nil { members[id] = false }
      for id in removed where members[id] == nil { members[id] = true }
      way = .members(members, locked: locked)
    }
  }

  /// A place has another number because others needed room: it is the same place.
  mutating func space(_ edit: HistoryEdit) {
    if case .none = way, overlay == nil, lost == nil, case .set(let old, _) = edit.action {
      spacedFrom = spacedFrom ?? old
    }
    if case .set(_, let new) = edit.action { renumber(to: new) }
  }

  /// What the step gave has another number by now: because others needed room, or because a move that was undone since
  /// could not have the very number back.
  mutating func renumber(to new: Value) {
    switch way {
    case .set(let oldest, _): way = .set(old: oldest, gave: new)
    case .none, .splices, .members, .lists: return
    }
  }

  /// An edit that was undone since, or the undo of it: both are fed here. Together they did nothing. Where nothing else
  /// has come between them, the way is again what it was before them. Else the letters of a text are taken out both times,
  /// so that they don't come between the step's letters and their places.
  /// - Parameter pair: the newer one of the two commits; the older one may be several.
  mutating func cancel(_ edit: HistoryEdit, of change: PastChange, pair: Revision) {
    if change.revision == pair {
      if close(pair) { return }
      open = []
    } else if !open.contains(where: { $0.pair == pair }) {
      var before = self
      before.open = []
      open.append(Pair(pair: pair, before: before))
    }
    let isFirst = seen.insert(pair).inserted
    if case .splice(let back) = edit.reversed.action, isFirst || composed.contains(pair) {
      switch way {
      case .none where overlay == nil:
        way = .splices(back)
        composed.insert(pair)
        return
      case .splices(let earlier):
        way = .splices(TextSplice.compose(back, then: earlier))
        composed.insert(pair)
        return
      default: break
      }
    }
    pass(edit, of: change, as: .cancelled)
  }

  /// An undo that had nothing to do to the property is not fed here: it is over when anything later is.
  mutating func closePairs(before revision: Revision) {
    while let last = open.last, last.pair < revision, close(last.pair) {}
  }

  /// Behind the newer one of two commits: whether the way is again what it was before them.
  mutating func close(_ pair: Revision) -> Bool {
    guard let last = open.last, last.pair == pair else { return false }
    let outer = open.dropLast()
    self = last.before
    open = Array(outer)
    return true
  }

  /// The object was deleted with one text and came back with another, because its deleter had edited it before and took
  /// both back.
  mutating func passRevival(from old: String, to new: String) {
    guard case .splices(let splices) = way, !Bytes.equal(old, new), let text = TextSplice.apply(splices, to: old) else {
      return
    }
    way = .splices(TextSplice.differences(from: new, to: text))
  }

  /// The text is known here: what would be taken out of it and put in again stays where it is.
  mutating func trim(_ text: String) {
    if case .splices(let splices) = way { way = .splices(TextSplice.trim(splices, of: text)) }
  }

  /// An edit of another author, or of another step.
  mutating func pass(_ edit: HistoryEdit, of change: PastChange, as passed: Passed) {
    if passed != .cancelled { open = [] }
    switch (way, edit.action) {
    case (.members, .members(let added, let removed)):
      if passed == .other { lock(added + removed, by: change) }
    case (.lists, .set(.objects(let old), .objects(let new))):
      if passed == .other { lock(Array(Set(old).symmetricDifference(new)), by: change) }
    case (.members, _), (.lists, _): return
    case (.splices(let splices), .splice(let theirs, _)): way = .splices(TextSplice.rebase(splices, over: theirs))
    case (.splices(let splices), .set(let old, let new)) where passed != .other && !splices.isEmpty:
      cover(change, as: passed, text: old)
      restore(new)
    case (_, .set(_, let new)):
      cover(change, as: passed)
      if passed != .other { restore(new) }
    default: cover(change, as: passed)
    }
  }

  /// Members that another author has taken out or put in: their being there or not is that author's by now.
  private mutating func lock(_ ids: [ObjectID], by change: PastChange) {
    switch way {
    case .members(var members, var locked):
      for id in ids {
        guard let wanted = members.removeValue(forKey: id) else { continue }
        locked[id] = locked[id] ?? wanted
        other = change
      }
      way = .members(members, locked: locked)
    case .lists(var lists):
      for index in lists.indices {
        let (old, new) = (Set(lists[index].old), Set(lists[index].new))
        let touched = ids.filter { old.contains($0) || new.contains($0) }
        if touched.isEmpty { continue }
        lists[index].locked.formUnion(touched)
        other = change
      }
      way = .lists(lists)
    case .none, .splices, .set: return
    }
  }

  /// Another step has moved the member: under the same number again it would still be theirs.
  mutating func passMove(of change: PastChange) {
    cover(change, as: .other)
  }

  /// The object was gone and came back: what happened before that is not known.
  mutating func passGap(_ change: PastChange) {
    open = []
    switch way {
    case .members, .lists: return
    case .none, .splices, .set: cover(change, as: .own)
    }
  }

  /// - Parameter text: what a text was until now, where that is known.
  private mutating func cover(_ change: PastChange, as passed: Passed, text: Value? = nil) {
    switch way {
    case .none:
      spacedFrom = nil
      if overlay == nil, lost == nil { return }
    case .splices(let splices):
      if let text {
        overlay = Overlay(way: way, value: text)
      } else if !splices.isEmpty {
        // The places of its letters mean nothing in a text that was replaced as a whole.
        lost = lost ?? .null
      }
    case .set(_, let gave): overlay = Overlay(way: way, value: gave)
    case .members, .lists: return
    }
    way = .none
    composed = []
    // A change and its undo explain nothing: the change before them does.
    if passed != .cancelled || other == nil { other = change }
    if passed == .other { settle(nil) }
  }

  /// A value has been put in place of another: it may be the one that is covered.
  private mutating func restore(_ value: Value) {
    if let overlay, overlay.value == value { settle(value) }
  }

  /// The value is known here: the way back is good again, or lost for good. Nil for a value that is another author's, or
  /// not known.
  mutating func settle(_ value: Value?) {
    guard let overlay else { return }
    self.overlay = nil
    if overlay.value == value {
      way = overlay.way
    } else if case .set(let old, _) = overlay.way {
      lost = lost ?? old
    } else {
      lost = lost ?? .null
    }
  }
}

extension Value {
  var wholeNumber: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }
}
