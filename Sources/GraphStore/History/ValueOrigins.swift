// Tests: ValueOriginTests.swift, RandomHistoryTests.swift
import GraphModel

/// Finds the origin of a property's value.
///
/// It walks from the object's newest change back to the one that set the value. Marks (`LastWriterIndex`) keep the walk
/// short, however often the object's other properties have changed.
struct ValueOrigins {
  let history: HistoryReader
  /// Set for a class that does not see everything.
  var visible: VisibleHistory?

  private var model: Model { history.objects.model }

  /// - Parameter id: the id of a present or deleted object.
  func origin(of number: PropertyNumber, of id: ObjectID) throws -> ValueOrigin {
    guard let visible else { return try wholeOrigin(of: number, of: id) }
    let (known, deletion) = try history.located(id)
    guard let since = try visible.visibleSince(known, deletion: deletion) else { throw HistoryReader.neverExisted(id) }
    var origin = try wholeOrigin(of: number, of: known)
    if origin.revision < since || origin.revision == since && origin.kind != .inserted {
      // The class sees the object as inserted by the commit that made it visible, with all changes of that commit.
      origin = try makeOrigin(.inserted, origin.value, replaced: .null, number, known, at: since, deletion)
      origin.overwrittenValues = []
    }
    let (head, oldest) = (try history.head().revision, try history.oldest())
    origin.value = try visible.reduced(origin.value, at: max(deletion.map { $0 - 1 } ?? head, oldest))
    origin.replaced = try visible.reduced(origin.replaced, at: max(origin.revision - 1, oldest))
    for index in origin.overwrittenValues.indices {
      let (value, revision) = (origin.overwrittenValues[index].value, origin.overwrittenValues[index].revision)
      // Revisions of a reader must not rise.
      origin.overwrittenValues[index].value = try VisibleHistory(visible.visibility, history)
        .reduced(value, at: max(revision, since, oldest))
    }
    return origin
  }

  private func wholeOrigin(of number: PropertyNumber, of id: ObjectID) throws -> ValueOrigin {
    let (id, deletion) = try history.located(id)
    let property = try stored(number, of: id)
    let image = try history.objects.readImage(of: id)
    var value = image.value(of: property)
    var walk = ObjectWalk(
      id, from: try deletion ?? history.newestChange(of: id, present: image), history)
    // Changes before the property was added do not concern its values.
    var beginning = history.objects.layout.beginning(of: number)
    while let (revision, change) = try walk.next().map({ ($0.revision, $0.change) }) {
      if revision < beginning {
        guard change.kind == .deleted else {
          return try makeOrigin(.updated, value, replaced: nil, number, id, at: beginning, deletion)
        }
        // The object did not exist at the migration.
        beginning = 0
      }
      switch change.kind {
      case .deleted: value = change.keptValue(property)
      case .inserted:
        guard change.previous > 0 else {
          return try makeOrigin(.inserted, value, replaced: .null, number, id, at: revision, deletion)
        }
        // A revival mostly restores the value from before the delete.
        var kept = Value.null
        if let before = try history.event(of: id, in: change.previous) {
          kept = before.change.keptValue(property)
        } else {
          try history.refusePrunedCommit(change.previous)
        }
        if kept != value { return try makeOrigin(.revived, value, replaced: kept, number, id, at: revision, deletion) }
      case .updated:
        let edits = change.spacing.contains(number) ? [] : change.edits.filter { $0.property == number }
        guard edits.isEmpty else {
          let old = edits.reversed().reduce(value) { $1.reversed.applied(to: $0) ?? $0 }
          return try makeOrigin(.updated, value, replaced: old, number, id, at: revision, deletion)
        }
        if let next = change.lastWrites?.next(for: number), next < revision { walk.skip(to: next) }
      }
    }
    // The object's earlier changes were pruned, but the migration that gave it the value was not.
    if walk.revision > 0, walk.revision < beginning, try history.row(of: beginning) != nil {
      return try makeOrigin(.updated, value, replaced: nil, number, id, at: beginning, deletion)
    }
    throw Refusal(
      .pruned,
      "the commit that set \(property.name) was pruned; the oldest revision that is kept is \(try history.oldest())")
  }

  private func stored(_ number: PropertyNumber, of id: ObjectID) throws -> Property {
    guard let entity = model.entity(id.entity), let property = entity.property(number) else {
      throw Refusal(.malformed, "the object has no property number \(number)")
    }
    guard property.slot == nil else { return property }
    let inverse = property.relationship.flatMap { model.property($0.inverse) }
    let other = inverse.flatMap { model.entity($0.owner) }
    guard let inverse, let other else {
      throw Refusal(.malformed, "\(entity.name).\(property.name) is transient: it is not stored")
    }
    throw Refusal(
      .malformed,
      "\(entity.name).\(property.name) is stored at its other end: ask for \(other.name).\(inverse.name) of one of its "
        + "objects")
  }

  /// - Parameter replaced: nil if unknown.
  private func makeOrigin(
    _ kind: ValueOrigin.Kind, _ value: Value, replaced: Value?, _ property: PropertyNumber, _ id: ObjectID,
    at revision: Revision, _ deletion: Revision?
  ) throws -> ValueOrigin {
    guard let commit = try history.row(of: revision) else {
      throw try history.prunedCommit(revision)
    }
    var origin = ValueOrigin(
      kind: kind, value: value, replaced: .null, revision: revision, time: commit.time,
      author: commit.author,
      transaction: commit.transaction, undo: commit.undo, undoes: commit.undoes, redoes: commit.redoes,
      deletion: deletion,
      overwrittenValues: try OverwrittenValues(connection: history.connection, numbers: history.objects.layout.numbers)
        .losers(of: property, of: id, to: revision))
    origin.isReplacedKnown = replaced != nil
    if let replaced { origin.replaced = replaced }
    return origin
  }
}
