import GraphModel
import GraphWire

/// The JSON form of objects and commits (docs/cli.md).
package enum ObjectJSON {
  package static func object(_ image: ObjectImage, _ model: Model) -> JSON {
    guard let entity = model.entity(image.id.entity) else { return .null }
    var members = [
      JSON.Member("id", .string(image.id.description)), JSON.Member("entity", .string(entity.name)),
      JSON.Member("revision", .integer(image.revision)),
    ]
    // In the order of the model file.
    for property in entity.properties where property.slot != nil {
      members.append(.init(property.name, json(image[property], of: property)))
    }
    return .object(members)
  }

  /// A number that the server has not assigned yet is a text, `+1`.
  private static func json(_ value: Value, of property: Property) -> JSON {
    if case .integer(let number) = value, property.attribute?.assignment == .sequence,
      let text = ProvisionalNumber.text(number)
    {
      return .string(text)
    }
    return value.json(kind: property.attribute?.kind)
  }

  /// The name of an object's entity; null for one that the model does not have.
  package static func entity(of id: ObjectID, _ model: Model) -> JSON {
    model.entity(id.entity).map { .string($0.name) } ?? .null
  }

  package static func commit(_ entry: CommitEntry, _ model: Model) -> JSON {
    commit(
      revision: entry.revision, author: entry.author, time: entry.time, undoes: entry.undoes, redoes: entry.redoes,
      group: entry.undo?.shownName, unlisted: entry.unlisted, more: entry.more, entry.changes, model)
  }

  package static func commit(
    revision: Revision, author: String, time: Timestamp, undoes: Revision? = nil, redoes: Revision? = nil,
    group: String? = nil, unlisted: UInt64 = 0, more: UInt64 = 0, total: UInt64? = nil, _ changes: [Delta.Change],
    _ model: Model
  ) -> JSON {
    var members = [
      JSON.Member("revision", .integer(revision)), JSON.Member("author", .string(author)),
      JSON.Member("time", .string(RFC3339.text(time))),
    ]
    if let undoes { members.append(.init("undoes", .integer(undoes))) }
    if let redoes { members.append(.init("redoes", .integer(redoes))) }
    if let group { members.append(.init("group", .string(group))) }
    if unlisted > 0 { members.append(.init("unlisted", .integer(Int64(clamping: unlisted)))) }
    if more > 0 { members.append(.init("more", .integer(Int64(clamping: more)))) }
    if let total { members.append(.init("total", .integer(Int64(clamping: total)))) }
    members.append(.init("changes", .array(changes.map { change($0, model) })))
    return .object(members)
  }

  /// An undo or a redo, with the values that it skipped.
  package static func commit(_ entry: CommitEntry, skipped: [Conflict], _ model: Model) -> JSON {
    guard case .object(let members) = commit(entry, model), !skipped.isEmpty else { return commit(entry, model) }
    let list = skipped.map { conflict in
      var members = [
        JSON.Member("kind", .string(conflict.kind == .deleted ? "deleted" : "changed")),
        JSON.Member("id", .string(conflict.id.description)),
        JSON.Member("entity", entity(of: conflict.id, model)),
      ]
      if let property = model.property(conflict.property) { members.append(.init("property", .string(property.name))) }
      if !conflict.author.isEmpty { members.append(.init("author", .string(conflict.author))) }
      if conflict.revision > 0 { members.append(.init("revision", .integer(conflict.revision))) }
      return JSON.object(members)
    }
    return .object(members + [.init("skipped", .array(list))])
  }

  package static func change(_ change: Delta.Change, _ model: Model) -> JSON {
    var members = [JSON.Member("kind", .string(name(of: change.kind)))]
    if let object = change.object {
      members.append(.init("object", self.object(object, model)))
    } else {
      members.append(
        .init(
          "object",
          .object([
            .init("id", .string(change.id.description)),
            .init("entity", entity(of: change.id, model)),
          ])))
    }
    // Every update has edits; if there are none, the daemon omitted them with the object.
    if change.kind == .updated, change.object != nil || !change.edits.isEmpty {
      members.append(.init("changed", .array(change.edits.map { .string(model.propertyName($0.property)) })))
    }
    if change.kind == .removed, change.deleted { members.append(.init("deleted", .bool(true))) }
    if let place = change.place { members.append(.init("place", .integer(Int64(clamping: place)))) }
    return .object(members)
  }

  package static func sign(_ kind: Delta.Change.Kind) -> String {
    switch kind {
    case .inserted: "+"
    case .updated: "~"
    case .removed: "-"
    }
  }

  package static func name(of kind: Delta.Change.Kind) -> String {
    switch kind {
    case .inserted: "inserted"
    case .updated: "updated"
    case .removed: "removed"
    }
  }
}

extension ObjectJSON {
  /// An object with some of its properties, including to-many relationships stored at their other end.
  /// - Parameter only: the property names; nil for all that are stored or in `members`.
  package static func object(
    _ image: ObjectImage, _ model: Model, only names: [String]?, members: ToManyMembers
  ) -> JSON {
    guard names != nil || !members.isEmpty else { return object(image, model) }
    guard let entity = model.entity(image.id.entity) else { return .null }
    var json = [
      JSON.Member("id", .string(image.id.description)), JSON.Member("entity", .string(entity.name)),
      JSON.Member("revision", .integer(image.revision)),
    ]
    let properties =
      names?.compactMap { entity.property(named: $0) }
      ?? entity.properties.filter { $0.slot != nil || members.contains($0) }
    for property in properties {
      if property.slot != nil {
        json.append(.init(property.name, image[property].json(kind: property.attribute?.kind)))
      } else {
        let ids = members.ids(of: property, in: image.id)
        json.append(.init(property.name, .array(ids.map { .string($0.description) })))
      }
    }
    return .object(json)
  }
}
