extension Attribute {
  /// The source of a derived attribute's value.
  public struct Derivation: Hashable, Sendable {
    /// The text in the file: `staff.@count`, or an expression over the object's own attributes.
    public let text: String
    /// The counted to-many relationship; nil for an expression.
    public let counted: PropertyNumber?
    /// Whether the value is the key of the object's scope, and the text the path to the container.
    var isScope = false
  }

  /// Whether the rules compute the value. Edits of it are ignored, so it never conflicts and is never undone.
  public var isDerived: Bool { derivation != nil }
}

/// An attribute that counts the objects of a relationship.
struct DerivedCount: Sendable {
  let attribute: Property
  let relationship: Property
}

/// An attribute that is computed from other attributes of the same object.
struct DerivedExpression: Sendable {
  let attribute: Property
  /// The attributes that the expression reads.
  let sources: Set<PropertyNumber>
  let evaluator: ExpressionEvaluator
}

/// A stored relationship whose inverse is counted: its changes change the count at the other end.
struct CountedRelationship: Sendable {
  let stored: Property
  let counted: PropertyNumber
}

extension Model {
  /// The attributes of an entity that expressions compute, each with the attributes that it reads.
  public func derivedAttributes(
    of entity: EntityNumber
  ) -> [(attribute: PropertyNumber, sources: Set<PropertyNumber>)] {
    parts.expressions[entity, default: []].map { ($0.attribute.number, $0.sources) }
  }

  /// The correct value of a derived attribute; null if the attribute is not derived. A scope depends on other objects:
  /// its value is the stored one.
  /// - Parameter count: returns the number of objects in a to-many relationship of the object.
  public func derivedValue(
    of attribute: Property, in image: ObjectImage, count: (Property) throws -> Int
  ) rethrows -> Value {
    if attribute.isHidden { return image[attribute] }
    let entity = image.id.entity
    if let derived = parts.counts[entity]?.first(where: { $0.attribute.number == attribute.number }) {
      return .integer(Int64(try count(derived.relationship)))
    }
    let derived = parts.expressions[entity]?.first { $0.attribute.number == attribute.number }
    return (derived?.value(for: image)).orNull
  }
}

extension Model {
  /// The stored relationship whose objects a derived attribute counts. Nil if the object's own image is enough, as
  /// for an expression, or for a count of members that the object lists itself.
  public func countedEnd(of attribute: Property) -> Property? {
    guard let counted = attribute.attribute?.derivation?.counted.flatMap({ property($0) }), counted.slot == nil
    else { return nil }
    return counted.relationship.flatMap { property($0.inverse) }
  }

  /// The correct value of a derived attribute that depends on the object's image alone.
  public func derivedValue(of attribute: Property, in image: ObjectImage) -> Value {
    derivedValue(of: attribute, in: image) { image[$0].objectIDs.count }
  }
}

extension DerivedExpression {
  /// The computed value; null if it does not fit the attribute's type.
  func value(for image: ObjectImage) -> Value {
    (attribute.attribute?.checked(evaluator.value(of: image, in: NoImageSource()))).orNull
  }
}

// MARK: - Reading the model

extension ModelLinker {
  /// The relationship that the text counts; nil for an expression.
  private static func countedName(_ text: String) -> String? {
    guard text.hasSuffix(".@count") else { return nil }
    let name = String(text.dropLast(".@count".count))
    return JSONObjectReader.isName(name) ? name : nil
  }

  mutating func checkDerived(of entity: ModelDraft.Entity) {
    for attribute in entity.attributes where !attribute.isMember {
      guard let text = attribute.derived else { continue }
      for member in ["default", "assigned", "transient"] {
        guard let value = attribute.json[member], value != .null, value != .bool(false) else { continue }
        report("\(attribute.path).\(member)", "can't be combined with derived: the rules set the value")
      }
      guard let name = Self.countedName(text) else { continue }
      let path = attribute.path + ".derived"
      if attribute.kind != .integer { report(path, "a count needs the type integer") }
      if !lineage(of: entity).contains(where: { $0.relationships.contains { $0.name == name && $0.isToMany } }) {
        report(path, "\(entity.name) has no to-many relationship \"\(name)\"")
      }
    }
  }

  func derivation(
    of attribute: ModelDraft.Attribute, in entity: ModelDraft.Entity, _ numbers: [String: PropertyNumber]
  ) -> Attribute.Derivation? {
    guard let text = attribute.derived else { return nil }
    let owner = Self.countedName(text).flatMap { name in
      lineage(of: entity).first { $0.relationships.contains { $0.name == name } }.map { "\($0.name).\(name)" }
    }
    return Attribute.Derivation(text: text, counted: owner.flatMap { numbers[$0] })
  }
}

extension ModelExpressionCompiler {
  mutating func parseDerivations() {
    for (draft, entity) in entitiesFromTheRoots {
      let inherited = entity.parent.flatMap { parts.expressions[$0] } ?? []
      var counts = [DerivedCount]()
      var expressions = inherited
      for attribute in entity.attributes {
        guard let derivation = attribute.attribute?.derivation else { continue }
        if let relationship = derivation.counted.flatMap({ entity.property($0) }) {
          counts.append(DerivedCount(attribute: attribute, relationship: relationship))
        } else if attribute.owner == entity.number {
          let path = draft.attributes.first { $0.name == attribute.name }?.path ?? draft.path
          if let expression = expression(of: derivation.text, in: entity, path: path + ".derived"),
            canHold(expression, attribute, path: path + ".derived")
          {
            let sources = expression.paths.compactMap { path -> PropertyNumber? in
              if case .property(let number) = path.end { number } else { nil }
            }
            expressions.append(
              DerivedExpression(
                attribute: attribute, sources: Set(sources), evaluator: ExpressionEvaluator(expression, model: model)))
          }
        }
      }
      if !counts.isEmpty { parts.counts[entity.number] = counts }
      if !expressions.isEmpty { parts.expressions[entity.number] = expressions }
    }
    let counted = Set(parts.counts.values.joined().map(\.relationship.number))
    for entity in model.entities {
      let ends = entity.relationships.compactMap { property -> CountedRelationship? in
        guard property.slot != nil, let inverse = property.relationship?.inverse, counted.contains(inverse) else {
          return nil
        }
        return CountedRelationship(stored: property, counted: inverse)
      }
      if !ends.isEmpty { parts.countedEnds[entity.number] = ends }
    }
  }

  /// Reports an expression of another type, which would be null in every object.
  private mutating func canHold(_ expression: GraphExpression, _ property: Property, path: String) -> Bool {
    guard let attribute = property.attribute else { return false }
    let type = expression.type(in: model)
    let kinds: [Attribute.Kind] =
      switch type {
      case .integer: [.integer, .double]
      case .double: [.double]
      case .decimal: [.decimal]
      case .bool: [.bool]
      case .string: [.string, .text, .uri, .enumeration, .json]
      case .date: [.date]
      case .uuid: [.uuid]
      case .data: [.data]
      case .null, .duration, .object: []
      }
    guard kinds.contains(attribute.kind) else {
      report(path, "is \(type.words), but the attribute has the type \(attribute.typeDescription)")
      return false
    }
    return true
  }

  private mutating func expression(of text: String, in entity: Entity, path: String) -> GraphExpression? {
    do {
      let expression = try GraphExpression(parsing: text, entity: entity, model: model)
      guard !expression.paths.isEmpty else {
        report(path, "reads no attribute of the object")
        return nil
      }
      guard expression.bound(now: 0) == expression else {
        report(path, "uses now(), but the value only changes with the object: \"assigned\": \"updated\" has that time")
        return nil
      }
      for read in expression.paths {
        guard read.hops.isEmpty, case .property(let number) = read.end,
          let attribute = model.property(number)?.attribute, !attribute.isDerived
        else {
          report(
            path,
            "reads \(GraphExpression.path(read).text(in: model)); it may only read the object's own non-derived attributes, or be "
              + "RELATIONSHIP.@count")
          return nil
        }
      }
      return expression
    } catch {
      report(path, error.description)
      return nil
    }
  }
}
