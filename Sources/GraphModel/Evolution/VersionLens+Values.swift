/// Translating ids, values, images and edits through a lens.
extension VersionLens {
  // MARK: - To the newer version

  func upgraded(_ number: PropertyNumber) throws(Refusal) -> PropertyNumber {
    guard let property = upgradedProperties[number] else {
      throw Refusal(.malformed, "there is no property number \(number) in the model \(old.name) \(old.version)")
    }
    return property
  }

  /// - Parameter number: 0 where the caller does not know the entity.
  func upgraded(entity number: EntityNumber) throws(Refusal) -> EntityNumber {
    if number == 0 { return 0 }
    guard let entity = upgradedEntities[number] else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(old.name) \(old.version)")
    }
    return entity
  }

  func upgraded(_ id: ObjectID) throws(Refusal) -> ObjectID {
    ObjectID(key: id.key, entity: try upgraded(entity: id.entity))
  }

  private func upgraded(_ ids: [ObjectID]) throws(Refusal) -> [ObjectID] {
    var result = [ObjectID]()
    for id in ids { result.append(try upgraded(id)) }
    return result
  }

  /// A value that belongs to no particular property; ids in it get the newer entity numbers.
  func upgraded(_ value: Value) throws(Refusal) -> Value {
    switch value {
    case .object(let id): .object(try upgraded(id))
    case .objects(let ids): .objects(try upgraded(ids))
    default: value
    }
  }

  /// A value of the property with this number in the older version.
  func upgraded(_ value: Value, of number: PropertyNumber) throws(Refusal) -> Value {
    guard case .truncated? = conversions[number], case .integer(let whole) = value else { return try upgraded(value) }
    guard let before = old.property(number), let after = upgradedProperties[number].flatMap({ new.property($0) }),
      let attribute = after.attribute
    else { preconditionFailure("a converted property is an attribute of both versions") }
    if attribute.kind == .decimal { return attribute.converted(value) }
    guard Int64(exactly: Double(whole)) == whole else {
      throw Refusal(
        .invalid,
        "\(old.qualifiedName(of: before)) is a double in version \(new.version) of the model, which can't hold a whole "
          + "number this large")
    }
    return .double(Double(whole))
  }

  func upgraded(_ edit: Edit) throws(Refusal) -> Edit {
    let property = try upgraded(edit.property)
    switch edit.action {
    case .set(let value): return Edit(property, .set(try upgraded(value, of: edit.property)))
    case .splice(let splices): return Edit(property, .splice(splices))
    case .members(let added, let removed):
      return Edit(property, .members(added: try upgraded(added), removed: try upgraded(removed)))
    case .place(let objects, let anchor):
      var behind: ObjectID?
      if let anchor { behind = try upgraded(anchor) }
      return Edit(property, .place(try upgraded(objects), after: behind))
    }
  }

  func upgraded(_ transaction: Transaction) throws(Refusal) -> Transaction {
    var result = transaction
    result.changes = []
    for change in transaction.changes {
      var edits = [Edit]()
      for edit in change.edits { edits.append(try upgraded(edit)) }
      var condition = change.onlyIf
      if var precondition = change.onlyIf {
        var properties = [PropertyNumber]()
        for property in precondition.properties { properties.append(try upgraded(property)) }
        precondition.properties = properties
        condition = precondition
      }
      result.changes.append(
        Change(change.kind, try upgraded(change.id), base: change.base, edits: edits, onlyIf: condition))
    }
    return result
  }

  // MARK: - To the older version

  /// Whether objects of the entity are visible.
  func isVisible(_ entity: EntityNumber) -> Bool { downgradedEntities[entity] != nil }

  /// The id with the older entity number; 0 if the older version has no such entity.
  func downgraded(_ id: ObjectID) -> ObjectID {
    ObjectID(key: id.key, entity: downgradedEntities[id.entity, default: 0])
  }

  /// A value that belongs to no particular property.
  func downgraded(_ value: Value) -> Value {
    switch value {
    case .object(let id): .object(downgraded(id))
    case .objects(let ids): .objects(ids.map { downgraded($0) })
    default: value
    }
  }

  /// A value of the property with this number in the newer version.
  func downgraded(_ value: Value, of number: PropertyNumber) -> Value {
    guard let before = downgradedProperties[number], let form = conversions[before], let property = old.property(before)
    else {
      return downgraded(value)
    }
    return downgraded(value, property, form)
  }

  private func downgraded(_ value: Value, _ property: Property, _ form: ValueConversion) -> Value {
    switch form {
    case .same: return downgraded(value)
    case .truncated: return value.truncated
    case .fallback(let standIn):
      // Values that the older version allows stay, null included if it is optional there.
      if value.isNull { return property.isOptional ? .null : standIn }
      return property.attribute?.checked(value) ?? standIn
    }
  }

  /// The image in the older version; nil if the object is not visible.
  func downgraded(_ image: ObjectImage) -> ObjectImage? {
    guard let entity = downgradedEntities[image.id.entity], let slots = slots[entity] else { return nil }
    // Replies with ids only have no values.
    let values = image.values.isEmpty ? [] : slots.map { downgraded(image[$0.new], $0.old, $0.conversion) }
    return ObjectImage(id: downgraded(image.id), revision: image.revision, values: values)
  }

  /// The edit in the older version; nil if the property is not visible.
  /// - Parameter image: the object after the edit, in the newer version's slots.
  func downgraded(_ edit: Edit, in image: ObjectImage?) -> Edit? {
    guard let before = downgradedProperties[edit.property] else { return nil }
    switch edit.action {
    case .set(let value): return Edit(before, .set(downgraded(value, of: edit.property)))
    case .splice(let splices):
      guard old.property(before)?.attribute?.kind != .text || hasFallback(before), let image,
        let property = new.property(edit.property)
      else { return Edit(before, .splice(splices)) }
      // The older version has no character-wise merge here, so the text is replaced as a whole.
      return Edit(before, .set(downgraded(image[property], of: edit.property)))
    case .members(let added, let removed):
      return Edit(before, .members(added: added.map { downgraded($0) }, removed: removed.map { downgraded($0) }))
    case .place(let objects, let anchor):
      return Edit(before, .place(objects.map { downgraded($0) }, after: anchor.map { downgraded($0) }))
    }
  }

  private func hasFallback(_ number: PropertyNumber) -> Bool {
    if case .fallback? = conversions[number] { true } else { false }
  }
}

extension Value {
  /// The number without its fraction, clamped to 64 bits; any other value unchanged.
  fileprivate var truncated: Value {
    switch self {
    case .double(let number):
      let cut = number.rounded(.towardZero)
      return .integer(Int64(exactly: cut) ?? (cut < 0 ? .min : .max))
    case .decimal(let number):
      var result: Int64 = 0
      for place in 0..<max(0, number.exponent) {
        let digit = Int64(place < number.digits.count ? number.digits[place] : 0)
        let (tens, isTooLarge) = result.multipliedReportingOverflow(by: 10)
        // `Int64.min` has no positive counterpart, so a negative number is accumulated downward.
        let (sum, isTooFar) =
          number.isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
        if isTooLarge || isTooFar { return .integer(number.isNegative ? .min : .max) }
        result = sum
      }
      return .integer(result)
    default: return self
    }
  }
}
