// Tests: IntentFormTests.swift
import GraphModel
import GraphStore

/// Reads the JSON form of an intent in the names of a model, each part with its place for messages.
///
/// Names are those of the version in which the intent was written. In another version a name that is missing is looked
/// up among those that the version has renamed.
struct IntentReader {
  let model: Model
  /// Whether the intent was written in another version of the model.
  let isOfOtherVersion: Bool
  /// The number of the intent.
  let number: Int64

  /// An object of JSON with its place in the intent.
  struct Node {
    let json: JSON
    let place: String

    func failure(_ what: String) -> Refusal { Refusal(.malformed, "the unsent edit is not valid: \(place) \(what)") }

    /// The members, after a check that there are no others than these.
    func check(_ names: Set<String>) throws(Refusal) {
      guard let members = json.members else { throw failure("is not an object") }
      for member in members where !names.contains(member.name) {
        throw failure("has the unknown key \"\(member.name)\"")
      }
    }

    func optional(_ name: String) -> Node? {
      json[name].map { Node(json: $0, place: place.isEmpty ? name : "\(place).\(name)") }
    }

    func node(_ name: String) throws(Refusal) -> Node {
      guard let node = optional(name) else { throw failure("has no \(name)") }
      return node
    }

    func string(_ name: String) throws(Refusal) -> String {
      let node = try node(name)
      guard let text = node.json.stringValue else { throw node.failure("is not a string") }
      return text
    }

    func integer(_ name: String, atLeast least: Int64 = 0) throws(Refusal) -> Int64 {
      let node = try node(name)
      guard let number = node.json.integerValue, number >= least else {
        throw node.failure("is not a whole number of at least \(least)")
      }
      return number
    }

    func time(_ name: String) throws(Refusal) -> Timestamp {
      let node = try node(name)
      guard let time = node.json.stringValue.flatMap(RFC3339.timestamp) else {
        throw node.failure("is not a time in RFC 3339")
      }
      return time
    }

    func elements(_ name: String) throws(Refusal) -> [Node] {
      guard let list = optional(name) else { return [] }
      guard let elements = list.json.arrayValue else { throw list.failure("is not a list") }
      return elements.enumerated().map { Node(json: $1, place: "\(list.place)[\($0)]") }
    }
  }

  // MARK: - Names

  func entity(named name: String, _ node: Node) throws(Refusal) -> Entity {
    let renamed = model.entities.first { isOfOtherVersion && $0.renamed == name }
    guard let entity = model.entity(named: name) ?? renamed else {
      throw node.failure("names the entity \"\(name)\", which the model does not have")
    }
    return entity
  }

  func property(_ node: Node, of entity: EntityNumber) throws(Refusal) -> Property {
    let name = try node.string("property")
    guard let entity = model.entity(entity) else { throw node.failure("belongs to no entity") }
    let known = entity.allProperties
    let renamed = known.first { isOfOtherVersion && $0.renamed == name }
    guard let property = known.first(where: { $0.name == name }) ?? renamed else {
      throw node.failure("names the property \"\(entity.name).\(name)\", which the model does not have")
    }
    return property
  }

  /// `ENTITY/ID` or `ENTITY/new:NUMBER.PLACE`.
  func object(_ node: Node) throws(Refusal) -> ObjectID {
    guard let text = node.json.stringValue, let slash = text.firstIndex(of: "/") else {
      throw node.failure("is not an object, ENTITY/ID")
    }
    let entity = try entity(named: String(text[..<slash]), node)
    let name = text[text.index(after: slash)...]
    guard name.hasPrefix("new:") else {
      guard let key = UniqueID(String(name)), key.high > 0 else { throw node.failure("has no complete id") }
      return ObjectID(key: key, entity: entity.number)
    }
    let parts = name.dropFirst(4).split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
    guard parts.count == 2, let maker = parts[0], let place = parts[1], maker > 0, maker < 1 << 42, place > 0,
      place < Int64(ProvisionalID.maximumPlaces)
    else { throw node.failure("is not the name of a new object, new:NUMBER.PLACE") }
    if maker == number { return .temporary(UInt64(place), entity: entity.number) }
    return ProvisionalID.make(number: maker, place: UInt64(place), entity: entity.number)
  }

  func objects(_ name: String, of node: Node) throws(Refusal) -> [ObjectID] {
    var ids = [ObjectID]()
    for element in try node.elements(name) { ids.append(try object(element)) }
    return ids
  }

  // MARK: - Changes

  func change(
    _ node: Node, _ texts: inout [ObjectID: [PropertyNumber: String]]
  ) throws(Refusal) -> Change {
    try node.check(["kind", "object", "base", "edits", "onlyIf"])
    let kind: Change.Kind
    switch try node.string("kind") {
    case "insert": kind = .insert
    case "update": kind = .update
    case "delete": kind = .delete
    case let other: throw node.failure("has the unknown kind \"\(other)\"")
    }
    let id = try object(try node.node("object"))
    guard kind != .insert || id.isTemporary else { throw node.failure("inserts an object that another edit made") }
    var change = Change(kind, id, base: node.optional("base") == nil ? 0 : try node.integer("base", atLeast: 1))
    for element in try node.elements("edits") {
      let edit = try edit(element, of: id)
      if let before = element.optional("before") {
        guard let text = before.json.stringValue, case .splice = edit.action else {
          throw before.failure("is not the text that splices refer to")
        }
        texts[id, default: [:]][edit.property] = text
      }
      change.edits.append(edit)
    }
    guard kind != .delete || change.edits.isEmpty else { throw node.failure("is a delete with edits") }
    if let condition = node.optional("onlyIf") {
      try condition.check(["revision", "properties"])
      var properties = [PropertyNumber]()
      for name in try condition.elements("properties") {
        properties.append(
          try property(Node(json: .object([.init("property", name.json)]), place: name.place), of: id.entity).number)
      }
      change.onlyIf = Precondition(revision: try condition.integer("revision", atLeast: 1), properties: properties)
    }
    return change
  }

  private func edit(_ node: Node, of id: ObjectID) throws(Refusal) -> Edit {
    try node.check(["property", "set", "splices", "before", "add", "remove", "place", "after"])
    let property = try property(node, of: id.entity)
    let actions = [
      node.optional("set") != nil, node.optional("splices") != nil,
      node.optional("add") != nil || node.optional("remove") != nil, node.optional("place") != nil,
    ]
    guard actions.count(where: { $0 }) == 1 else { throw node.failure("needs exactly one action") }
    if let value = node.optional("set") { return Edit(property.number, .set(try self.value(value, of: property))) }
    if node.optional("splices") != nil {
      var splices = [TextSplice]()
      for element in try node.elements("splices") { splices.append(try splice(element)) }
      return Edit(property.number, .splice(splices))
    }
    if node.optional("place") != nil {
      let anchor = try node.node("after")
      return Edit(
        property.number,
        .place(try objects("place", of: node), after: anchor.json == .null ? nil : try object(anchor)))
    }
    return Edit(
      property.number, .members(added: try objects("add", of: node), removed: try objects("remove", of: node)))
  }

  private func splice(_ node: Node) throws(Refusal) -> TextSplice {
    try node.check(["offset", "length", "insertion", "continues"])
    return TextSplice(
      offset: Int(try node.integer("offset")), length: Int(try node.integer("length")),
      insertion: try node.string("insertion"), hasLeftAffinity: node.optional("continues")?.json.boolValue == true)
  }

  func value(_ node: Node, of property: Property) throws(Refusal) -> Value {
    if node.json == .null { return .null }
    switch property.kind {
    case .relationship(let relationship) where relationship.isToMany:
      guard let elements = node.json.arrayValue else { throw node.failure("is not a list of objects") }
      var ids = [ObjectID]()
      for (index, element) in elements.enumerated() {
        ids.append(try object(Node(json: element, place: "\(node.place)[\(index)]")))
      }
      return .objects(ids)
    case .relationship: return .object(try object(node))
    case .attribute(let attribute):
      guard let value = Value(json: node.json, kind: attribute.kind, cases: attribute.cases) else {
        throw node.failure("is not a value of \(property.name), which is \(attribute.kind.rawValue)")
      }
      return value
    }
  }
}
