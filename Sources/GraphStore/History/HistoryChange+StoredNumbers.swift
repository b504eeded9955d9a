// Tests: MigrationTests.swift, PastMigrationTests.swift
import GraphModel

/// Conversion between the store's numbers, used in history, and the present model's, used in memory.
///
/// Changes of an older model version are converted to the present one (`PastMigration`): renamed properties get their
/// new names, converted values their new form, added properties their defaults, and removed ones are left out.
extension HistoryChange {
  /// The change in its stored form.
  func stored(_ numbers: NumberAssignment) -> HistoryChange {
    if numbers.isPlain { return self }
    var change = self
    change.id = numbers.stored(id)
    change.values = values.map { numbers.stored($0) }
    change.edits = edits.map { edit in
      edit.mapped(numbers.stored(property: edit.property), { numbers.stored($0) }, { numbers.stored($0) })
    }
    change.spacing = spacing.map { numbers.stored(property: $0) }
    change.lastWrites = lastWrites?.mapped { numbers.stored(property: $0) }
    return change
  }

  /// The change in the form of the present model.
  /// - Parameter version: the version that it was written under; nil for the present one.
  func present(_ layout: StoreLayout, version: StoreVersion?) -> HistoryChange {
    if let version { return translated(layout, from: version) }
    let numbers = layout.numbers
    if numbers.isPlain { return self }
    var change = self
    change.id = numbers.present(id)
    change.spacing = spacing.map { numbers.present(property: $0) }.filter { layout.model.property($0) != nil }
    change.edits = edits.compactMap { edit in
      let number = numbers.present(property: edit.property)
      guard layout.model.property(number) != nil else { return nil }
      return edit.mapped(number, { numbers.present($0) }, { numbers.present($0) })
    }
    change.lastWrites = lastWrites?.mapped { numbers.present(property: $0) }
    change.values = values.map { numbers.present($0) }
    return change
  }

  private func translated(_ layout: StoreLayout, from version: StoreVersion) -> HistoryChange {
    let numbers = layout.numbers
    var change = self
    change.id = numbers.present(id)
    change.spacing = spacing.compactMap { layout.successor(of: $0, from: version)?.property.number }
    change.edits = edits.compactMap { edit in
      guard let successor = layout.successor(of: edit.property, from: version) else { return nil }
      return edit.mapped(
        successor.property.number, { layout.presentID($0) }, { layout.presentValue(successor.value($0)) })
    }
    change.lastWrites = lastWrites?.mapped { layout.successor(of: $0, from: version)?.property.number }
    if !values.isEmpty { change.values = layout.values(values, of: id, from: version).map { layout.presentValue($0) } }
    return change
  }
}

extension StoreLayout {
  /// Nil for an object whose entity was removed; then no present property can refer to it.
  fileprivate func presentID(_ id: ObjectID) -> ObjectID? {
    let id = numbers.present(id)
    return model.entity(id.entity) == nil ? nil : id
  }

  fileprivate func presentValue(_ value: Value) -> Value {
    switch value {
    case .object(let id): if let id = presentID(id) { .object(id) } else { .null }
    case .objects(let ids): .objects(ids.compactMap { presentID($0) })
    default: value
    }
  }
}

extension LastWriterIndex {
  /// The index with other numbers; without properties that have none.
  fileprivate func mapped(_ number: (PropertyNumber) -> PropertyNumber?) -> LastWriterIndex {
    LastWriterIndex(
      behind: behind,
      last: last.compactMap { write in
        number(write.property).map { LastWrite(property: $0, revision: write.revision) }
      })
  }
}

extension HistoryEdit {
  fileprivate func mapped(
    _ property: PropertyNumber, _ id: (ObjectID) -> ObjectID?, _ value: (Value) -> Value
  ) -> HistoryEdit {
    switch action {
    case .set(let old, let new): HistoryEdit(property: property, action: .set(old: value(old), new: value(new)))
    case .splice: HistoryEdit(property: property, action: action)
    case .members(let added, let removed):
      HistoryEdit(property: property, action: .members(added: added.compactMap(id), removed: removed.compactMap(id)))
    }
  }
}
