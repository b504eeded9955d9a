import CoreDataStore
import GraphModel

/// Makes the changes of rows: inserts of new ones, and updates of rows whose values differ from the values that were
/// sent before.
struct RowChanges {
  typealias RowKey = StoreLayout.RowKey

  /// A row's part of a commit.
  struct Item {
    let key: RowKey
    var change: Change
    /// The record of the row in the mapping, once the commit has succeeded.
    let row: ImportMapping.Row
  }

  /// A reference that can't be made.
  struct LostReference {
    let key: RowKey
    let entity: String
    let property: String
    let reason: String
    /// Whether the object keeps its earlier value, because it requires one.
    let isKept: Bool
  }

  let model: Model
  let reader: SourceReader
  /// The names of root entities in the mapping's keys, where they differ from those in the store.
  var roots: [String: String]
  /// The members of the lists, by property and owner.
  let members: [PropertyNumber: [RowKey: [RowKey]]]
  /// The other ends of relationships that objects must have when they are inserted, and that the store has at these
  /// ends only: by the property of the object, and its row.
  private(set) var owners: [PropertyNumber: [RowKey: [RowKey]]]
  /// The rows that are in the store.
  let existing: Set<RowKey>
  /// The rows with an owner in the lists whose members have one owner each, by the property of the lists.
  let owned: [PropertyNumber: Set<RowKey>]
  /// The entities by name.
  private let entities: [String: Entity]
  /// The names of the properties of each entity, with those of earlier versions.
  let names: [EntityNumber: Set<String>]
  /// The properties that had other names in earlier versions, by these names.
  let successors: [String: [Property]]
  /// The rows that are not taken. Those with an object from an earlier import keep it.
  private(set) var rejected = Set<RowKey>()
  /// The rows whose objects were deleted in the graph, and are not imported again.
  private(set) var absent = Set<RowKey>()
  /// The rows that wait until others have released their unique keys, and those that refer to such a new row.
  private(set) var postponed = Set<RowKey>()
  /// Whether a row that refers to a waiting one is updated without this reference, and does not wait as a whole.
  var isPartial = false
  /// The values that the daemon has refused.
  private var excluded = [RowKey: Set<PropertyNumber>]()
  /// The lists of new rows that are sent in an update, because the daemon has refused an insert with them.
  private(set) var separated = [RowKey: Set<PropertyNumber>]()
  /// New rows with references or lists that were left for later.
  private(set) var deferred = Set<RowKey>()
  /// The rows that new rows refer to and that had no object, by property.
  private var unresolved = [RowKey: [PropertyNumber: RowKey]]()

  init(
    model: Model, reader: SourceReader, roots: [String: String], members: [PropertyNumber: [RowKey: [RowKey]]],
    existing: Set<RowKey>
  ) {
    (self.model, self.reader, self.roots) = (model, reader, roots)
    (self.members, self.existing) = (members, existing)
    owners = Self.owners(in: members, model)
    owned = Self.owned(in: members, existing, model)
    entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    var names = [EntityNumber: Set<String>]()
    var successors = [String: [Property]]()
    for entity in model.entities {
      for property in entity.properties {
        let earlier = reader.earlierNames(of: property)
        names[entity.number, default: []].formUnion(earlier + [property.name])
        if property.owner != entity.number { continue }
        for name in earlier { successors[name, default: []].append(property) }
      }
    }
    (self.names, self.successors) = (names, successors)
  }

  /// Adds members that refer to owners which must have members: by the property of the owner, and its row.
  mutating func addReferrers(_ referrers: [PropertyNumber: [RowKey: [RowKey]]]) {
    owners.merge(referrers) { known, _ in known }
  }

  mutating func reject(_ key: RowKey) { rejected.insert(key) }

  /// Leaves out references to rows whose objects the graph no longer has.
  /// - Returns: whether one of them was not left out before.
  mutating func leaveOut(_ rows: [RowKey]) -> Bool {
    let count = absent.count
    absent.formUnion(rows)
    return absent.count > count
  }

  mutating func postpone(_ key: RowKey) { postponed.insert(key) }

  /// The rows that have waited; they can be sent again.
  mutating func takePostponed() -> Set<RowKey> {
    defer { postponed = [] }
    return postponed
  }

  /// Leaves a value out.
  /// - Returns: false if it was left out before.
  mutating func exclude(_ property: PropertyNumber, of key: RowKey) -> Bool {
    excluded[key, default: []].insert(property).inserted
  }

  /// Leaves a list of a new row for an update, which can be refused without the row.
  /// - Returns: false if it was left before, or the row is not possible without it.
  mutating func separate(_ property: Property, of key: RowKey) -> Bool {
    guard property.relationship?.isToMany == true, !property.requiresMember else { return false }
    return separated[key, default: []].insert(property.number).inserted
  }

  func mappingKey(_ key: RowKey) -> ImportMapping.Key {
    let root = reader.root(key)
    return ImportMapping.Key(root: roots[root, default: root], key: key.key)
  }

  /// The key of a row of the mapping in the store; nil if the store no longer has its entity.
  func rowKey(_ key: ImportMapping.Key) -> RowKey? {
    let root = reader.roots.first { roots[$0, default: $0] == key.root }
    return root.flatMap { reader.key(root: $0, key: key.key) }
  }

  /// The identity of a row in messages.
  func reportKey(_ key: RowKey) -> ImportMapping.Key { ImportMapping.Key(root: reader.root(key), key: key.key) }

  /// Why a required reference of a new row is missing; nil if another reason is the cause.
  func cause(_ property: Property, _ key: RowKey) -> String? {
    unresolved[key].flatMap { $0[property.number] }.map { reason($0, property) }
  }

  // MARK: - Inserts

  /// The inserts of new rows, in order. References to rows that have no object yet are left for later.
  /// - Throws: `Refusal` if the store can't be read.
  mutating func inserts(_ keys: [RowKey], _ mapping: ImportMapping) throws -> [Item] {
    var rows = [SourceRow]()
    for key in keys { rows.append(try reader.row(key)) }
    removePostponed(&rows, mapping)
    var temporary = [RowKey: ObjectID]()
    for (index, row) in rows.enumerated() {
      temporary[row.key] = .temporary(UInt64(index + 1), entity: row.entity.number)
    }
    var items = [Item]()
    for (index, row) in rows.enumerated() {
      var record = ImportMapping.Row(entity: row.entity.name, version: row.version)
      var edits = [Edit]()
      // A value that is left for later, or refused, is none at first.
      for (property, _) in row.fields + lists(of: row) { record.sent[property.name] = .nothing }
      let contents = row.fields + requiredLists(of: row) + optionalLists(of: row)
      for (property, content) in contents where !isExcluded(property, row.key) {
        let resolved = resolve(content, property) { target in
          guard let id = temporary[target] else { return objectID(of: target, mapping, property) }
          return accepts(model.entity(id.entity), property) ? id : nil
        }
        if let lost = resolved.lost.first {
          deferred.insert(row.key)
          unresolved[row.key, default: [:]][property.number] = lost
          // A list that must have members begins with those that have an object.
          if resolved.found.isEmpty || !property.requiresMember { continue }
        }
        // Null is the value of a row without one, unless the model has a default.
        if content.isEmpty, row.entity.initialValue(property).isNull || property.relationship != nil { continue }
        edits.append(Edit(property.number, .set(resolved.value)))
        // If the store has the relationship at the other end, the row there records it.
        if record.sent[property.name] != nil { record.sent[property.name] = sent(resolved.found, property) }
      }
      edits += nulls(of: row)
      if separated[row.key] != nil { deferred.insert(row.key) }
      let id = ObjectID.temporary(UInt64(index + 1), entity: row.entity.number)
      items.append(Item(key: row.key, change: Change(.insert, id, edits: edits), row: record))
    }
    return items
  }

  /// Sets the optional attributes of a new row to null whose values can't be taken. Without an edit they would have the
  /// model's default, which the app did not store.
  private func nulls(of row: SourceRow) -> [Edit] {
    let read = Set(row.fields.map(\.property.number))
    let unread = row.problems.map(\.property).filter { !read.contains($0.number) }
    let refused = row.fields.map(\.property).filter { isExcluded($0, row.key) }
    let properties = (unread + refused).filter { property in
      property.isOptional && property.attribute != nil && !isAssigned(property)
        && !row.entity.initialValue(property).isNull
    }
    return properties.map { Edit($0.number, .set(.null)) }
  }

  /// Removes rows that wait. A row that requires one of them waits, too.
  private mutating func removePostponed(_ rows: inout [SourceRow], _ mapping: ImportMapping) {
    if postponed.isEmpty { return }
    var count: Int
    repeat {
      count = rows.count
      for row in rows where requiresPostponed(row, mapping) { postponed.insert(row.key) }
      rows.removeAll { postponed.contains($0.key) }
    } while rows.count < count
  }

  private func requiresPostponed(_ row: SourceRow, _ mapping: ImportMapping) -> Bool {
    (row.fields + requiredLists(of: row)).contains { property, content in
      (!property.isOptional || property.requiresMember) && !isExcluded(property, row.key)
        && content.rows.contains { postponed.contains($0) && mapping.rows[mappingKey($0)] == nil }
    }
  }

  private func isExcluded(_ property: Property, _ key: RowKey) -> Bool {
    excluded[key].map { $0.contains(property.number) } == true
  }

  // MARK: - Updates

  /// Which values an update has.
  enum Part {
    /// Those that differ from a value that was sent.
    case known
    /// Those of properties of which no value was sent: the app or the model is newer, or their value could not be read.
    /// The graph's value may be right.
    case unknown
  }

  /// The updates of rows that have an object. A row that refers to a waiting one waits, too.
  /// - Parameters:
  ///   - bases: the revisions that the updates are based on.
  ///   - lost: receives the references that can't be made.
  /// - Throws: `Refusal` if the store can't be read.
  mutating func updates(
    _ keys: [RowKey], _ part: Part, _ mapping: ImportMapping, bases: [RowKey: Revision], lost: inout [LostReference]
  ) throws -> [Item] {
    var items = [Item]()
    for key in keys where !rejected.contains(key) && !postponed.contains(key) {
      guard let known = mapping.rows[mappingKey(key)], let base = bases[key] else { continue }
      let row = try reader.row(key)
      var record = withPresentNames(known.row, row.entity)
      record.version = row.version
      let contents = row.fields + lists(of: row)
      var edits = [Edit]()
      var missing = [LostReference]()
      for (property, content) in contents where !isExcluded(property, key) && !isAssigned(property) {
        let sent = self.known(property, row.entity, known.row)
        guard (sent == nil) == (part == .unknown) else { continue }
        // A value that the app has not changed stays, also if the import does not take the row of its reference now.
        if self.sent(content, property) == sent { continue }
        let resolved = resolve(content, property) { objectID(of: $0, mapping, property) }
        if resolved.lost.contains(where: postponed.contains) {
          postponed.insert(key)
          continue
        }
        let isKept = !resolved.lost.isEmpty && resolved.found.isEmpty && property.requiresObject
        for target in resolved.lost {
          missing.append(
            LostReference(
              key: key, entity: row.entity.name, property: property.name, reason: reason(target, property),
              isKept: isKept))
        }
        if isKept { continue }
        let new = self.sent(resolved.found, property)
        guard new != sent, sent != nil || !resolved.found.isEmpty else { continue }
        edits.append(Edit(property.number, .set(resolved.value)))
        record.sent[property.name] = new
      }
      if !isPartial, postponed.contains(key) { continue }
      lost += missing
      guard !edits.isEmpty else { continue }
      // The user can still say which property a former name belongs to, if one has no value that was sent.
      if !contents.contains(where: { isUnsent($0.property, record) }) {
        record.sent = record.sent.filter { isName($0.key, of: row.entity) }
      }
      let id = ObjectID(key: known.id, entity: row.entity.number)
      items.append(Item(key: key, change: Change(.update, id, base: base, edits: edits), row: record))
    }
    return items
  }

  /// Whether a row differs from the values that were sent for it, or has a value of a property that was never sent.
  func differs(_ row: SourceRow, from sent: ImportMapping.Row) -> Bool {
    (row.fields + lists(of: row)).contains { property, content in
      if isAssigned(property) { return false }
      guard let known = known(property, row.entity, sent) else { return !content.isEmpty }
      return self.sent(content, property) != known
    }
  }

  /// The graph sets the time of the last change itself.
  func isAssigned(_ property: Property) -> Bool { property.attribute?.assignment != nil }

  private func reason(_ target: RowKey, _ property: Property) -> String {
    if let entity = try? reader.row(target).entity, !accepts(entity, property),
      let destination = property.relationship.flatMap({ model.entity($0.destination) })
    {
      return "\(reader.name(target)) is \(entity.name) in the model \(model.name), and \(destination.name) is expected"
    }
    if absent.contains(target) { return "the object of \(reader.name(target)) was deleted in the graph" }
    return existing.contains(target)
      ? "\(reader.name(target)) was not imported" : "there is no row \(reader.name(target))"
  }

  // MARK: - Values

  private func objectID(of key: RowKey, _ mapping: ImportMapping, _ property: Property) -> ObjectID? {
    // A row whose update is refused keeps its object. A new row that is refused is not in the mapping.
    guard existing.contains(key), !absent.contains(key), let relationship = property.relationship else { return nil }
    guard let known = mapping.rows[mappingKey(key)], accepts(entities[known.row.entity], property) else {
      return nil
    }
    return ObjectID(key: known.id, entity: relationship.destination)
  }

  /// Whether a relationship can have objects of an entity; nil for one that has another name now. The entity may have
  /// had the destination as its parent in the version of the store.
  private func accepts(_ entity: Entity?, _ property: Property) -> Bool {
    guard let entity, let destination = property.relationship.flatMap({ model.entity($0.destination) }) else {
      return true
    }
    return entity.isKind(of: destination)
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

  /// The state of a property in the mapping after its content was sent.
  func sent(_ content: SourceRow.Content, _ property: Property) -> ImportMapping.Sent {
    if content.isEmpty { return .nothing }
    switch content {
    case .value(.data(let bytes)): return .value(Checksum.of(bytes, seed: Checksum.of([1])))
    case .value(.string(let text)): return .value(Checksum.of(Array(text.utf8), seed: Checksum.of([2])))
    case .value(let value): return .value(Checksum.of(Array(value.json(kind: property.attribute?.kind).text.utf8)))
    case .reference(let key): return key.map { .object(mappingKey($0)) } ?? .nothing
    case .members(let keys):
      let keys = keys.map(mappingKey)
      return property.relationship?.isOrdered == true ? .list(keys) : .members(keys.sorted())
    }
  }
}
