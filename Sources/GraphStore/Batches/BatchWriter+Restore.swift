// Tests: WholeGraphTests.swift
import GraphModel

/// Imports a complete graph: every object with its own id and all its values, into a store without commits.
///
/// Objects refer to later objects, and to each other in cycles. So the rows are read twice: first each object is
/// written without its references, then the references are added. Rules over several objects can be checked only when
/// all objects are there; `ObjectChecker` does this, because it checks in every store what the rules guarantee. Its
/// findings are reported by row number.
extension BatchWriter {
  func restore(_ total: Int) throws {
    guard revision == 1 else {
      let count = revision - 1
      throw Refusal(
        .notAllowed,
        "the store already has \(count) commit\(count == 1 ? "" : "s"), and a whole graph needs a store without any: "
          + "start stickiesd with an empty directory (--data)")
    }
    guard total <= Self.maximumRestored else {
      throw Refusal(
        .limit, "a graph of \(total) objects can't be imported at once; at most \(Self.maximumRestored) can")
    }
    try report(done: 0, of: 2 * total)
    var scopes = ImportedScopes(model)
    let numbers = try writeObjects(total, &scopes)
    try refuseWithTheRest(numbers, references: true)
    try writeReferences(total, numbers, scopes)
    try refuseWithTheRest(numbers, references: false)
    try checkGraph()
  }

  static let maximumRestored = Batch.maximumObjects

  private func forEachImage(_ body: (Int, ObjectImage, Entity) throws -> Void) throws {
    var number = 0
    try job.rows?.forEachChunk { rows in
      for row in rows {
        number += 1
        guard case .object(let id)? = row.first, !id.isTemporary, let entity = model.entity(id.entity),
          row.count == entity.slotCount + 1
        else { throw Refusal(.malformed, "row \(number) must hold an object id and a value for each of its slots") }
        try body(number, ObjectImage(id: id, revision: revision, values: Array(row.dropFirst())), entity)
      }
    }
  }

  // MARK: - Objects

  /// - Returns: the row number of each key.
  private func writeObjects(_ total: Int, _ scopes: inout ImportedScopes) throws -> [UniqueID: Int32] {
    var (done, changes, size) = (0, 0, 0)
    // An id is unique across all tables. About 30 bytes for each of at most a million objects.
    var numbers = [UniqueID: Int32]()
    var sequences = [PropertyNumber: Set<Int64>]()
    try forEachImage { number, image, entity in
      done = number
      guard numbers[image.id.key] == nil else {
        return try violate(number, image, rule: "unique", "the id \(image.id) is given twice")
      }
      numbers[image.id.key] = Int32(number)
      // A malformed row was reported; the import is refused after the last row.
      guard try isWellFormed(number, image, entity) else { return }
      try countSequences(image, entity, &sequences)
      scopes.add(image, entity)
      let alone = ObjectChange(
        kind: .inserted, id: image.id, before: nil, after: Self.withoutReferences(image, entity))
      do {
        try write([alone], sums: [0])
      } catch is SQLConstraintFailure {
        return try violateUnique(number, Self.withoutReferences(image, entity), numbers)
      }
      changes += 1
      size += image.approximateSize
      if changes >= writer.sliceObjects || size >= Batch.sliceBytes {
        writer.fullText.recordCommit(changes: changes, size: size)
        try writer.fullText.updateInBatch()
        (changes, size) = (0, 0)
        try report(done: number, of: 2 * total)
      }
    }
    guard done == total else { throw Refusal(.malformed, "\(done) rows arrived instead of \(total)") }
    writer.fullText.recordCommit(changes: changes, size: size)
    try writer.fullText.updateInBatch()
    return numbers
  }

  /// Whether each value has its column's type; validation follows at the end.
  private func isWellFormed(_ number: Int, _ image: ObjectImage, _ entity: Entity) throws -> Bool {
    if entity.isAbstract {
      try violate(number, image, rule: "type", "\(entity.name) is abstract: only its subentities have objects")
      return false
    }
    for property in entity.storedProperties {
      let value = image[property]
      if value.isNull { continue }
      let isRight: Bool =
        switch property.kind {
        case .attribute(let attribute): attribute.checked(value) == value
        case .relationship(let relationship) where relationship.isToMany:
          if case .objects = value { true } else { false }
        case .relationship: value.objectID != nil
        }
      if isRight { continue }
      try violate(number, image, property, rule: "type", "\(property.name) takes another type of value")
      return false
    }
    return true
  }

  private func countSequences(
    _ image: ObjectImage, _ entity: Entity, _ taken: inout [PropertyNumber: Set<Int64>]
  ) throws {
    func refuse(_ property: Property, _ why: String) throws {
      try violate(number(of: image.id), image, property, rule: "assigned", "\(property.name) \(why)")
    }
    for property in entity.attributes where property.attribute?.assignment == .sequence {
      guard case .integer(let given) = image[property] else { continue }
      guard given < .max else { return try refuse(property, "is the largest integer, which leaves no next number") }
      guard given > 0 else { return try refuse(property, "is \(given), but a sequence begins with 1") }
      // Single-attribute unique keys are checked with the other keys.
      if !entity.uniquenessConstraints.contains([property.number]),
        !taken[property.number, default: []].insert(given).inserted
      {
        return try refuse(property, "is \(given) in two objects, but a sequence assigns each number once")
      }
      writer.sequences[property.number] = max(writer.sequences[property.number, default: 1], given + 1)
    }
  }

  private static func withoutReferences(_ image: ObjectImage, _ entity: Entity) -> ObjectImage {
    var image = image
    for property in entity.storedProperties {
      if property.isHidden { image[property] = .null }
      guard let relationship = property.relationship else { continue }
      image[property] = relationship.isToMany ? .objects([]) : .null
    }
    return image
  }

  // MARK: - References

  private func writeReferences(_ total: Int, _ numbers: [UniqueID: Int32], _ scopes: ImportedScopes) throws {
    var (changes, sums, size) = ([ObjectChange](), [UInt64](), 0)
    func slice(_ number: Int) throws {
      try writePart(changes, sums: sums, size: size)
      changes.removeAll(keepingCapacity: true)
      sums.removeAll(keepingCapacity: true)
      size = 0
      try report(done: total + number, of: 2 * total)
    }
    try forEachImage { number, image, entity in
      // A missing object was reported; the import is refused after the last row.
      guard let whole = try resolved(number, image, entity, numbers).map({ scopes.completed($0, entity) }) else {
        return
      }
      let sum = try writer.sum(whole, &size)
      let before = Self.withoutReferences(image, entity)
      let edits = entity.storedProperties.filter { ($0.relationship != nil || $0.isHidden) && before[$0] != whole[$0] }
      let update = ObjectChange(
        kind: .updated, id: image.id, before: before, after: whole,
        edits: edits.map { Edit($0.number, .set(whole[$0])) })
      do {
        try write([update], sums: [sum])
      } catch is SQLConstraintFailure {
        return try violateUnique(number, whole, numbers)
      }
      changes.append(ObjectChange(kind: .inserted, id: image.id, before: nil, after: whole))
      sums.append(sum)
      if changes.count >= writer.sliceObjects || size >= Batch.sliceBytes { try slice(number) }
    }
    if !changes.isEmpty { try slice(total) }
  }

  /// Returns the object with the concrete entities of all its references; nil if some objects are missing. Skips
  /// references to objects whose own rows were refused.
  private func resolved(
    _ number: Int, _ image: ObjectImage, _ entity: Entity, _ numbers: [UniqueID: Int32]
  ) throws -> ObjectImage? {
    var image = image
    for property in entity.storedProperties {
      guard let relationship = property.relationship else { continue }
      var found = [ObjectID]()
      for id in image[property].objectIDs {
        let target = ObjectID(key: id.key, entity: relationship.destination)
        guard let known = try writer.objects.find(target)?.id,
          model.entity(relationship.destination)?.family.contains(known.entity) == true
        else {
          if numbers[id.key] != nil, try !isWritten(id.key) { continue }
          try violate(
            number, image, property, rule: "destination",
            "\(property.name) names \(target), but this graph has no such "
              + model.displayName(of: relationship.destination))
          return nil
        }
        found.append(known)
      }
      if relationship.isToMany {
        guard Set(found).count == found.count else {
          try violate(number, image, property, rule: "destination", "\(property.name) names an object twice")
          return nil
        }
        image[property] = .objects(relationship.isOrdered ? found : found.sorted())
      } else {
        image[property] = if let target = found.first { .object(target) } else { .null }
      }
    }
    return image
  }

  private func isWritten(_ key: UniqueID) throws -> Bool {
    try writer.layout.orderedTables.contains { table in
      try writer.objects.find(ObjectID(key: key, entity: table.root.number)) != nil
    }
  }

  private func write(_ changes: [ObjectChange], sums: [UInt64]) throws {
    try RowWriter(
      objects: writer.objects, fullText: writer.fullText, changes: changes, sums: sums, revision: revision,
      updates: writer.updates, hasRevivals: false
    ).write()
  }

  // MARK: - Validation

  /// Refuses the import if some rows can't be written.
  ///
  /// Each row is first checked alone, so that one answer reports all violations. Counts, derived values and keys with
  /// references can be checked only when all rows are there.
  /// - Parameter references: whether references are not checked yet.
  private func refuseWithTheRest(_ numbers: [UniqueID: Int32], references: Bool) throws {
    if violations.isEmpty { return }
    let unreadable = Set(violations.lazy.filter { $0.rule == "type" }.map(\.id))
    try forEachImage { number, image, entity in
      if unreadable.contains(row(number, image)) { return }
      var broken = RuleValidator.violations(of: image, in: model)
      for place in broken.indices { broken[place].id = row(number, image) }
      try collect(broken)
      if references { _ = try resolved(number, image, entity, numbers) }
    }
    try refuseIfViolated()
  }

  private func checkGraph() throws {
    let store = CheckedStore(Connection(connection.database), layout: writer.layout, findings: FindingList())
    let checker = ObjectChecker(store)
    for table in writer.layout.orderedTables {
      try checker.checkObjects(of: table)
      try checker.checkKeys(of: table)
      try checker.checkPairs(of: table)
    }
    let all = store.findings.all
    var wanted = [ObjectID: [StoreFinding]]()
    for finding in all {
      if let id = finding.place.object { wanted[id, default: []].append(finding) }
    }
    if wanted.isEmpty, let finding = all.first {
      throw Refusal(.invalid, "the graph breaks a rule: \(finding)")
    }
    if !wanted.isEmpty {
      try forEachImage { number, image, entity in
        if let findings = wanted[image.id] { try collect(findings, number, image, entity) }
      }
    }
  }

  /// Reports findings in the words that refuse an ordinary insert, where such a refusal exists.
  private func collect(_ findings: [StoreFinding], _ number: Int, _ image: ObjectImage, _ entity: Entity) throws {
    let kinds = Set(findings.map(\.kind))
    let values = kinds.contains(.rule) ? RuleValidator.violations(of: image, in: model) : []
    let counts =
      kinds.contains(.count)
      ? try RuleValidator.violations(
        ofCounts: entity.relationships.map { (image.id, $0.number) }, reader: PlanReader(writer: writer)) : []
    var violations = values + counts
    for place in violations.indices { violations[place].id = row(number, image) }
    try collect(violations)
    for finding in findings {
      if finding.kind == .rule, !values.isEmpty { continue }
      if finding.kind == .count, !counts.isEmpty { continue }
      try violate(number, image, rule: finding.kind.rawValue, finding.text)
    }
  }

  private func number(of id: ObjectID) throws -> Int {
    var found = 0
    try forEachImage { number, image, _ in if found == 0, image.id == id { found = number } }
    return found
  }

  /// Reports the object that already has the key of `image`.
  /// - Parameters:
  ///   - image: the object as it should have been written.
  ///   - numbers: the row number of each key, with which the other object is reported.
  private func violateUnique(_ number: Int, _ image: ObjectImage, _ numbers: [UniqueID: Int32]) throws {
    guard var (violation, other) = try keyConflict(of: image, inBatch: .new) else {
      return try violate(number, image, rule: "unique", "another object of this graph has the same key")
    }
    violation.id = row(number, image)
    if let number = numbers[other.key] { other = .temporary(UInt64(number), entity: other.entity) }
    try collect(
      [violation],
      [
        Conflict(
          kind: .unique, id: other, property: violation.property, mine: violation.value, theirs: violation.value)
      ])
  }

  /// - Parameter number: the row's number, by which the message identifies the object.
  private func violate(
    _ number: Int, _ image: ObjectImage, _ property: Property? = nil, rule: String, _ message: String
  ) throws {
    var violation = Violation(id: row(number, image), property: 0, rule: rule, message: message)
    if let property { violation.property = property.number }
    try collect([violation])
  }

  private func row(_ number: Int, _ image: ObjectImage) -> ObjectID {
    .temporary(UInt64(number), entity: image.id.entity)
  }
}
