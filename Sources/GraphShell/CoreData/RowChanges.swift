import CoreDataStore
import GraphModel

/// Makes the changes of rows: inserts of new ones, and updates of rows whose values differ from the values that were
/// sent before.
struct RowChanges {
  typealias RowKey = StoreLayout.RowKey

  /// A row's part of a commit.
  struct Item {
    let key: RowKey
    let change: Change
    /// The record of the row in the mapping, once the commit has succeeded.
    let row: ImportMapping.Row
  }

  /// A reference that can't be made.
  struct LostReference {
    let key: RowKey
    let entity: String
    let property: String
    let reason: String
  }

  let model: Model
  let reader: SourceReader
  /// The members of the lists, by property and owner.
  let members: [PropertyNumber: [RowKey: [RowKey]]]
  /// The rows that are in the store.
  let existing: Set<RowKey>
  /// The rows that are not taken.
  private(set) var rejected = Set<RowKey>()
  /// The values that the daemon has refused.
  private var excluded = [RowKey: Set<PropertyNumber>]()
  /// New rows with references or lists that were left for later.
  private(set) var deferred = Set<RowKey>()

  init(
    model: Model, reader: SourceReader, members: [PropertyNumber: [RowKey: [RowKey]]], existing: Set<RowKey>
  ) {
    (self.model, self.reader, self.members, self.existing) = (model, reader, members, existing)
  }

  mutating func reject(_ key: RowKey) { rejected.insert(key) }

  /// Leaves a value out.
  /// - Returns: false if it was left out before.
  mutating func exclude(_ property: PropertyNumber, of key: RowKey) -> Bool {
    excluded[key, default: []].insert(property).inserted
  }

  func mappingKey(_ key: RowKey) -> ImportMapping.Key { ImportMapping.Key(root: reader.root(key), key: key.key) }

  // MARK: - Inserts

  /// The inserts of new rows, in order. References to rows that have no object yet are left for later.
  /// - Throws: `Refusal` if the store can't be read.
  mutating func inserts(_ keys: [RowKey], _ mapping: ImportMapping) throws -> [Item] {
    var rows = [SourceRow]()
    var temporary = [RowKey: ObjectID]()
    for key in keys {
      let row = try reader.row(key)
      temporary[key] = .temporary(UInt64(rows.count + 1), entity: row.entity.number)
      rows.append(row)
    }
    var items = [Item]()
    for (index, row) in rows.enumerated() {
      var record = ImportMapping.Row(entity: row.entity.name, version: row.version)
      var edits = [Edit]()
      for (property, content) in row.fields + requiredLists(of: row) where !isExcluded(property, row.key) {
        let resolved = resolve(content, property) { temporary[$0] ?? objectID(of: $0, mapping, property) }
        if !resolved.lost.isEmpty {
          deferred.insert(row.key)
          continue
        }
        // Null is the value of a row without one, unless the model has a default.
        if content.isEmpty, row.entity.initialValue(property).isNull || property.relationship != nil { continue }
        edits.append(Edit(property.number, .set(resolved.value)))
        record.sums[property.name] = sum(content, property)
      }
      if members.values.contains(where: { $0[row.key] != nil }) { deferred.insert(row.key) }
      let id = ObjectID.temporary(UInt64(index + 1), entity: row.entity.number)
      items.append(Item(key: row.key, change: Change(.insert, id, edits: edits), row: record))
    }
    return items
  }

  /// The lists that an object must have when it is inserted.
  private func requiredLists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    lists(of: row).filter { $0.property.requiresMember }
  }

  private func lists(of row: SourceRow) -> [(property: Property, content: SourceRow.Content)] {
    row.entity.relationships.compactMap { property in
      members[property.number].map { lists in (property, .members(lists[row.key, default: []])) }
    }
  }

  private func isExcluded(_ property: Property, _ key: RowKey) -> Bool {
    excluded[key].map { $0.contains(property.number) } == true
  }

  // MARK: - Updates

  /// The updates of rows that have an object.
  /// - Parameter lost: receives the references that can't be made.
  /// - Throws: `Refusal` if the store can't be read.
  func updates(
    _ keys: [RowKey], _ mapping: ImportMapping, lost: inout [LostReference]
  ) throws -> [Item] {
    var items = [Item]()
    for key in keys where !rejected.contains(key) {
      guard let known = mapping.rows[mappingKey(key)] else { continue }
      let row = try reader.row(key)
      var record = known.row
      record.version = row.version
      var edits = [Edit]()
      for (property, content) in row.fields + lists(of: row) where !isExcluded(property, key) {
        let resolved = resolve(content, property) { objectID(of: $0, mapping, property) }
        for target in resolved.lost {
          lost.append(
            LostReference(
              key: key, entity: row.entity.name, property: property.name, reason: reason(target)))
        }
        let sum = sum(resolved.found, property)
        guard sum != record.sums[property.name] else { continue }
        edits.append(Edit(property.number, .set(resolved.value)))
        record.sums[property.name] = sum
      }
      guard !edits.isEmpty else { continue }
      let id = ObjectID(key: known.id, entity: row.entity.number)
      items.append(
        Item(key: key, change: Change(.update, id, base: known.row.revision, edits: edits), row: record))
    }
    return items
  }

  /// Whether a row differs from the values that were sent for it.
  func differs(_ row: SourceRow, from sent: ImportMapping.Row) -> Bool {
    (row.fields + lists(of: row)).contains { sum($0.content, $0.property) != sent.sums[$0.property.name] }
  }

  private func reason(_ target: RowKey) -> String {
    existing.contains(target)
      ? "\(reader.name(target)) was not imported" : "there is no row \(reader.name(target))"
  }

  // MARK: - Values

  private func objectID(of key: RowKey, _ mapping: ImportMapping, _ property: Property) -> ObjectID? {
    guard !rejected.contains(key), existing.contains(key), let relationship = property.relationship else { return nil }
    return mapping.rows[mappingKey(key)].map { ObjectID(key: $0.id, entity: relationship.destination) }
  }

  /// The value of a content, and the part of it whose rows have objects.
  private func resolve(
    _ content: SourceRow.Content, _ property: Property, _ id: (RowKey) -> ObjectID?
  ) -> (value: Value, found: SourceRow.Content, lost: [RowKey]) {
    switch content {
    case .value(let value): return (value, content, [])
    case .reference(nil): return (.null, content, [])
    case .reference(let key?):
      guard let id = id(key) else { return (.null, .reference(nil), [key]) }
      return (.object(id), content, [])
    case .members(let keys):
      var (ids, found, lost) = ([ObjectID](), [RowKey](), [RowKey]())
      for key in keys {
        if let id = id(key) {
          ids.append(id)
          found.append(key)
        } else {
          lost.append(key)
        }
      }
      return (.objects(property.relationship?.isOrdered == true ? ids : ids.sorted()), .members(found), lost)
    }
  }

  /// The checksum of a content; nil for an empty one.
  func sum(_ content: SourceRow.Content, _ property: Property) -> UInt64? {
    if content.isEmpty { return nil }
    switch content {
    case .value(.data(let bytes)): return Checksum.of(bytes, seed: Checksum.of([1]))
    case .value(.string(let text)): return Checksum.of(Array(text.utf8), seed: Checksum.of([2]))
    case .value(let value): return Checksum.of(Array(value.json(kind: property.attribute?.kind).text.utf8))
    case .reference(let key?): return Checksum.of(Array(reader.name(key).utf8))
    case .reference(nil): return nil
    case .members(let keys):
      let keys = property.relationship?.isOrdered == true ? keys : keys.sorted()
      return Checksum.of(Array(keys.map(reader.name).joined(separator: ",").utf8))
    }
  }
}

extension Property {
  /// Whether a to-many has to have a member when its object is inserted.
  var requiresMember: Bool { relationship?.minimumCount.map { $0 > 0 } == true }
}
