// Tests: WriteTests.swift
import GraphJSON
import GraphModel
import GraphWire
import HTTPTypes

/// Whole transactions.
extension RequestHandler {
  /// A change in the body of a transaction, before its objects are looked up.
  private struct Entry {
    let kind: Change.Kind
    let entity: Entity
    let id: ObjectID
    let inputs: [BodyReader.Input]
    let base: Revision?
    let precondition: Revision?
    let path: [String]
  }

  /// Commits all changes of the body, or none.
  func commit(_ request: CheckedRequest, _ reader: GraphReader) async throws -> Reply {
    let document = try BodyReader.document(request.body)
    try Self.check(document, has: ["policy", "changes"], at: [])
    var policy = MergePolicy.error
    if let text = document["policy"] {
      guard let named = text.stringValue.flatMap(MergePolicy.named) else {
        throw Problem.malformed(
          "policy must be one of \(MergePolicy.names.joined(separator: ", "))", pointer: "/policy")
      }
      policy = named
    }
    guard let list = document["changes"]?.arrayValue, !list.isEmpty, list.count <= HTTPLimits.maximumChanges else {
      throw Problem.malformed(
        "changes must be a list of 1 to \(HTTPLimits.maximumChanges) changes", pointer: "/changes")
    }
    var labels = [ByteKey: ObjectID]()
    var entries = [Entry]()
    for (index, json) in list.enumerated() {
      entries.append(try entry(json, number: UInt64(index) + 1, ["changes", String(index)], &labels))
    }
    let first = entries[0]
    let known = Change(first.kind == .insert ? .insert : .update, first.id)
    let saved = try await saveOnce(request, reader, known: known) {
      (try await changes(entries, labels, reader), policy)
    }
    guard case .object(var members) = try await commitJSON(saved.result.revision, reader.session) else {
      preconditionFailure("a commit is an object of JSON")
    }
    let ids = Dictionary(saved.result.identities.map { ($0.temporary, $0.permanent) }, uniquingKeysWith: { $1 })
    let named = labels.sorted { $0.key < $1.key }.compactMap { label, temporary in
      ids[temporary].map { JSON.Member(label.text, .string($0.description)) }
    }
    members.append(.init("ids", .object(named)))
    if !saved.result.conflicts.isEmpty {
      let form = RefusalJSON(model: model)
      members.append(.init("conflicts", .array(saved.result.conflicts.map { form.json($0) })))
    }
    return .json(.created, .object(members))
  }

  private static func check(_ json: JSON, has names: [String], at path: [String]) throws(Problem) {
    guard let members = json.members else {
      throw .malformed("an object of JSON is expected here", pointer: JSON.pointer(path))
    }
    for member in members where !names.contains(where: { UTF8Comparison.equal($0, member.name) }) {
      throw .malformed(
        "there is no member \"\(member.name.excerpt)\" here; there are \(names.joined(separator: ", "))",
        pointer: JSON.pointer(path + [member.name]))
    }
  }

  private func entry(
    _ json: JSON, number: UInt64, _ path: [String], _ labels: inout [ByteKey: ObjectID]
  ) throws(Problem) -> Entry {
    func mistake(_ name: String, _ detail: String) -> Problem {
      .malformed(detail, pointer: JSON.pointer(path + [name]))
    }
    try Self.check(json, has: ["kind", "entity", "$id", "id", "values", "base", "ifRevision"], at: path)
    let kinds: [String: Change.Kind] = ["insert": .insert, "update": .update, "delete": .delete]
    guard let kind = json["kind"]?.stringValue.flatMap({ kinds[$0] }) else {
      throw mistake("kind", "kind must be insert, update or delete")
    }
    guard let name = json["entity"]?.stringValue,
      let entity = model.entities.first(where: { UTF8Comparison.equal($0.name, name) })
    else { throw mistake("entity", "entity must be the name of an entity of the model") }
    var id = ObjectID.temporary(number, entity: entity.number)
    if kind == .insert {
      guard !entity.isAbstract else { throw mistake("entity", model.abstractSentence(entity)) }
      guard json["id"] == nil else { throw mistake("id", "the server gives an inserted object its id") }
      if let label = json["$id"] {
        guard let text = label.stringValue, labels.updateValue(id, forKey: ByteKey(text)) == nil else {
          throw mistake("$id", "a label is a string that no other change of the transaction has")
        }
      }
    } else {
      guard let key = json["id"]?.stringValue.flatMap({ UniqueID($0) }) else {
        throw mistake("id", "id must be a complete id of \(UniqueID.textLength) characters")
      }
      guard json["$id"] == nil else { throw mistake("$id", "only an inserted object has a label") }
      id = ObjectID(key: key, entity: entity.number)
    }
    let values = json["values"]
    guard kind == .delete ? values == nil : values != nil else {
      throw mistake("values", "an insert and an update have values, a delete has none")
    }
    var numbers = [String: Revision]()
    for name in ["base", "ifRevision"] {
      guard let json = json[name] else { continue }
      guard kind != .insert, let revision = json.wholeValue, revision > 0 else {
        throw mistake(name, "\(name) must be the revision, from 1, at which an existing object was read")
      }
      numbers[name] = revision
    }
    var inputs = [BodyReader.Input]()
    if let values {
      inputs = try BodyReader(model: model).inputs(
        values, of: entity, at: path + ["values"], allowsMembers: kind == .update)
    }
    return Entry(
      kind: kind, entity: entity, id: id, inputs: inputs, base: numbers["base"], precondition: numbers["ifRevision"],
      path: path + ["values"])
  }

  /// The changes of the transaction. A change of a text is its difference from the text that the client read.
  private func changes(
    _ entries: [Entry], _ labels: [ByteKey: ObjectID], _ reader: GraphReader
  ) async throws -> [Change] {
    let head = try await reader.head()
    let body = BodyReader(model: model)
    var changes = [Change]()
    for entry in entries {
      if let named = [entry.base, entry.precondition].compactMap(\.self).max(), named > head {
        throw Problem.malformed(
          "there is no revision \(named) yet: the newest is \(head)",
          pointer: JSON.pointer(Array(entry.path.dropLast())))
      }
      var (read, now) = (ObjectImage?.none, ObjectImage?.none)
      if entry.kind == .update, entry.inputs.contains(where: { $0.property.attribute?.kind == .text }) {
        now = try await reader.image(entry.id).image
        read = now
        if let base = entry.base, let image = now, base < image.revision {
          read = try await reader.image(entry.id, at: base).image
        }
      }
      let base = entry.kind == .insert ? 0 : entry.base ?? entry.precondition ?? head
      changes.append(
        Change(
          entry.kind, entry.id, base: base,
          edits: try body.edits(entry.inputs, of: read, now: now, labels: labels, at: entry.path),
          onlyIf: entry.precondition.map { Precondition(revision: $0) }))
    }
    return changes
  }
}
