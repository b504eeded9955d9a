// Tests: MigrationTests.swift, MigrationSoundnessTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// The checks of existing objects against the requirements that only the new version has.
extension MigrationWriter {
  /// Refuses new required properties without a value to fill in, if any object exists.
  func refuseUnfilled(_ old: StoreLayout) throws {
    var problems = [String]()
    for property in plan.unfilled {
      guard let owner = plan.new.entity(property.owner), let before = plan.entities[owner.number],
        let entity = plan.old.entity(before), let table = old.table(of: before)
      else { continue }
      let count = try Int.fetchOne(
        database,
        sql: "SELECT count(*) FROM \(quoted(table.name)) WHERE _entity IN (\(old.numbers.family(of: entity)))")
      guard let count, count > 0 else { continue }
      let advice =
        property.attribute == nil ? "make it optional" : "make it optional, or give it a default or a mapping"
      problems.append(
        "\(owner.name).\(property.name): is required, and \(count) objects of \(entity.name) have none: \(advice)")
    }
    guard problems.isEmpty else {
      throw MigrationRefusal(from: plan.old.version, to: plan.new.version, problems: problems)
    }
  }

  /// Finds all objects that share a new unique key, before its index is created.
  mutating func findDuplicateKeys() throws {
    let objects = ObjectReader(connection, layout: new)
    for table in new.orderedTables where before(table) != nil {
      for (owner, constraint) in EntityTable.constraints(of: table.root, plan.new) where isNew(constraint, owner) {
        let columns = constraint.compactMap { table.column(of: $0) }
        let keys = columns.map { quoted($0.name) }.joined(separator: ", ")
        let filled =
          columns.map { "\(quoted($0.name)) IS NOT NULL" } + ["_entity IN (\(new.numbers.family(of: owner)))"]
        let rows = try connection.statement(
          """
          SELECT t._id, t._entity, CASE t._id WHEN k.first THEN k.last ELSE k.first END
          FROM (SELECT \(keys), min(_id) AS first, max(_id) AS last FROM \(quoted(table.name)) WHERE \(filled.joined(separator: " AND "))
          GROUP BY \(keys) HAVING count(*) > 1) AS k JOIN \(quoted(table.name)) AS t
          ON \(columns.map { "t.\(quoted($0.name)) = k.\(quoted($0.name))" }.joined(separator: " AND "))
          AND t._entity IN (\(new.numbers.family(of: owner))) ORDER BY \(columns.map { "t.\(quoted($0.name))" }.joined(separator: ", ")), t._id
          """)
        let names = columns.map(\.property.name).joined(separator: " and ")
        while try connection.step(rows) {
          let id = ObjectID(key: rows.id(0), entity: objects.layout.numbers.entity(rows, 1))
          breaches.add(id, plan.new, "shares its \(names) with \(rows.id(2))")
        }
      }
    }
  }

  /// The roots whose tables are read completely, to check every object against all rules of the new version.
  private var recheckedRoots: Set<EntityNumber> { Set(plan.tightened.compactMap { plan.new.entity($0)?.root }) }

  private mutating func findMissing() throws {
    let rechecked = recheckedRoots
    var seen = Set<PropertyNumber>()
    for property in plan.required where seen.insert(property.number).inserted {
      guard let owner = plan.new.entity(property.owner), let table = new.table(of: owner.number),
        let column = table.column(of: property.number), !rechecked.contains(table.root.number) || before(table) == nil
      else { continue }
      let rows = try connection.statement(
        "SELECT _id, _entity FROM \(quoted(table.name)) WHERE \(quoted(column.name)) IS NULL AND _entity IN (\(new.numbers.family(of: owner))) ORDER BY _id"
      )
      while try connection.step(rows) {
        let id = ObjectID(key: rows.id(0), entity: new.numbers.entity(rows, 1))
        breaches.add(id, plan.new, "has no \(property.name), which is required")
      }
    }
  }

  private func isNew(_ constraint: [PropertyNumber], _ owner: Entity) -> Bool {
    let earlier = constraint.compactMap { plan.kept($0) }
    if constraint.contains(where: { plan.new.property($0).map(isMoved) == true }) { return true }
    guard earlier.count == constraint.count, let before = plan.entities[owner.number].flatMap({ plan.old.entity($0) })
    else { return true }
    return !before.uniquenessConstraints.contains(earlier)
  }

  /// Checks the new version's rules for the entities that it restricts further, and all references.
  /// - Throws: a refusal with all violations, including shared keys and references to removed objects.
  mutating func verify() throws {
    guard problems.isEmpty else {
      throw MigrationRefusal(from: plan.old.version, to: plan.new.version, problems: problems)
    }
    try findMissing()
    let tables = recheckedRoots
    for table in new.orderedTables where tables.contains(table.root.number) && before(table) != nil {
      let checker = ObjectChecker(CheckedStore(Connection(database), layout: new, findings: FindingList()))
      let rows = try connection.statement(table.select + " ORDER BY t._row")
      let objects = ObjectReader(connection, layout: new)
      while try connection.step(rows) {
        let image = try objects.image(rows, in: table)
        for text in try checker.violations(of: image) { breaches.add(image.id, plan.new, text) }
      }
    }
    try findBrokenRules(besides: tables)
    if !plan.removedEntities.isEmpty {
      for row in try GRDB.Row.fetchAll(database, sql: "PRAGMA foreign_key_check") {
        guard let table = new.orderedTables.first(where: { $0.name == row[0] }), let number = row[1] as Int64?,
          let id = try ObjectReader(connection, layout: new).id(ofRow: number, in: table)
        else { continue }
        breaches.add(id, plan.new, "refers to an object whose entity was removed")
      }
      try findReferencesToRemoved()
    }
    try breaches.refuse(plan)
  }

  /// Checks unchanged rules for objects whose values were filled in, removed or recounted.
  private mutating func findBrokenRules(besides rechecked: Set<EntityNumber>) throws {
    let objects = ObjectReader(connection, layout: new)
    for (root, rows) in touched.sorted(by: { $0.key < $1.key }) where !rechecked.contains(root) {
      let table = try invariant(new.table(of: root), "a changed row is in a table of the new version")
      guard table.root.family.contains(where: { !plan.new.rules(of: $0).isEmpty }) else { continue }
      let select = try connection.statement(table.select + " WHERE t._row = ?")
      for row in rows {
        select.bind(1, row)
        if try connection.step(select) {
          let image = try objects.image(select, in: table)
          for rule in plan.new.rules(of: image.id.entity) where !rule.holds(for: image) {
            breaches.add(image.id, plan.new, "breaks the rule \(rule.name)")
          }
        }
        sqlite3_reset(select.statement)
      }
    }
  }

  /// Finds lists with objects of a removed entity, in a table that is kept.
  private mutating func findReferencesToRemoved() throws {
    let roots = Set(plan.removedEntities.filter { $0.root != $0.number }.map(\.root))
    for table in new.orderedTables where before(table) != nil {
      for edge in table.edges {
        guard let destination = edge.property.relationship?.destination, let members = new.table(of: destination),
          before(members).map({ roots.contains($0.root.number) }) == true
        else { continue }
        let rows = try connection.statement(
          """
          SELECT _id, _entity FROM \(quoted(table.name)) WHERE _row IN (SELECT owner FROM \(quoted(edge.name)) AS e
          WHERE NOT EXISTS (SELECT 1 FROM \(quoted(members.name)) AS m WHERE m._row = e.member)) ORDER BY _row
          """)
        while try connection.step(rows) {
          let id = ObjectID(key: rows.id(0), entity: new.numbers.entity(rows, 1))
          breaches.add(id, plan.new, "refers to an object whose entity was removed")
        }
      }
    }
  }
}

/// Violations, limited in number; the others are counted.
struct MigrationViolations {
  private var listed = [MigrationViolation]()
  private var more = 0

  var isEmpty: Bool { listed.isEmpty }

  mutating func add(_ id: ObjectID, _ model: Model, _ text: String) {
    guard listed.count < MigrationRefusal.maximumBreaches else { return more += 1 }
    listed.append(MigrationViolation(object: id, entity: model.displayName(of: id.entity), text: text))
  }

  func refuse(_ plan: MigrationPlan) throws {
    if !listed.isEmpty {
      throw MigrationRefusal(from: plan.old.version, to: plan.new.version, breaches: listed, more: more)
    }
  }
}
