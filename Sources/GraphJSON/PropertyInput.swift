import GraphModel

/// The name of an object in a command or in a line of a file.
package enum ObjectSpecifier: Hashable {
  /// An id or a prefix of one; in a file, also a label.
  case text(String)
  /// `{"$ref": label}`: only a label.
  case label(String)
}

/// An input that is not a valid value of a property, or not a property.
package struct InvalidInputError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// The new content of a property, before the objects that it names are looked up.
package struct PropertyInput {
  package enum Content: Hashable {
    case value(Value)
    /// The object of a to-one relationship to this entity; nil clears it.
    case reference(ObjectSpecifier?, to: EntityNumber)
    case members([ObjectSpecifier], of: EntityNumber)
  }

  package let property: Property
  package let content: Content

  /// Parses `name=value` or `name:=JSON`.
  package init(parsing word: String, entity: Entity) throws(InvalidInputError) {
    guard let equals = word.firstIndex(of: "=") else {
      throw InvalidInputError("\"\(word)\" is neither name=value nor name:=JSON")
    }
    let text = String(word[word.index(after: equals)...])
    let name = word[..<equals]
    guard name.hasSuffix(":") else {
      property = try Self.property(String(name), of: entity)
      content = try Self.content(text, property, entity)
      return
    }
    property = try Self.property(String(name.dropLast()), of: entity)
    let json: JSON
    do {
      json = try JSON(parsing: text)
    } catch {
      throw InvalidInputError("the value of \(property.name) is not JSON: \(error)")
    }
    content = try Self.content(json, property, entity)
  }

  /// Reads the value of a member of a JSON object.
  package init(_ property: Property, _ json: JSON, entity: Entity) throws(InvalidInputError) {
    self.property = property
    content = try Self.content(json, property, entity)
  }

  /// Reads the members of a JSON object.
  package static func inputs(_ json: JSON, entity: Entity) throws(InvalidInputError) -> [PropertyInput] {
    guard let members = json.members else { throw InvalidInputError("a JSON object is expected, {\"name\": value, …}") }
    return try all(members) { member throws(InvalidInputError) in
      try PropertyInput(property(member.name, of: entity), member.value, entity: entity)
    }
  }

  /// Makes the inputs of all sources.
  /// - Throws: one error with all mistakes.
  package static func all<Source>(
    _ sources: [Source], _ make: (Source) throws(InvalidInputError) -> PropertyInput
  ) throws(InvalidInputError) -> [PropertyInput] {
    var inputs = [PropertyInput]()
    var mistakes = [String]()
    for source in sources {
      do {
        inputs.append(try make(source))
      } catch {
        mistakes.append(error.description)
      }
    }
    guard mistakes.isEmpty else { throw InvalidInputError(mistakes.joined(separator: "\n  ")) }
    return inputs
  }

  /// The property with a name.
  /// - Throws: an error that suggests the nearest name.
  package static func property(_ name: String, of entity: Entity) throws(InvalidInputError) -> Property {
    if let property = entity.property(named: name) { return property }
    throw InvalidInputError(Suggestion.sentence(forProperty: name, of: entity))
  }

  // MARK: - Text

  private static func content(_ text: String, _ property: Property, _ entity: Entity) throws(InvalidInputError)
    -> Content
  {
    switch property.kind {
    case .relationship(let relationship) where relationship.isToMany:
      return .members(names(text), of: relationship.destination)
    case .relationship(let relationship):
      return .reference(text.isEmpty ? nil : .text(text), to: relationship.destination)
    case .attribute(let attribute):
      guard let value = value(text, attribute) else { throw mismatch(text, attribute, property, entity) }
      return .value(value)
    }
  }

  /// Splits a comma-separated list of ids.
  package static func names(_ text: String) -> [ObjectSpecifier] {
    text.split(separator: ",").map { .text(String($0)) }
  }

  /// Strings are taken literally; empty text is null for every other type.
  private static func value(_ text: String, _ attribute: Attribute) -> Value? {
    switch attribute.kind {
    case .string, .text: return .string(text)
    case _ where text.isEmpty: return .null
    case .integer: return Int64(text).map(Value.integer)
    case .double: return Double(decimal: text).map(Value.double)
    case .bool:
      switch text.lowercased() {
      case "true", "yes": return .bool(true)
      case "false", "no": return .bool(false)
      default: return nil
      }
    // Empty text is null already; the word `null` would be the document null.
    case .json:
      guard let document = try? JSON(parsing: text), document != .null else { return nil }
      return Value(json: document, kind: .json)
    default: return Value(json: .string(text), kind: attribute.kind, cases: attribute.cases)
    }
  }

  // MARK: - JSON

  private static func content(_ json: JSON, _ property: Property, _ entity: Entity) throws(InvalidInputError) -> Content
  {
    switch property.kind {
    case .relationship(let relationship) where relationship.isToMany:
      if json == .null { return .members([], of: relationship.destination) }
      guard let items = json.arrayValue else {
        throw InvalidInputError("\(entity.name).\(property.name) takes a list of objects, and not \(json.text.excerpt)")
      }
      var names = [ObjectSpecifier]()
      for item in items { names.append(try name(item, property, entity)) }
      return .members(names, of: relationship.destination)
    case .relationship(let relationship):
      return .reference(json == .null ? nil : try name(json, property, entity), to: relationship.destination)
    case .attribute(let attribute):
      guard let value = Value(json: json, kind: attribute.kind, cases: attribute.cases) else {
        throw mismatch(json.text, attribute, property, entity)
      }
      return .value(value)
    }
  }

  private static func name(_ json: JSON, _ property: Property, _ entity: Entity) throws(InvalidInputError)
    -> ObjectSpecifier
  {
    if let text = json.stringValue { return .text(text) }
    if let label = json["$ref"]?.stringValue, json.members?.count == 1 { return .label(label) }
    throw InvalidInputError(
      "\(entity.name).\(property.name) takes an object's id or {\"$ref\": label}, and not \(json.text.excerpt)")
  }

  // MARK: - Messages

  private static func mismatch(
    _ text: String, _ attribute: Attribute, _ property: Property, _ entity: Entity
  ) -> InvalidInputError {
    let suggestion = Suggestion.sentence(for: text, among: attribute.cases, otherwise: "")
    return InvalidInputError(
      "\(entity.name).\(property.name) takes \(form(attribute)), and not \(text.excerpt)\(suggestion)")
  }

  private static func form(_ attribute: Attribute) -> String {
    switch attribute.kind {
    case .bool: "true or false"
    case .integer: "a whole number of 64 bits"
    case .double: "a number"
    case .decimal: "a decimal of at most \(DecimalValue.maximumDigits) digits (in JSON a string, \"12.50\")"
    case .string, .text: "a string"
    case .date: "a date such as 2026-11-21T09:30:00Z or 2026-11-21"
    case .uuid: "a UUID such as 123e4567-e89b-12d3-a456-426614174000"
    case .data: "bytes in base 64"
    case .uri: "a URI such as https://example.org/"
    case .enumeration: "one of \(attribute.cases.joined(separator: ", "))"
    case .json: "JSON other than null, nested at most \(JSON.maximumDepth) levels deep"
    }
  }
}

extension PropertyInput {
  /// The edit for this input.
  /// - Parameters:
  ///   - image: for an update, the object as it was read. A text then changes only where it differs, so that
  ///     concurrent edits of others are kept.
  ///   - resolve: returns the id for the name of an object of an entity.
  package func edit(
    of image: ObjectImage? = nil, _ resolve: (ObjectSpecifier, EntityNumber) throws(InvalidInputError) -> ObjectID
  ) throws(InvalidInputError) -> Edit {
    switch content {
    case .value(.string(let new)) where property.attribute?.kind == .text:
      guard let image else { return Edit(property.number, .set(.string(new))) }
      // A null text counts as empty, so that the splices of two clients merge.
      let old = if let text = image[property].stringValue { text } else { "" }
      let splices = TextSplice.differences(from: old, to: new)
      // Equal texts still make an edit, without effect.
      return splices.isEmpty
        ? Edit.difference(of: property, from: .string(new), to: .string(new)) : Edit(property.number, .splice(splices))
    case .value(let value): return Edit(property.number, .set(value))
    case .reference(let name?, let destination):
      return Edit(property.number, .set(.object(try resolve(name, destination))))
    case .reference(nil, _): return Edit(property.number, .set(.null))
    case .members(let names, let destination):
      var (ids, known) = ([ObjectID](), Set<ObjectID>())
      for name in names {
        let id = try resolve(name, destination)
        if known.insert(id).inserted { ids.append(id) }
      }
      // Keeps the given order if the relationship is ordered.
      let isOrdered = property.relationship?.isOrdered == true
      return Edit(property.number, .set(.objects(isOrdered ? ids : ids.sorted())))
    }
  }

  /// The objects that the input names.
  package var names: [ObjectSpecifier] {
    switch content {
    case .value, .reference(nil, _): []
    case .reference(let name?, _): [name]
    case .members(let names, _): names
    }
  }
}
