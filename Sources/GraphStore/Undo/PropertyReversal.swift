import GraphModel

/// The way of one property back over a step's edits, past what others did between and behind them. It is fed everything
/// that happened to the property from the step's first edit on, oldest first, and always speaks of the value as the last
/// of these left it.
struct PropertyReversal {
  private enum Way {
    case none
    /// What makes of the text as it is the text without the step's edits.
    case splices([TextSplice])
    /// Back to `old`, as long as the property has what the step gave it.
    case set(old: Value, gave: Value)
    /// True: the object comes back in; false: it goes out.
    case members([ObjectID: Bool])
    /// An ordered list, as each edit found it and left it, oldest first. What others did between them stays.
    case lists([List])
  }

  private struct List {
    let old: [ObjectID]
    let new: [ObjectID]
  }

  /// What someone else has put in the place of what the step gave.
  private struct Overlay {
    let old: Value
    let gave: Value
  }

  private var way = Way.none
  /// The value may still turn out to be what the step gave.
  private var overlay: Overlay?
  /// What the step would have restored where it lost for good.
  private var lost: Value?
  /// Who changed last what the step gave.
  private var other: PastChange?
  /// Of a place that has changed only to make room for others so far: what it was before the step.
  private var spacedFrom: Value?

  // MARK: - What happened

  /// An edit of the step.
  mutating func take(_ edit: HistoryEdit) {
    switch edit.action {
    case .set(.objects(let old), .objects(let new)):
      var lists = [List]()
      if case .lists(let earlier) = way { lists = earlier }
      if let last = lists.last, last.new == old {
        lists[lists.count - 1] = List(old: last.old, new: new)
      } else {
        lists.append(List(old: old, new: new))
      }
      way = .lists(lists)
    case .set(let old, let new):
      settle(old)
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
      var members = [ObjectID: Bool]()
      if case .members(let earlier) = way { members = earlier }
      // The first edit of a member decides: that is how it was before the step.
      for id in added where members[id] == nil { members[id] = false }
      for id in removed where members[id] == nil { members[id] = true }
      way = .members(members)
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

  /// An edit of a text that was undone since, or the undo of it: both are fed here. Together they did nothing; taken out
  /// both, they don't come between the step's letters and their places.
  mutating func cancel(_ edit: HistoryEdit, of change: PastChange) {
    guard case .splice(let back) = edit.reversed.action else { return pass(edit.edit, of: change) }
    switch way {
    case .none where overlay == nil: way = .splices(back)
    case .splices(let earlier): way = .splices(TextSplice.compose(back, then: earlier))
    default: pass(edit.edit, of: change)
    }
  }

  /// The object was deleted with one text and came back with another, because its deleter had edited it before and took
  /// both back.
  mutating func passRevival(from old: String, to new: String) {
    guard case .splices(let splices) = way, old != new, let text = TextSplice.apply(splices, to: old) else { return }
    way = .splices(TextSplice.differences(from: new, to: text))
  }

  /// The text is known here: what would be taken out of it and put in again stays where it is.
  mutating func trim(_ text: String) {
    if case .splices(let splices) = way { way = .splices(TextSplice.trim(splices, of: text)) }
  }

  /// An edit of anybody else, or of another step.
  mutating func pass(_ edit: Edit, of change: PastChange) {
    switch (way, edit.action) {
    case (.members, _), (.lists, _): return
    case (.splices(let splices), .splice(let theirs)): way = .splices(TextSplice.rebase(splices, over: theirs))
    default: cover(change)
    }
  }

  /// Somebody else has moved the member: under the same number again it would still be theirs.
  mutating func passMove(of change: PastChange) {
    cover(change)
    if let overlay { lost = lost ?? overlay.old }
    overlay = nil
  }

  /// The object was gone and came back: what happened before that is not known.
  mutating func passGap(_ change: PastChange) {
    switch way {
    case .members, .lists: return
    case .none, .splices, .set: cover(change)
    }
  }

  private mutating func cover(_ change: PastChange) {
    switch way {
    case .none:
      spacedFrom = nil
      if overlay == nil, lost == nil { return }
    case .splices(let splices):
      // No place in a text that was replaced as a whole means anything any more.
      if !splices.isEmpty { lost = lost ?? .null }
    case .set(let old, let gave): overlay = Overlay(old: old, gave: gave)
    case .members, .lists: return
    }
    way = .none
    other = change
  }

  /// The value is known here: what was laid over the step's is gone, or stays for good.
  private mutating func settle(_ value: Value?) {
    guard let overlay else { return }
    self.overlay = nil
    if overlay.gave == value { way = .set(old: overlay.old, gave: overlay.gave) } else { lost = lost ?? overlay.old }
  }

  // MARK: - What is to be done

  /// What sets the property back.
  enum Outcome {
    case edit(Edit)
    /// Somebody else has changed it since: it stays.
    case stays(mine: Value, by: PastChange?)
    /// Something else is in the way.
    case cannot(Conflict)
  }

  /// - Parameters:
  ///   - value: as it is now.
  ///   - isPlace: a place, which may be another one under the same number.
  ///   - obstacle: why the property can't have a value again, where it refers to something.
  /// - Returns: at most an edit, and a reason why the property stays as it is, in whole or in part.
  func outcomes(
    _ property: PropertyNumber, now value: Value, isPlace: Bool = false, obstacle: (Value) throws -> Conflict?
  ) throws -> [Outcome] {
    var end = self
    end.settle(value)
    var outcomes = [Outcome]()
    switch end.way {
    case .none: break
    case .splices(let splices):
      if TextSplice.apply(splices, to: value.stringValue ?? "") == nil {
        end.lost = end.lost ?? .null
      } else if !splices.isEmpty {
        outcomes.append(.edit(Edit(property, .splice(splices))))
      }
    case .set(let old, let gave):
      if value == old, !isPlace { break }
      if value != gave {
        end.lost = end.lost ?? old
      } else if let conflict = try obstacle(old) {
        outcomes.append(.cannot(conflict))
      } else {
        outcomes.append(.edit(Edit(property, .set(old))))
      }
    case .members(let members):
      let present = Set(value.objectIDs)
      let order = members.keys.sorted()
      let back = try order.filter { try members[$0] == true && !present.contains($0) && obstacle(.object($0)) == nil }
      let out = order.filter { members[$0] == false && present.contains($0) }
      if !back.isEmpty || !out.isEmpty {
        outcomes.append(.edit(Edit(property, .members(added: back, removed: out))))
      }
    case .lists(let lists):
      outcomes += try Self.edits(property, back: lists, from: value.objectIDs) { try obstacle(.object($0)) == nil }
        .map { .edit($0) }
    }
    if let lost = end.lost { outcomes.append(.stays(mine: lost, by: end.other)) }
    return outcomes
  }

  /// What takes changes of an ordered list back: what was added goes; what was taken out and what was moved comes behind
  /// the nearest of those that stood before it then and are there now.
  private static func edits(
    _ property: PropertyNumber, back lists: [List], from value: [ObjectID], canReturn: (ObjectID) throws -> Bool
  ) rethrows -> [Edit] {
    var (present, edits) = (value, [Edit]())
    for list in lists.reversed() {
      let (before, after, here) = (Set(list.old), Set(list.new), Set(present))
      var back = [Edit]()
      let added = list.new.filter { !before.contains($0) && here.contains($0) }
      if !added.isEmpty { back.append(Edit(property, .members(added: [], removed: added))) }
      // Members that somebody has taken out since stay out.
      let wanted = try list.old.filter { try after.contains($0) ? here.contains($0) : canReturn($0) }
      for run in OrderMoves.runs(from: list.new, to: wanted) {
        back.append(Edit(property, .place(run.objects, after: run.after)))
      }
      let gone = Set(added)
      present.removeAll { gone.contains($0) }
      for case .place(let objects, let anchor) in back.map(\.action) {
        present = OrderMoves.placing(objects, after: anchor, in: present)
      }
      edits += back
    }
    return edits
  }
}

extension Value {
  var wholeNumber: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }
}
