/// Translating ids, values, images and edits through a lens.
extension VersionLens {
  // MARK: - To the newer version

  func later(_ number: PropertyNumber) throws(Refusal) -> PropertyNumber {
    guard let property = later[number] else {
      throw Refusal(.malformed, "there is no property number \(number) in the model \(old.name) \(old.version)")
    }
    return property
  }

  /// - Parameter number: 0 where the caller does not know the entity.
  func later(entity number: EntityNumber) throws(Refusal) -> EntityNumber {
    if number == 0 { return 0 }
    guard let entity = entities[number] else {
      throw Refusal(.malformed, "there is no entity number \(number) in the model \(old.name) \(old.version)")
    }
    return entity
  }

  func later(_ id: ObjectID) throws(Refusal) -> ObjectID {
    ObjectID(key: id.key, entity: try later(entity: id.entity))
  }

  private func later(_ ids: [ObjectID]) throws(Refusal) -> [ObjectID] {
    var result = [ObjectID]()
    for id in ids { result.append(try later(id)) }
    return result
  }

  /// A value that belongs to no particular property; ids in it get the newer entity numbers.
  func later(_ value: Value) throws(Refusal) -> Value {
    switch value {
    case .object(let id): .object(try later(id))
    case .objects(let ids): .objects(try later(ids))
    default: value
    }
  }

  /// A value of the property with this number in the older version.
  func later(_ value: Value, of number: PropertyNumber) throws(Refusal) -> Value {
    guard case .whole? = forms[number], case .integer(let whole) = value else { return try later(value) }
    guard let property = later[number].flatMap({ new.property($0) }), let attribute = property.attribute else {
      return value
    }
    if attribute.kind == .decimal { return attribute.settled(value) }
    guard Int64(exactly: Double(whole)) == whole else {
      let name = old.property(number).map { "\(old.entity($0.owner)?.name ?? "").\($0.name)" } ?? ""
      throw Refusal(
        .invalid,
        "\(name) is a double in version \(new.version) of the model, which can't hold a whole number this large")
    }
    return .double(Double(whole))
  }

  func later(_ edit: Edit) throws(Refusal) -> Edit {
    let property = try later(edit.property)
    switch edit.action {
    case .set(let value): return Edit(property, .set(try later(value, of: edit.property)))
    case .splice(let splices): return Edit(property, .splice(splices))
    case .members(let added, let removed):
      return Edit(property, .members(added: try later(added), removed: try later(removed)))
    case .place(let objects, let anchor):
      var behind: ObjectID?
      if let anchor { behind = try later(anchor) }
      return Edit(property, .place(try later(objects), after: behind))
    }
  }

  func later(_ transaction: Transaction) throws(Refusal) -> Transaction {
    var result = transaction
    result.changes = []
    for change in transaction.changes {
      var edits = [Edit]()
      for edit in change.edits { edits.append(try later(edit)) }
      var condition = change.onlyIf
      if let read = change.onlyIf?.properties {
        var properties = [PropertyNumber]()
        for property in read { properties.append(try later(property)) }
        condition?.properties = properties
      }
      result.changes.append(
        Change(change.kind, try later(change.id), base: change.base, edits: edits, onlyIf: condition))
    }
    return result
  }

  // MARK: - To the older version

  /// Whether objects of the entity are visible.
  func shows(_ entity: EntityNumber) -> Bool { views[entity] != nil }

  /// The id with the older entity number; 0 if the older version has no such entity.
  func view(of id: ObjectID) -> ObjectID { ObjectID(key: id.key, entity: views[id.entity] ?? 0) }

  /// A value that belongs to no particular property.
  func view(of value: Value) -> Value {
    switch value {
    case .object(let id): .object(view(of: id))
    case .objects(let ids): .objects(ids.map { view(of: $0) })
    default: value
    }
  }

  /// A value of the property with this number in the newer version.
  func view(of value: Value, of number: PropertyNumber) -> Value {
    guard let before = earlier[number], let form = forms[before], let property = old.property(before) else {
      return view(of: value)
    }
    return view(of: value, property, form)
  }

  private func view(of value: Value, _ property: Property, _ form: ValueConversion) -> Value {
    switch form {
    case .same: return view(of: value)
    case .whole: return value.whole
    case .settled(let standIn):
      // Values that the older version allows stay, null included if it is optional there.
      if value.isNull { return property.isOptional ? .null : standIn }
      return property.attribute?.checked(value) ?? standIn
    }
  }

  /// The image in the older version; nil if the object is not visible.
  func view(of image: ObjectImage) -> ObjectImage? {
    guard let entity = views[image.id.entity], let slots = slots[entity] else { return nil }
    // Replies with ids only have no values.
    let values = image.values.isEmpty ? [] : slots.map { view(of: image[$0.new], $0.old, $0.form) }
    return ObjectImage(id: view(of: image.id), revision: image.revision, values: values)
  }

  /// The edit in the older version; nil if the property is not visible.
  /// - Parameter image: the object after the edit, in the newer version's slots.
  func view(of edit: Edit, in image: ObjectImage?) -> Edit? {
    guard let before = earlier[edit.property] else { return nil }
    switch edit.action {
    case .set(let value): return Edit(before, .set(view(of: value, of: edit.property)))
    case .splice(let splices):
      guard old.property(before)?.attribute?.kind != .text || isSettled(before), let image,
        let property = new.property(edit.property)
      else { return Edit(before, .splice(splices)) }
      // The older version has no character-wise merge here, so the text is replaced as a whole.
      return Edit(before, .set(view(of: image[property], of: edit.property)))
    case .members(let added, let removed):
      return Edit(before, .members(added: added.map { view(of: $0) }, removed: removed.map { view(of: $0) }))
    case .place(let objects, let anchor):
      return Edit(before, .place(objects.map { view(of: $0) }, after: anchor.map { view(of: $0) }))
    }
  }

  private func isSettled(_ number: PropertyNumber) -> Bool { if case .settled? = forms[number] { true } else { false } }
}

extension Value {
  /// The number without its fraction, clamped to 64 bits; any other value unchanged.
  fileprivate var whole: Value {
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
