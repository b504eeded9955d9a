import CoreDataStore
import GraphClient
import GraphModel

/// Rows and values that the daemon refuses.
extension CoreDataImporter {
  static let deletedTarget = "it refers to an object that was deleted in the graph"

  /// The rows to send after a refusal: without those, or without the values, that it names. If it names none, the
  /// rows are sent in halves, until one is left. Rows that need a key which another row may release wait.
  func remaining(of part: [[RowKey]], _ items: [RowChanges.Item], after refusal: Refusal) throws -> [[[RowKey]]] {
    if refusal.code == .limit, part.count == 1, items.count > 1 {
      let reason = "it and the rows that it needs are \(items.count), too many for one commit: \(refusal.message)"
      for item in items { divided[item.key] = reason }
      return Self.halves(part)
    }
    let byID = Dictionary(items.map { ($0.change.id, $0) }, uniquingKeysWith: { first, _ in first })
    var refused = [RowKey: String]()
    var isReduced = false
    for violation in refusal.violations where violation.commonRule != .unique {
      guard let item = byID[violation.id], refused[item.key] == nil else { continue }
      let property = shell.model.property(violation.property)
      if let property, separateLists(of: items, property, violation.id) {
        isReduced = true
      } else if let property, omit(property, of: item, violation.message) {
        isReduced = true
      } else {
        let cause = property.flatMap { changes.cause($0, item.key) }
        refused[item.key] = [violation.message, cause, divided[item.key]].compactMap(\.self).joined(separator: "; ")
      }
    }
    for conflict in refusal.conflicts where conflict.kind == .deleted {
      for item in items {
        for property in item.properties(referringTo: conflict.id, shell.model)
        where separate(property, of: item) || omit(property, of: item, Self.deletedTarget) {
          isReduced = true
        }
      }
    }
    // Without these values and rows, the keys of the others may be unique.
    let waiting = changes.postponed.count
    if refused.isEmpty, !isReduced { refused = try rowsWithoutKey(items, refusal) }
    if refused.isEmpty, !isReduced, changes.postponed.count == waiting {
      if items.count > 1 { return Self.halves(part) }
      // The row may be possible without its lists.
      if items.contains(where: { separateLists(of: $0) }) { return [part] }
      for item in items { refused[item.key] = refusal.message }
    }
    for item in items.sorted(by: { $0.key < $1.key }) {
      guard let reason = refused[item.key] else { continue }
      report.skip(changes.reportKey(item.key), item.row.entity, reason)
      changes.reject(item.key)
    }
    let rest = part.map { $0.filter { refused[$0] == nil && !changes.postponed.contains($0) } }
      .filter { !$0.isEmpty }
    return rest.isEmpty ? [] : [rest]
  }

  /// Leaves the lists of new rows for updates that connect an object through a relationship.
  /// - Returns: whether there are any.
  private func separateLists(of items: [RowChanges.Item], _ property: Property, _ id: ObjectID) -> Bool {
    guard let relationship = property.relationship else { return false }
    var isReduced = false
    for item in items {
      for edit in item.change.edits {
        let isOwn = edit.property == property.number && item.change.id == id
        guard isOwn || edit.property == relationship.inverse, case .set(let value) = edit.action,
          isOwn || value.objectIDs.contains(id), let list = shell.model.property(edit.property)
        else { continue }
        if separate(list, of: item) { isReduced = true }
      }
    }
    return isReduced
  }

  /// Leaves all lists of a new row for updates.
  /// - Returns: whether there are any.
  private func separateLists(of item: RowChanges.Item) -> Bool {
    let properties = item.change.edits.compactMap { shell.model.property($0.property) }
    return properties.reduce(false) { isReduced, property in separate(property, of: item) || isReduced }
  }

  /// Leaves a list of a new row for an update.
  private func separate(_ property: Property, of item: RowChanges.Item) -> Bool {
    item.change.kind == .insert && item.change.edits.contains { $0.property == property.number }
      && changes.separate(property, of: item.key)
  }

  /// Leaves a value out that the daemon refuses.
  /// - Returns: false if the row is not possible without it.
  private func omit(_ property: Property, of item: RowChanges.Item, _ reason: String) -> Bool {
    guard let entity = shell.model.entity(item.change.id.entity),
      item.change.edits.contains(where: { $0.property == property.number }),
      property.isOptional || !entity.initialValue(property).isNull,
      !(property.requiresMember && item.change.kind == .insert),
      changes.exclude(property.number, of: item.key)
    else { return false }
    omit(property, of: item.key, entity, reason)
    return true
  }

  /// Reports a value that was not taken.
  /// - Parameters:
  ///   - substitute: what the object has instead; nil for the value of an earlier import, or none.
  ///   - isNew: whether the row gets a new object, which has no earlier value.
  func omit(
    _ property: Property, of key: RowKey, _ entity: Entity, _ reason: String,
    _ substitute: ImportReport.Substitute? = nil, isNew: Bool = false
  ) {
    let known = isNew ? nil : mapping.mapping.rows[changes.mappingKey(key)]
    let sent = known.flatMap { changes.known(property, entity, $0.row) }
    let hasEarlier = sent.map { $0 != .nothing } == true
    report.omit(
      property.name, of: changes.reportKey(key), entity.name, reason, substitute ?? (hasEarlier ? .earlier : .nothing))
  }

  // MARK: - Unique keys

  private struct UniqueKey: Hashable {
    let property: PropertyNumber
    let value: Value
    let others: [Violation.KeyPart]

    init(_ violation: Violation) {
      (property, value, others) = (violation.property, violation.value, violation.others)
    }
  }

  /// The rows that can't have their unique keys, with the reasons, without those that wait. Of the rows of a commit
  /// with the same key the first one keeps it, as if each row were a commit.
  private func rowsWithoutKey(_ items: [RowChanges.Item], _ refusal: Refusal) throws -> [RowKey: String] {
    let violations = refusal.violations.filter { $0.commonRule == .unique }
    let counts = Dictionary(grouping: violations, by: UniqueKey.init).mapValues(\.count)
    // Each violation has a conflict with the object that has the key, unless the user does not see that object.
    let conflicts = refusal.conflicts.filter { $0.kind == .unique }
    var byID = [ObjectID: [(violation: Violation, holder: ObjectID?)]]()
    for (index, violation) in violations.enumerated() {
      let holder = conflicts.count == violations.count ? conflicts[index].id : nil
      byID[violation.id, default: []].append((violation, holder))
    }
    var refused = [RowKey: String]()
    var owners = [UniqueKey: RowKey]()
    for item in items.sorted(by: { $0.key < $1.key }) {
      let found = byID[item.change.id, default: []]
      let stored = found.filter { counts[UniqueKey($0.violation)] == 1 }
      if let (violation, holder) = stored.first(where: { !mayRelease($0.holder) }) {
        refused[item.key] = refuse(violation, of: try name(ofHolder: holder), items)
      } else if !stored.isEmpty {
        changes.postpone(item.key)
      } else if let (violation, _) = found.first(where: { owners[UniqueKey($0.violation)] != nil }),
        let owner = owners[UniqueKey(violation)]
      {
        refused[item.key] = refuse(violation, of: reader.name(owner), items)
      } else {
        for (violation, _) in found { owners[UniqueKey(violation)] = item.key }
      }
    }
    return refused
  }

  /// Whether the update or the delete of an object's row may release its keys.
  private func mayRelease(_ holder: ObjectID?) -> Bool {
    if let holder, releasingObjects.contains(holder) { return true }
    guard let holder, let key = mapping.mapping.keys[holder.key], let row = changes.rowKey(key) else { return false }
    return releasing.contains(row)
  }

  /// Counts a row that can't have its key.
  /// - Parameter holder: the name of the row or the object that has the key.
  /// - Returns: the reason, with the key and its value.
  private func refuse(_ violation: Violation, of holder: String, _ items: [RowChanges.Item]) -> String {
    let rows = Dictionary(items.map { ($0.change.id, $0.key) }, uniquingKeysWith: { first, _ in first })
    // The violation has the permanent ids of new objects, which do not exist: their commit was refused.
    var sent = [PropertyNumber: Value]()
    for edit in items.filter({ $0.change.id == violation.id }).flatMap(\.change.edits) {
      if case .set(let value) = edit.action { sent[edit.property] = value }
    }
    let parts = ([Violation.KeyPart(violation.property, violation.value)] + violation.others).compactMap { part in
      shell.model.property(part.property).map { property in
        (property: property, text: text(sent[part.property, default: part.value], of: property, rows))
      }
    }
    precondition(!parts.isEmpty, "a unique key has a property of the model")
    let names = parts.map(\.property.name).joined(separator: " and ")
    report.refuseKey("\(shell.model.owner(of: parts[0].property).name).\(names)")
    let key = parts.map { "\($0.property.name) \($0.text)" }.joined(separator: " and ")
    return "its unique key, \(key), is that of \(holder)"
  }

  /// A value of a unique key: an object by its row, if it has one.
  private func text(_ value: Value, of property: Property, _ rows: [ObjectID: RowKey]) -> String {
    guard case .object(let id) = value else { return value.json(kind: property.attribute?.kind).text.excerpt }
    if let row = rows[id] { return reader.name(row) }
    return mapping.mapping.keys[id.key].map { "\($0.root) \($0.key)" } ?? "\(id.key)"
  }

  /// The row or the object that has a unique key; the object is nil if the user does not see it.
  private func name(ofHolder holder: ObjectID?) throws -> String {
    guard let holder else { return "an object that this account does not see" }
    guard let key = mapping.mapping.keys[holder.key] else {
      return "the object \(holder.key), which is not from this store"
    }
    if let row = changes.rowKey(key), try changes.existing.contains(row) || reader.exists(row) {
      return "\(reader.name(row)), the object \(holder.key)"
    }
    let advice = deletes ? "" : "; --delete deletes the object"
    return "\(key.root) \(key.key), the object \(holder.key), which the app has deleted\(advice)"
  }
}
