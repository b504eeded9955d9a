import CoreDataStore
import GraphClient
import GraphModel

/// Which rows are new, and which have changed.
extension CoreDataImporter {
  /// The objects that the user sees in the graph, with their entities.
  func presentObjects() async throws -> [UniqueID: EntityNumber] {
    var present = [UniqueID: EntityNumber]()
    if mapping.mapping.rows.isEmpty { return present }
    for entity in shell.model.entities where entity.parent == nil {
      for id in try await shell.client.identifiers(of: entity) { present[id.key] = id.entity }
    }
    return present
  }

  /// The rows of the mapping whose objects the graph no longer has.
  func absentRows(_ present: [UniqueID: EntityNumber]) -> Set<ImportMapping.Key> {
    // An object that the user does not see may exist.
    if shell.seesPart { return [] }
    return Set(mapping.mapping.rows.filter { present[$0.value.id] == nil }.keys)
  }

  /// The most rows that the mapping records together while rows are compared.
  private static let rowsInOneRecord = 10_000

  /// Reads all rows and compares them with the mapping.
  /// - Parameter absent: the rows whose objects the graph no longer has.
  /// - Returns: the new rows in the order of their insertion, and the rows that have changed.
  func compare(_ absent: Set<ImportMapping.Key>) throws -> (groups: [[RowKey]], differing: [RowKey]) {
    let absentRows = absent.isEmpty ? [] : keys.filter { absent.contains(changes.mappingKey($0)) }
    let retaken = again ? Set(absentRows) : []
    if !again { _ = changes.leaveOut(absentRows) }
    var renewed = [ImportMapping.Line]()
    var unmatched = UnmatchedNames()
    var order = InsertionOrder()
    var differing = [RowKey]()
    var pairs = MutualReferences(shell.model)
    var referrers = [PropertyNumber: [RowKey: [RowKey]]]()
    for (index, key) in keys.enumerated() {
      if index % 1_000 == 0 { progress.show("\(index) of \(keys.count) rows read") }
      let row: SourceRow
      do {
        row = try reader.row(key)
      } catch let unreadable as SourceReader.UnreadableRow {
        report.skip(changes.reportKey(key), reader.root(key), unreadable.reason)
        changes.reject(key)
        continue
      }
      pairs.add(row)
      for (property, content) in row.fields {
        guard case .reference(let target?) = content, let relationship = property.relationship else { continue }
        let list = shell.model.inverse(of: relationship)
        if list.requiresMember { referrers[list.number, default: [:]][target, default: []].append(key) }
      }
      for problem in row.problems {
        omit(
          problem.property, of: key, row.entity, problem.reason, problem.isReplaced ? .other : nil,
          isNew: retaken.contains(key))
      }
      let place = changes.mappingKey(key)
      if let known = mapping.mapping.rows[place], !retaken.contains(key) {
        let record = changes.recent(known.row, row, without: retaken)
        if record != known.row { renewed.append(.row(place, id: known.id, record)) }
        if renewed.count == Self.rowsInOneRecord {
          try mapping.record(renewed)
          renewed = []
        }
        unmatched.add(row, changes.unmatched(row, record))
        if changes.differs(row, from: record) {
          differing.append(key)
        } else if absent.contains(place) {
          report.absent += 1
        } else {
          report.unchanged += 1
        }
        continue
      }
      order.add(key)
      addReferences(of: row, to: &order)
    }
    // Until the references are made again, an interrupted import or a refused row must not let them be forgotten.
    changes.addReferrers(referrers)
    try mapping.record(renewed + retaken.sorted().map { .gone(changes.mappingKey($0)) })
    reportSeveral(pairs)
    reportUnmatched(unmatched)
    reportLostOwners()
    return (order.groups(), differing)
  }

  /// Rows that have several others where the graph has one object.
  private func reportSeveral(_ pairs: MutualReferences) {
    for found in pairs.contradictions where changes.exclude(found.property.number, of: found.key) {
      let reason =
        found.isRepeated
        ? "\(reader.name(found.target)) can have one row only, and that is \(reader.name(found.other))"
        : "\(reader.name(found.target)) refers to \(reader.name(found.other)) instead"
      omit(found.property, of: found.key, found.entity, reason)
    }
    for shared in sharedMembers where changes.existing.contains(shared.key) {
      let names = shared.owners.prefix(3).map(reader.name) + (shared.owners.count > 3 ? ["…"] : [])
      omit(
        shared.property, of: shared.key, shell.model.owner(of: shared.property),
        "the store has \(shared.owners.count) rows there (\(names.joined(separator: ", "))), and the first one is taken",
        .part)
    }
  }

  /// Values under names that the mapping can't assign to a property. A clearing of such a value by the app has no
  /// effect.
  private func reportUnmatched(_ unmatched: UnmatchedNames) {
    for (name, found) in unmatched.values.sorted(by: { $0.key < $1.key }) {
      // A property that the app still has was not renamed.
      if reader.hasProperty(name.property, in: found.row) { continue }
      let present: String =
        if found.properties.count == 1, let only = found.properties.first { only } else { "\(name.entity).NAME" }
      report.remarks.append(
        StoreLayout.Remark(
          subject: "\(name.entity).\(name.property)",
          reason:
            "an earlier import has sent it, and the model has no property with this name or this earlier name; if "
            + "it was renamed several times, add --rename \(present)=\(name.property)",
          count: found.count))
    }
  }

  /// Members whose owner does not exist belong to no row that could be reported.
  private func reportLostOwners() {
    for (number, lists) in changes.members.sorted(by: { $0.key < $1.key }) {
      let lost = lists.filter { !changes.existing.contains($0.key) && !changes.rejected.contains($0.key) }
      guard let property = shell.model.property(number), let first = lost.keys.min() else { continue }
      report.remarks.append(
        StoreLayout.Remark(
          subject: shell.model.qualifiedName(of: property),
          reason: "members of rows that do not exist, such as \(reader.name(first)), are not taken",
          count: lost.values.reduce(0) { $0 + $1.count }))
    }
  }

  private func addReferences(of row: SourceRow, to order: inout InsertionOrder) {
    for (property, content) in row.fields {
      guard case .reference(let target?) = content, let relationship = property.relationship else { continue }
      let inverse = shell.model.inverse(of: relationship)
      // An owner that must have members is inserted together with them, unless its own list has those before it.
      let isTogether = inverse.requiresMember && changes.members[inverse.number] == nil
      order.addReference(from: row.key, to: target, isRequired: !property.isOptional || isTogether)
      if inverse.requiresMember { order.addReference(from: target, to: row.key, isRequired: true) }
    }
    for list in changes.requiredLists(of: row) {
      for other in list.content.rows { order.addReference(from: row.key, to: other, isRequired: true) }
    }
    // The members of other lists have references to their owner, or none at all.
    for list in changes.lists(of: row) where !list.property.requiresMember {
      guard let relationship = list.property.relationship,
        shell.model.inverse(of: relationship).relationship?.isToMany == true
      else { continue }
      for member in list.content.rows { order.addReference(from: row.key, to: member, isRequired: false) }
    }
  }
}

/// Names of sent values that no property of the model has or had, in rows with a property of which none was sent.
private struct UnmatchedNames {
  struct Name: Comparable, Hashable {
    let entity: String
    let property: String

    static func < (left: Name, right: Name) -> Bool { (left.entity, left.property) < (right.entity, right.property) }
  }

  /// One of the rows with a name, the properties that may have it, and the number of rows.
  private(set) var values = [Name: (row: StoreLayout.RowKey, properties: Set<String>, count: Int)]()

  mutating func add(_ row: SourceRow, _ found: (names: [String], properties: [String])) {
    for name in found.names {
      let name = Name(entity: row.entity.name, property: name)
      var value = values[name, default: (row.key, [], 0)]
      value.properties.formUnion(found.properties)
      value.count += 1
      values[name] = value
    }
  }
}

/// One-to-ones. If the store has both sides, these can contradict each other. If it has one side, because the other one
/// was a to-many in its version, several rows can refer to one.
private struct MutualReferences {
  typealias RowKey = StoreLayout.RowKey

  private struct Side: Hashable {
    let property: PropertyNumber
    let key: RowKey
  }

  /// A reference to a row that refers to another one, or to which another one refers.
  struct Contradiction {
    let key: RowKey
    let entity: Entity
    let property: Property
    let target: RowKey
    let other: RowKey
    /// Whether both rows refer to the target.
    let isRepeated: Bool
  }

  private let model: Model
  private var targets = [Side: (target: RowKey, entity: Entity)]()

  init(_ model: Model) { self.model = model }

  mutating func add(_ row: SourceRow) {
    for (property, content) in row.fields {
      guard case .reference(let target?) = content, let relationship = property.relationship,
        model.inverse(of: relationship).relationship?.isToMany == false
      else { continue }
      targets[Side(property: property.number, key: row.key)] = (target, row.entity)
    }
  }

  /// Sorted by row and property. A target without a reference contradicts nothing.
  var contradictions: [Contradiction] {
    var found = [Contradiction]()
    var contradicting = Set<Side>()
    for (side, reference) in targets {
      guard let property = model.property(side.property), let relationship = property.relationship,
        let back = targets[Side(property: relationship.inverse, key: reference.target)], back.target != side.key
      else { continue }
      found.append(
        Contradiction(
          key: side.key, entity: reference.entity, property: property, target: reference.target, other: back.target,
          isRepeated: false))
      contradicting.insert(side)
    }
    // The first row keeps the reference.
    var first = [Side: RowKey]()
    for (side, reference) in targets.sorted(by: { $0.key.key < $1.key.key }) where !contradicting.contains(side) {
      let target = Side(property: side.property, key: reference.target)
      guard let other = first[target] else {
        first[target] = side.key
        continue
      }
      guard let property = model.property(side.property) else { continue }
      found.append(
        Contradiction(
          key: side.key, entity: reference.entity, property: property, target: reference.target, other: other,
          isRepeated: true))
    }
    return found.sorted { ($0.key, $0.property.number) < ($1.key, $1.property.number) }
  }
}
