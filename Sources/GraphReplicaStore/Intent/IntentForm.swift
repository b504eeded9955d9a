// Tests: IntentFormTests.swift
import GraphModel
import GraphStore

/// The JSON form of intents in the names of a model: writing. The guide *Working offline* describes every key.
package struct IntentForm {
  package let model: Model
  /// The text of the model's hash, which is compared for each intent that is read.
  let modelHash: String

  package init(_ model: Model) { (self.model, modelHash) = (model, model.hash.description) }

  /// The version of the form; a reader refuses a higher one.
  package static let version: Int64 = 1

  package func json(_ intent: Intent) -> JSON {
    var members = [
      JSON.Member("format", .integer(Self.version)), .init("number", .integer(intent.number)),
      .init(
        "transaction",
        .object([
          .init("replica", .string(intent.transaction.replica.description)),
          .init("sequence", .integer(Int64(bitPattern: intent.transaction.sequence))),
        ])),
      .init(
        "model",
        .object([
          .init("name", .string(intent.model.name)), .init("version", .integer(intent.model.version)),
          .init("hash", .string(intent.model.hash)),
        ])),
      .init("author", .string(intent.author)), .init("made", .string(RFC3339.text(intent.made))),
      .init("policy", .string(Self.name(of: intent.policy))),
    ]
    if let undo = intent.undo {
      members.append(
        .init(
          "undo",
          .object([
            .init("scope", .string(undo.scope.description)), .init("group", .integer(Int64(bitPattern: undo.group))),
            .init("name", .string(undo.name)),
          ])))
    }
    switch intent.content {
    case .changes(let changes):
      members.append(.init("changes", .array(changes.map { json($0, in: intent) })))
    case .undo(let revision, let redo):
      var step = [JSON.Member("revision", .integer(revision))]
      if redo { step.append(.init("redo", .bool(true))) }
      members += [.init("changes", .array([])), .init("undoes", .object(step))]
    case .undoEdit(let number):
      members += [
        .init("changes", .array([])), .init("undoes", .object([.init("edit", .integer(number))])),
      ]
    }
    return .object(members + state(of: intent))
  }

  private func state(of intent: Intent) -> [JSON.Member] {
    func left(_ time: Timestamp) -> JSON.Member { .init("left", .string(RFC3339.text(time))) }
    switch intent.state {
    case .queued: return [.init("state", .string("queued"))]
    case .left(let time): return [.init("state", .string("left")), left(time)]
    case .parked(let parking):
      var members = [JSON.Member("state", .string("parked"))]
      if let time = parking.left { members.append(left(time)) }
      return members + [.init("parked", json(parking, in: intent))]
    }
  }

  static func name(of policy: MergePolicy) -> String {
    switch policy {
    case .error: "error"
    case .storeTrump: "storeTrump"
    case .objectTrump: "objectTrump"
    case .overwrite: "overwrite"
    case .rollback: "rollback"
    }
  }

  // MARK: - Changes

  private func json(_ change: Change, in intent: Intent) -> JSON {
    let kind =
      switch change.kind {
      case .insert: "insert"
      case .update: "update"
      case .delete: "delete"
      case .revive: preconditionFailure("only a server revives objects")
      }
    var members = [JSON.Member("kind", .string(kind)), .init("object", reference(change.id, in: intent))]
    if change.base > 0 { members.append(.init("base", .integer(change.base))) }
    if !change.edits.isEmpty {
      members.append(.init("edits", .array(change.edits.map { json($0, of: change.id, in: intent) })))
    }
    if let condition = change.onlyIf {
      var parts = [JSON.Member("revision", .integer(condition.revision))]
      if !condition.properties.isEmpty {
        parts.append(.init("properties", .array(condition.properties.map { .string(name(of: $0)) })))
      }
      members.append(.init("onlyIf", .object(parts)))
    }
    return .object(members)
  }

  private func json(_ edit: Edit, of id: ObjectID, in intent: Intent) -> JSON {
    var members = [JSON.Member("property", .string(name(of: edit.property)))]
    switch edit.action {
    case .set(let value): members.append(.init("set", json(value, of: edit.property, in: intent)))
    case .splice(let splices):
      members.append(.init("splices", .array(splices.map(Self.json))))
      if let text = intent.texts[id]?[edit.property] { members.append(.init("before", .string(text))) }
    case .members(let added, let removed):
      members += [.init("add", references(added, in: intent)), .init("remove", references(removed, in: intent))]
    case .place(let objects, let anchor):
      members += [
        .init("place", references(objects, in: intent)),
        .init("after", anchor.map { reference($0, in: intent) } ?? .null),
      ]
    }
    return .object(members)
  }

  private static func json(_ splice: TextSplice) -> JSON {
    var members = [
      JSON.Member("offset", .integer(Int64(splice.offset))), .init("length", .integer(Int64(splice.length))),
      .init("insertion", .string(splice.insertion)),
    ]
    if splice.hasLeftAffinity { members.append(.init("continues", .bool(true))) }
    return .object(members)
  }

  private func json(_ value: Value, of property: PropertyNumber, in intent: Intent) -> JSON {
    switch value {
    case .object(let id): reference(id, in: intent)
    case .objects(let ids): references(ids, in: intent)
    default: value.json(kind: model.property(property)?.attribute?.kind)
    }
  }

  private func references(_ ids: [ObjectID], in intent: Intent) -> JSON {
    .array(ids.map { reference($0, in: intent) })
  }

  /// `ENTITY/ID`, or `ENTITY/new:NUMBER.PLACE` for an object that an unsent intent inserts.
  private func reference(_ id: ObjectID, in intent: Intent) -> JSON {
    let entity = model.entityName(id.entity)
    if id.isTemporary { return .string("\(entity)/new:\(intent.number).\(id.key.low)") }
    if let parts = ProvisionalID.parts(of: id) { return .string("\(entity)/new:\(parts.number).\(parts.place)") }
    return .string("\(entity)/\(id.key)")
  }

  private func name(of property: PropertyNumber) -> String {
    guard let property = model.property(property) else {
      preconditionFailure("an intent has the properties of its model: \(property)")
    }
    return property.name
  }

  // MARK: - Parked intents

  private func json(_ parking: Parking, in intent: Intent) -> JSON {
    var members = [
      JSON.Member("code", .string(parking.code)), .init("message", .string(parking.message)),
      .init("at", .string(RFC3339.text(parking.at))),
    ]
    if !parking.conflicts.isEmpty {
      members.append(.init("conflicts", .array(parking.conflicts.map { json($0, in: intent) })))
    }
    if !parking.violations.isEmpty {
      members.append(.init("violations", .array(parking.violations.map { json($0, in: intent) })))
    }
    if !parking.texts.isEmpty { members.append(.init("texts", texts(parking.texts, in: intent))) }
    if let number = parking.waitsFor { members.append(.init("waitsFor", .integer(number))) }
    return .object(members)
  }

  private func texts(_ texts: [ObjectID: [PropertyNumber: String]], in intent: Intent) -> JSON {
    .array(
      texts.sorted { $0.key < $1.key }.flatMap { id, texts in
        texts.sorted { $0.key < $1.key }.map { property, text in
          JSON.object([
            .init("object", reference(id, in: intent)), .init("property", .string(name(of: property))),
            .init("text", .string(text)),
          ])
        }
      })
  }

  private func json(_ conflict: Conflict, in intent: Intent) -> JSON {
    let kind =
      switch conflict.kind {
      case .changed: "changed"
      case .deleted: "deleted"
      case .unique: "unique"
      }
    var members = [JSON.Member("kind", .string(kind)), .init("object", reference(conflict.id, in: intent))]
    if conflict.property > 0 { members.append(.init("property", .string(name(of: conflict.property)))) }
    return .object(
      members + [
        .init("mine", json(conflict.mine, of: conflict.property, in: intent)),
        .init("theirs", json(conflict.theirs, of: conflict.property, in: intent)),
        .init("author", .string(conflict.author)), .init("revision", .integer(conflict.revision)),
      ])
  }

  private func json(_ violation: Violation, in intent: Intent) -> JSON {
    var members = [JSON.Member("object", reference(violation.id, in: intent))]
    if violation.property > 0 { members.append(.init("property", .string(name(of: violation.property)))) }
    return .object(
      members + [
        .init("rule", .string(violation.rule)),
        .init("value", json(violation.value, of: violation.property, in: intent)),
        .init("message", .string(violation.message)),
      ])
  }
}
