// Tests: IntentFormTests.swift
import GraphModel
import GraphStore

/// Reading intents.
extension IntentForm {
  private static let keys: Set<String> = [
    "format", "number", "transaction", "model", "author", "made", "policy", "undo", "changes", "undoes", "state",
    "left", "parked",
  ]

  /// The intent of a text.
  /// - Throws: `Refusal(.malformed)` that says what is wrong and where.
  package func intent(parsing text: String) throws(Refusal) -> Intent {
    do {
      return try intent(try JSON(parsingEnvelope: text.utf8))
    } catch let refusal as Refusal {
      throw refusal
    } catch {
      throw Refusal(.malformed, "the unsent edit is not JSON: \(error)")
    }
  }

  /// The intent of a JSON object.
  /// - Throws: `Refusal(.malformed)` that says what is wrong and where.
  package func intent(_ json: JSON) throws(Refusal) -> Intent {
    let root = IntentReader.Node(json: json, place: "")
    let format = try root.integer("format", atLeast: 1)
    guard format <= Self.version else {
      throw Refusal(
        .malformed, "the unsent edit has format \(format), which this program does not know: use a newer version of it")
    }
    try root.check(Self.keys)
    let version = try self.version(root)
    let reader = IntentReader(
      model: model, isOfOtherVersion: version.hash != modelHash,
      number: try root.integer("number", atLeast: 1))
    var texts = [ObjectID: [PropertyNumber: String]]()
    var changes = [Change]()
    for node in try root.elements("changes") { changes.append(try reader.change(node, &texts)) }
    var intent = Intent(
      number: reader.number, transaction: try transaction(root), model: model, author: try root.string("author"),
      made: try root.time("made"), policy: try policy(root), undo: try undo(root), content: .changes(changes))
    intent.model = version
    intent.texts = texts
    if let step = root.optional("undoes") {
      try step.check(["revision", "redo", "edit"])
      guard changes.isEmpty else { throw root.failure("has both changes and undoes") }
      if step.optional("edit") != nil {
        let number = try step.integer("edit", atLeast: 1)
        guard number < intent.number, step.optional("revision") == nil else {
          throw step.failure("needs either an earlier edit or a revision")
        }
        intent.content = .undoEdit(number)
      } else {
        intent.content = .undo(
          revision: try step.integer("revision", atLeast: 1), redo: step.optional("redo")?.json.boolValue == true)
      }
    } else if changes.isEmpty {
      throw root.failure("has no changes")
    }
    intent.state = try state(root, reader)
    return intent
  }

  private func version(_ root: IntentReader.Node) throws(Refusal) -> IntentModel {
    let node = try root.node("model")
    try node.check(["name", "version", "hash"])
    return IntentModel(
      name: try node.string("name"), version: try node.integer("version"), hash: try node.string("hash"))
  }

  private func transaction(_ root: IntentReader.Node) throws(Refusal) -> TransactionID {
    let node = try root.node("transaction")
    try node.check(["replica", "sequence"])
    guard let replica = UniqueID(try node.string("replica")) else { throw node.failure("has no complete replica id") }
    return TransactionID(replica: replica, sequence: UInt64(try node.integer("sequence", atLeast: 1)))
  }

  private func policy(_ root: IntentReader.Node) throws(Refusal) -> MergePolicy {
    let name = try root.string("policy")
    guard let policy = MergePolicy.allCases.first(where: { Self.name(of: $0) == name }) else {
      throw root.failure("has the unknown policy \"\(name)\"")
    }
    return policy
  }

  private func undo(_ root: IntentReader.Node) throws(Refusal) -> UndoGroup? {
    guard let node = root.optional("undo") else { return nil }
    try node.check(["scope", "group", "name"])
    guard let scope = UniqueID(try node.string("scope")) else { throw node.failure("has no complete scope") }
    guard let group = try node.node("group").json.integerValue else { throw node.failure("has no group number") }
    return UndoGroup(scope: scope, group: UInt64(bitPattern: group), name: try node.string("name"))
  }

  // MARK: - State

  private func state(_ root: IntentReader.Node, _ reader: IntentReader) throws(Refusal) -> Intent.State {
    let left = root.optional("left") == nil ? nil : try root.time("left")
    switch (try root.string("state"), left) {
    case ("queued", nil): return .queued
    case ("left", let time?): return .left(time)
    case ("parked", _):
      let node = try root.node("parked")
      try node.check(["code", "message", "at", "conflicts", "violations", "texts", "waitsFor"])
      var parking = Parking(
        code: try node.string("code"), message: try node.string("message"), at: try node.time("at"), left: left)
      if node.optional("waitsFor") != nil { parking.waitsFor = try node.integer("waitsFor", atLeast: 1) }
      for element in try node.elements("conflicts") { parking.conflicts.append(try conflict(element, reader)) }
      for element in try node.elements("violations") { parking.violations.append(try violation(element, reader)) }
      for element in try node.elements("texts") {
        try element.check(["object", "property", "text"])
        let id = try reader.object(try element.node("object"))
        let property = try reader.property(element, of: id.entity)
        parking.texts[id, default: [:]][property.number] = try element.string("text")
      }
      return .parked(parking)
    case (let name, _): throw root.failure("has the state \"\(name)\" with or without left, which do not fit together")
    }
  }

  private func conflict(_ node: IntentReader.Node, _ reader: IntentReader) throws(Refusal) -> Conflict {
    try node.check(["kind", "object", "property", "mine", "theirs", "author", "revision"])
    let kind: Conflict.Kind
    switch try node.string("kind") {
    case "changed": kind = .changed
    case "deleted": kind = .deleted
    case "unique": kind = .unique
    case let other: throw node.failure("has the unknown kind \"\(other)\"")
    }
    let id = try reader.object(try node.node("object"))
    var conflict = Conflict(
      kind: kind, id: id, author: try node.string("author"), revision: try node.integer("revision"))
    if node.optional("property") != nil {
      let property = try reader.property(node, of: id.entity)
      conflict.property = property.number
      conflict.mine = try reader.value(try node.node("mine"), of: property)
      conflict.theirs = try reader.value(try node.node("theirs"), of: property)
    }
    return conflict
  }

  private func violation(_ node: IntentReader.Node, _ reader: IntentReader) throws(Refusal) -> Violation {
    try node.check(["object", "property", "rule", "value", "message"])
    let id = try reader.object(try node.node("object"))
    var violation = Violation(id: id, rule: try node.string("rule"), message: try node.string("message"))
    if node.optional("property") != nil {
      let property = try reader.property(node, of: id.entity)
      violation.property = property.number
      // The value of a broken rule need not be a value of the property: a denied delete lists objects.
      if let value = try? reader.value(try node.node("value"), of: property) { violation.value = value }
    }
    return violation
  }
}
