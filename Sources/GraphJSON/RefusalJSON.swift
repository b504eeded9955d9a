import GraphModel

/// The JSON form of a refusal's violations and conflicts (docs/cli.md).
package struct RefusalJSON {
  /// The delete of an object that a conflict names or, if it has been restored since, its restore.
  package struct Deletion {
    let author: String
    let time: Timestamp
    let revision: Revision

    package init(author: String, time: Timestamp, revision: Revision) {
      (self.author, self.time, self.revision) = (author, time, revision)
    }
  }

  private let model: Model
  private let lines: [ObjectID: Int]
  private let deletions: [ObjectID: Deletion]

  /// - Parameters:
  ///   - lines: the lines of an input, by the objects to insert that they describe.
  ///   - deletions: the deletes and restores of objects, where they are known.
  package init(model: Model, lines: [ObjectID: Int] = [:], deletions: [ObjectID: Deletion] = [:]) {
    (self.model, self.lines, self.deletions) = (model, lines, deletions)
  }

  /// The members `violations` and `conflicts`, each only if there are some.
  package func members(of refusal: Refusal) -> [JSON.Member] {
    var members = [JSON.Member]()
    if !refusal.violations.isEmpty { members.append(.init("violations", .array(refusal.violations.map(json)))) }
    if !refusal.conflicts.isEmpty { members.append(.init("conflicts", .array(refusal.conflicts.map(json)))) }
    return members
  }

  private func json(_ id: ObjectID) -> JSON { id.isTemporary ? .null : .string(id.description) }

  private func json(_ value: Value, _ property: Property?) -> JSON {
    if case .object(let id) = value { return json(id) }
    return value.json(kind: property?.attribute?.kind)
  }

  private func subject(_ id: ObjectID, _ property: Property?) -> [JSON.Member] {
    var members = [
      JSON.Member("object", json(id)), .init("entity", ObjectJSON.entity(of: id, model)),
      .init("property", property.map { .string($0.name) } ?? .null),
    ]
    if let line = lines[id] { members.append(.init("line", .integer(Int64(line)))) }
    return members
  }

  private func json(_ violation: Violation) -> JSON {
    let property = model.property(violation.property)
    var members = subject(violation.id, property)
    members += [.init("rule", .string(violation.rule)), .init("value", json(violation.value, property))]
    if !violation.others.isEmpty {
      let others = violation.others.compactMap { part in
        model.property(part.property).map { JSON.Member($0.name, json(part.value, $0)) }
      }
      members.append(.init("others", .object(others)))
    }
    return .object(members + [.init("message", .string(violation.message))])
  }

  package func json(_ conflict: Conflict) -> JSON {
    let property = model.property(conflict.property)
    let kind =
      switch conflict.kind {
      case .changed: "changed"
      case .deleted: "deleted"
      case .unique: "unique"
      }
    // The server names the commit, unless the program itself has found the delete.
    let deletion = deletions[conflict.id].flatMap { [0, $0.revision].contains(conflict.revision) ? $0 : nil }
    var members = [JSON.Member("kind", .string(kind))] + subject(conflict.id, property)
    members += [
      .init("mine", json(conflict.mine, property)), .init("theirs", json(conflict.theirs, property)),
      .init("author", .string(deletion?.author ?? conflict.author)),
      .init("revision", .integer(deletion?.revision ?? conflict.revision)),
      .init("mineWon", .bool(conflict.mineWon)),
    ]
    if conflict.isCollateral { members.append(.init("collateral", .bool(true))) }
    if let deletion { members.append(.init("time", .string(RFC3339.text(deletion.time)))) }
    return .object(members)
  }
}
