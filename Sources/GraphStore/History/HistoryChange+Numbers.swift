import GraphModel

/// History speaks in the store's numbers, memory in the present model's. What an older version of the model wrote is read
/// into the form of the present one: a property that was renamed has its new name, one that was added since has its
/// default, and what is gone is left out.
extension HistoryChange {
  /// As it is written.
  func stored(_ numbers: StoredNumbers) -> HistoryChange {
    if numbers.isPlain { return self }
    var change = self
    change.id = numbers.stored(id)
    change.values = values.map { numbers.stored($0) }
    change.edits = edits.map { edit in
      edit.mapped(numbers.stored(property: edit.property), { numbers.stored($0) }, { numbers.stored($0) })
    }
    change.spacing = spacing.map { numbers.stored(property: $0) }
    change.marks?.last =
      marks?.last.map { PropertyMarks.Mark(property: numbers.stored(property: $0.property), revision: $0.revision) }
      ?? []
    return change
  }

  /// As the present model has it.
  /// - Parameter version: the one that it was written under; nil for the present one.
  func present(_ layout: StoreLayout, version: StoreVersion?) -> HistoryChange {
    let numbers = layout.numbers
    if numbers.isPlain, version == nil { return self }
    var change = self
    change.id = numbers.present(id)
    change.spacing = spacing.map { numbers.present(property: $0) }.filter { layout.model.property($0) != nil }
    change.edits = edits.compactMap { edit in
      let number = numbers.present(property: edit.property)
      guard let property = layout.model.property(number) else { return nil }
      return edit.mapped(number, { numbers.present($0) }) { property.widened(numbers.present($0)) }
    }
    change.marks?.last =
      marks?.last.map { PropertyMarks.Mark(property: numbers.present(property: $0.property), revision: $0.revision) }
      ?? []
    if !values.isEmpty {
      change.values = Self.values(values.map { numbers.present($0) }, of: change.id, stored: id, layout, version)
    }
    return change
  }

  /// The values of a deleted object in the present slots.
  private static func values(
    _ values: [Value], of id: ObjectID, stored: ObjectID, _ layout: StoreLayout, _ version: StoreVersion?
  ) -> [Value] {
    guard let version else { return values }
    guard let then = version.model.entity(version.numbers.present(entity: stored.entity)),
      let now = layout.model.entity(id.entity)
    else { return [] }
    var known = [PropertyNumber: Value]()
    for (property, value) in zip(then.storedProperties, values) {
      known[version.numbers.stored(property: property.number)] = value
    }
    return zip(now.storedProperties, now.initialValues).map { property, initial in
      let value = known[layout.numbers.stored(property: property.number)].map { property.widened($0) }
      // What must have a value by now got its default in the objects that were there; so does what comes back.
      if let value, !value.isNull || property.isOptional { return value }
      return initial
    }
  }
}

extension HistoryEdit {
  fileprivate func mapped(
    _ property: PropertyNumber, _ id: (ObjectID) -> ObjectID, _ value: (Value) -> Value
  ) -> HistoryEdit {
    switch action {
    case .set(let old, let new): HistoryEdit(property: property, action: .set(old: value(old), new: value(new)))
    case .splice: HistoryEdit(property: property, action: action)
    case .members(let added, let removed):
      HistoryEdit(property: property, action: .members(added: added.map(id), removed: removed.map(id)))
    }
  }
}
