import CoreDataStore
import GraphModel

/// The names of values in the mapping, after the app or the model has renamed properties.
extension RowChanges {
  /// The last sent state of a property, also under its earlier name; nil if none was sent.
  func known(_ property: Property, _ entity: Entity, _ sent: ImportMapping.Row) -> ImportMapping.Sent? {
    recorded(property, entity, sent)?.converted(for: property)
  }

  private func recorded(_ property: Property, _ entity: Entity, _ sent: ImportMapping.Row) -> ImportMapping.Sent? {
    if let recorded = sent.sent[property.name] {
      // The name may have belonged to a property that has another name now.
      let isOfOther = successors[property.name, default: []].contains { other in
        other.number != property.number && entity.property(other.number) != nil && sent.sent[other.name] == nil
      }
      return isOfOther ? nil : recorded
    }
    if successors.isEmpty { return nil }
    return reader.earlierNames(of: property).lazy.compactMap { sent.sent[$0] }.first
  }

  /// The record of a row before it is compared: with the present names of its properties, so that the next version can
  /// rename them again, and without references to some rows, whose objects were deleted. The graph still has the other
  /// members of a list.
  func recent(_ sent: ImportMapping.Row, _ row: SourceRow, without targets: Set<RowKey>) -> ImportMapping.Row {
    let isRenamed =
      sent.entity != row.entity.name || !successors.isEmpty && sent.sent.keys.contains { successors[$0] != nil }
    var record = isRenamed ? withPresentNames(sent, row.entity) : sent
    if targets.isEmpty { return record }
    for (property, content) in row.fields + lists(of: row) where content.rows.contains(where: targets.contains) {
      record.sent[property.name] = self.sent(content.without(targets), property)
    }
    return record
  }

  /// The record of a row with the present names of its properties. Names that none of them has or had stay.
  func withPresentNames(_ sent: ImportMapping.Row, _ entity: Entity) -> ImportMapping.Row {
    var record = sent
    record.entity = entity.name
    record.sent = sent.sent.filter { !isName($0.key, of: entity) }
    for property in entity.properties { record.sent[property.name] = known(property, entity, sent) }
    return record
  }

  /// Whether a property of an entity has or had a name.
  func isName(_ name: String, of entity: Entity) -> Bool { names[entity.number].map { $0.contains(name) } == true }

  func isUnsent(_ property: Property, _ record: ImportMapping.Row) -> Bool {
    !isAssigned(property) && record.sent[property.name] == nil
  }

  /// The names of a row's sent values that no property has or had, and the properties of which none was sent; one of
  /// these may have been renamed several times. Both are empty if one is.
  func unmatched(_ row: SourceRow, _ record: ImportMapping.Row) -> (names: [String], properties: [String]) {
    var names = [String]()
    for (name, sent) in record.sent where sent != .nothing && !isName(name, of: row.entity) {
      names.append(name)
    }
    if names.isEmpty { return ([], []) }
    let properties = (row.fields + lists(of: row)).map(\.property).filter { isUnsent($0, record) }
      .map { model.qualifiedName(of: $0) }
    return properties.isEmpty ? ([], []) : (names, properties)
  }
}
