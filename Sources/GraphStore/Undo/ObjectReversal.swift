// Tests: UndoPastOthersTests.swift, UndoSameValueTests.swift, RandomUndoTests.swift
import GraphModel

/// The reversal of a step for one object, from the step's changes and those of others in the object's past.
struct ObjectReversal {
  let id: ObjectID
  /// The present object; nil if it does not exist.
  let now: ObjectImage?
  /// Whether the step inserted the object.
  private(set) var isInserted = false
  /// The step's delete of the object, if all later changes of the object were undone.
  private(set) var deletion: HistoryChange?
  /// Whether the step deleted the object and it was revived anyway.
  private(set) var wasRevived = false
  /// The newest edit by another author since the step began.
  private(set) var other: PastChange?
  private(set) var properties = [PropertyNumber: PropertyReversal]()

  /// - Parameters:
  ///   - own: the step's changes of the object, oldest first; not empty.
  ///   - past: all changes of the object since then, oldest first, including the step's, as far as history has them:
  ///     it may begin at a revival.
  ///   - cancelled: returns the commits of an author that were undone, and their undos.
  init(
    _ id: ObjectID, own: [(revision: Revision, change: HistoryChange)], past: [HistoryReader.RecordedChange],
    now: ObjectImage?, author: String, model: Model, cancelled: (_ author: String) throws -> [Revision: Revision]
  ) throws {
    self.id = id
    self.now = now
    assert(!own.isEmpty)
    isInserted = own.first?.change.kind == .inserted
    let known = if let first = past.first { first.revision } else { Revision.max }
    var steps = own[...]
    // Server-assigned values are not restored, except positions, which users choose.
    func isServers(_ number: PropertyNumber) -> Bool {
      guard let property = model.property(number) else { return true }
      return ![nil, .position].contains(property.attribute?.assignment) || property.attribute?.isDerived == true
    }
    while let first = steps.first, first.revision < known {
      receiveOwn(first.change, isServers)
      steps.removeFirst()
    }
    if steps.count < own.count, let revival = past.first { receiveGap(revival.past) }
    let edited = Set(own.flatMap { $0.change.edits.map(\.property) }.filter { !isServers($0) })
    let nothing = try UndoneEditPairs(
      edited, in: past, own: Set(own.map(\.revision)), image: now ?? Self.image(before: past.last), model: model,
      cancelled: cancelled)
    var lastDelete: HistoryChange?
    for (index, event) in past.enumerated() {
      closePairs(before: event.revision)
      if let first = steps.first, first.revision == event.revision {
        receiveOwn(first.change, isServers)
        steps.removeFirst()
      } else {
        receive(
          event, edited, nothing, author: author, model: model,
          revives: event.change.kind == .inserted ? lastDelete : nil)
      }
      if event.change.kind == .deleted { lastDelete = event.change }
      if event.change.kind == .inserted, lastDelete != nil {
        receivePositions(behind: past[(index + 1)...], model: model)
      }
      if !UTF8Comparison.equal(event.author, author), event.past.isUserEdit(in: model) { other = event.past }
    }
    closePairs(before: .max)
    if let last = own.last, last.change.kind == .deleted {
      if now != nil {
        wasRevived = true
      } else if try !past.isEmpty
        && past.allSatisfy({ try $0.revision <= last.revision || cancelled($0.author)[$0.revision] != nil })
      {
        // The object may have been revived, and the revival undone.
        deletion = last.change
      }
    }
  }

  private mutating func closePairs(before revision: Revision) {
    for index in properties.values.indices { properties.values[index].closePairs(before: revision) }
  }

  private mutating func receiveOwn(_ change: HistoryChange, _ isServers: (PropertyNumber) -> Bool) {
    for edit in change.edits where !isServers(edit.property) {
      if change.spacing.contains(edit.property) {
        properties[edit.property, default: PropertyReversal()].space(edit)
      } else {
        properties[edit.property, default: PropertyReversal()].receiveOwn(edit)
      }
    }
  }

  private mutating func receive(
    _ event: HistoryReader.RecordedChange, _ edited: Set<PropertyNumber>, _ cancelled: UndoneEditPairs, author: String,
    model: Model, revives deletion: HistoryChange?
  ) {
    for number in edited {
      guard let property = model.property(number), let old = deletion?.kept(property)?.stringValue,
        let new = cancelled.text(number, behind: event.revision)
      else { continue }
      properties.modifyIfPresent(number) { reversal in
        if !reversal.close(event.revision) { reversal.receiveRevival(from: old, to: new) }
      }
    }
    for edit in event.change.edits where edited.contains(edit.property) {
      if event.change.spacing.contains(edit.property) {
        properties[edit.property, default: PropertyReversal()].space(edit)
      } else if let pair = cancelled.pair(edit.property, event.revision) {
        if model.property(edit.property)?.isPlace == true {
          if case .set(_, let new) = edit.action {
            properties.modifyIfPresent(edit.property) { $0.renumber(to: new) }
          }
        } else {
          properties[edit.property, default: PropertyReversal()].cancel(edit, of: event.past, pair: pair)
        }
      } else if model.property(edit.property)?.isPlace == true {
        properties.modifyIfPresent(edit.property) { $0.receiveMove(of: event.past) }
      } else {
        let origin = UTF8Comparison.equal(event.author, author) ? PropertyReversal.ChangeOrigin.own : .other
        properties.modifyIfPresent(edit.property) { $0.receive(edit, of: event.past, from: origin) }
      }
      if let text = cancelled.text(edit.property, behind: event.revision) {
        properties.modifyIfPresent(edit.property) { $0.trim(text) }
      }
    }
  }

  /// Takes the new position numbers after a revival, which restores places but possibly under other numbers.
  private mutating func receivePositions(behind later: ArraySlice<HistoryReader.RecordedChange>, model: Model) {
    for place in properties.keys.compactMap({ model.property($0) }) where place.isPlace {
      var value = now.value(of: place)
      for event in later.reversed() {
        if let kept = event.change.kept(place) { value = kept }
        for edit in event.change.edits where edit.property == place.number {
          if case .set(let old, _) = edit.action { value = old }
        }
      }
      properties.modifyIfPresent(place.number) { $0.renumber(to: value) }
    }
  }

  /// The image that a delete kept.
  private static func image(before event: HistoryReader.RecordedChange?) -> ObjectImage? {
    guard let event, event.change.kind == .deleted else { return nil }
    return ObjectImage(id: event.change.id, revision: event.change.previous, values: event.change.values)
  }

  private mutating func receiveGap(_ change: PastChange) {
    for index in properties.values.indices { properties.values[index].receiveGap(change) }
  }

  /// The edits that restore the properties of `image`, and conflicts for the properties that stay.
  ///
  /// The image is from an update or a revival.
  func edits(
    of image: ObjectImage, model: Model, obstacle: (Property, Value) throws -> Conflict?
  ) throws -> (edits: [Edit], skipped: [Conflict]) {
    var (edits, skipped) = ([Edit](), [Conflict]())
    // A position is restored together with its to-one, or not at all.
    var (kept, returning) = (Set<PropertyNumber>(), Set<PropertyNumber>())
    for property in properties.keys.sorted().compactMap({ model.property($0) }).placesLast {
      guard let reversal = properties[property.number], let slot = property.slot, slot < image.values.count,
        !kept.contains(property.number)
      else { continue }
      let value = image.values[slot]
      let outcomes = try reversal.outcomes(
        property.number, now: value, isPlace: property.isPlace
      ) { try obstacle(property, $0) }
      var (isRestored, hasPlace) = (false, false)
      for outcome in outcomes {
        switch outcome {
        case .edit(let edit):
          isRestored = true
          if case .set(.object) = edit.action { hasPlace = true }
          // Without the to-one there is no position.
          if property.isPlace, case .set(.null) = edit.action { continue }
          edits.append(edit)
        // It was moved within the list that it leaves.
        case .stays where property.isPlace && returning.contains(property.number): continue
        case .stays(let mine, let other):
          skipped.append(
            Conflict(
              kind: .changed, id: id, property: property.number, mine: mine, theirs: value, with: other?.commit))
        case .cannot(let conflict): skipped.append(conflict)
        }
      }
      guard let place = property.relationship?.position else { continue }
      if hasPlace { returning.insert(place) }
      if !isRestored, !outcomes.isEmpty { kept.insert(place) }
    }
    // The number only marks that the member returns; its position is determined later.
    for place in returning.sorted() where !edits.contains(where: { $0.property == place }) {
      guard let slot = model.property(place)?.slot, slot < image.values.count else { continue }
      // The member has no number if it is in no list now.
      let number = if let number = image.values[slot].wholeNumber { number } else { Int64(0) }
      edits.append(Edit(place, .set(.integer(number))))
    }
    return (edits, skipped)
  }
}

extension Property {
  /// Whether this is the position among the members of an ordered relationship.
  var isPlace: Bool { attribute?.assignment == .position }
}

extension [Property] {
  /// The properties with positions last, because a position belongs to the value of its to-one.
  var placesLast: [Property] { filter { !$0.isPlace } + filter(\.isPlace) }
}
