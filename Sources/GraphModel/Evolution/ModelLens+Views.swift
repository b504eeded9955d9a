/// Translating replies and deltas into the older version, for its clients.
extension ModelLens {
  // MARK: - Objects

  /// Whether objects of the newer version's entity are visible.
  public func isVisible(_ entity: EntityNumber) -> Bool {
    var entity: EntityNumber? = entity
    for step in steps.reversed() { entity = entity.flatMap { step.downgradedEntities[$0] } }
    return entity != nil
  }

  /// The older number of a property; nil if the older version does not have it.
  public func downgraded(property number: PropertyNumber) -> PropertyNumber? {
    var number: PropertyNumber? = number
    for step in steps.reversed() { number = number.flatMap { step.downgradedProperties[$0] } }
    return number
  }

  /// The id with the older number of its entity, which is 0 if the object is not visible.
  public func downgraded(_ id: ObjectID) -> ObjectID { steps.reversed().reduce(id) { $1.downgraded($0) } }

  /// A value that belongs to no particular property.
  public func downgraded(_ value: Value) -> Value { steps.reversed().reduce(value) { $1.downgraded($0) } }

  /// A value of the property with this number in the newer version.
  public func downgraded(_ value: Value, of property: PropertyNumber) -> Value {
    var (value, property) = (value, property)
    for step in steps.reversed() {
      value = step.downgraded(value, of: property)
      property = step.downgradedProperties[property, default: 0]
    }
    return value
  }

  /// The image in the older version; nil if the object is not visible.
  public func downgraded(_ image: ObjectImage) -> ObjectImage? {
    var image: ObjectImage? = image
    for step in steps.reversed() { image = image.flatMap { step.downgraded($0) } }
    return image
  }

  /// The visible edits of one object.
  /// - Parameter image: the object after the edits, in the newer version's slots.
  public func downgraded(_ edits: [Edit], in image: ObjectImage?) -> [Edit] {
    var (edits, image) = (edits, image)
    for step in steps.reversed() {
      edits = edits.compactMap { step.downgraded($0, in: image) }
      image = image.flatMap { step.downgraded($0) }
    }
    return edits
  }

  /// The visible part of a commit's change to a live query; nil if nothing is visible.
  public func downgraded(_ change: LiveQueryChange) -> LiveQueryChange? {
    switch change {
    case .inserted(let image): return downgraded(image).map { .inserted($0) }
    case .removed(let image, let deleted): return downgraded(image).map { .removed($0, deleted: deleted) }
    case .updated(let image, let edits, let previous):
      let seen = downgraded(edits, in: image)
      guard !seen.isEmpty, let view = downgraded(image) else { return nil }
      return .updated(view, edits: seen, previous: previous)
    }
  }

  // MARK: - Outcomes

  /// The older number of a property in an outcome; 0, the object as a whole, if the older version lacks the property.
  private func reported(_ number: PropertyNumber) -> PropertyNumber {
    if let older = downgraded(property: number) { older } else { 0 }
  }

  /// The conflict with older numbers; the property is 0 if it is not visible.
  public func downgraded(_ conflict: Conflict) -> Conflict {
    var result = conflict
    result.id = downgraded(conflict.id)
    result.property = reported(conflict.property)
    result.mine = downgraded(conflict.mine, of: conflict.property)
    result.theirs = downgraded(conflict.theirs, of: conflict.property)
    return result
  }

  /// The refusal, with messages in the older version's names.
  public func downgraded(_ refusal: Refusal) -> Refusal {
    func properties(_ violation: Violation) -> [PropertyNumber] {
      [violation.property] + violation.others.map(\.property)
    }
    var result = refusal
    result.message = translatedMessage(refusal.message, about: refusal.violations.flatMap(properties))
    result.conflicts = refusal.conflicts.map { downgraded($0) }
    result.violations = refusal.violations.map { violation in
      Violation(
        id: downgraded(violation.id), property: reported(violation.property), rule: violation.rule,
        value: downgraded(violation.value),
        others: violation.others.compactMap { part in
          downgraded(property: part.property).map {
            Violation.KeyPart($0, downgraded(part.value, of: part.property))
          }
        }, message: translatedMessage(violation.message, about: properties(violation)))
    }
    return result
  }

  /// The origin of a property's value.
  public func downgraded(_ origin: ValueOrigin, of property: PropertyNumber) -> ValueOrigin {
    var result = origin
    result.value = downgraded(origin.value, of: property)
    result.replaced = downgraded(origin.replaced, of: property)
    result.overwrittenValues = origin.overwrittenValues.map { overwritten in
      ValueOrigin.OverwrittenValue(
        value: downgraded(overwritten.value, of: property), revision: overwritten.revision, time: overwritten.time,
        author: overwritten.author)
    }
    return result
  }

  /// The visible difference; nil if there is none.
  public func downgraded(_ difference: ObjectDifference) -> ObjectDifference? {
    guard let object = downgraded(difference.object) else { return nil }
    let properties = difference.properties.compactMap { property -> ObjectDifference.Property? in
      guard let number = downgraded(property: property.number) else { return nil }
      let was = downgraded(property.was, of: property.number)
      // Values can differ in the newer version only.
      if let seen = old.property(number), object[seen] == was { return nil }
      return ObjectDifference.Property(number, was: was)
    }
    if difference.kind == .updated, properties.isEmpty { return nil }
    return ObjectDifference(kind: difference.kind, object: object, properties: properties)
  }

  // MARK: - Words

  /// Replaces the newer version's names in a message by the older ones. A qualified name like `Person.phone` is
  /// always replaced, a lone property name only if it belongs to one of `properties`.
  private func translatedMessage(_ text: String, about properties: [PropertyNumber]) -> String {
    var names = [String: String]()
    for entity in new.entities {
      let before = downgraded(entity: entity.number)
      if let before, before.name != entity.name { names[entity.name] = before.name }
      for property in entity.allProperties {
        guard let earlier = downgraded(property: property.number).flatMap({ old.property($0) }) else { continue }
        names["\(entity.name).\(property.name)"] = "\(before?.name ?? entity.name).\(earlier.name)"
        if properties.contains(property.number) { names[property.name] = earlier.name }
      }
    }
    // A sentence may end after a name.
    func renamed(_ word: String) -> String {
      let name = word.hasSuffix(".") ? String(word.dropLast()) : word
      return names[name].map { $0 + word.dropFirst(name.count) } ?? word
    }
    var (result, word) = ("", "")
    for character in text {
      if character.isLetter || character.isNumber || character == "_" || character == "." {
        word.append(character)
      } else {
        result += renamed(word)
        result.append(character)
        word = ""
      }
    }
    return result + renamed(word)
  }

  private func downgraded(entity number: EntityNumber) -> Entity? {
    old.entity(downgraded(ObjectID(key: .zero, entity: number)).entity)
  }
}
