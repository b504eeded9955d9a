import GraphModel
import GraphStore

/// A value or object that the new version lacks, or that it has with another value.
public struct MigrationLoss: Sendable, Equatable {
  /// The reason for a loss. Programs use the names.
  public enum Kind: String, Sendable, CaseIterable {
    /// The new version does not have the entity or the property.
    case gone
    /// A mapping or a derived attribute gives another value.
    case replaced
    /// An integer that no double represents was rounded to the nearest double.
    case rounded
  }

  /// `Person`, or `Person.age`, by the names of the old version.
  public let path: String
  /// The reason for the loss.
  public let kind: Kind
  /// The number of lost objects, or of objects with a changed value.
  public let count: Int
  /// The first of these objects, in the order of their creation.
  public let first: [ObjectID]

  /// The maximum number of objects in `first`.
  public static let maximumObjects = 3
}

/// Finds losses while both versions can be read.
///
/// Removals are found before anything is changed, replacements when the new values are stored beside the old ones.
struct MigrationLossFinder {
  let connection: Connection
  let layout: StoreLayout

  /// Returns a loss; nil if no row matches.
  /// - Parameter condition: a condition over the table's columns, by their present names.
  func loss(
    _ path: String, _ kind: MigrationLoss.Kind, in table: EntityTable, where condition: String
  ) throws -> MigrationLoss? {
    let rows = "\(quoted(table.name)) WHERE \(condition)"
    let count = try connection.database.count(rows)
    guard count > 0 else { return nil }
    let first = try connection.statement(
      "SELECT _id, _entity FROM \(rows) ORDER BY _row LIMIT \(MigrationLoss.maximumObjects)")
    var ids = [ObjectID]()
    while try connection.step(first) {
      ids.append(ObjectID(key: first.id(0), entity: layout.numbers.entity(first, 1)))
    }
    return MigrationLoss(path: path, kind: kind, count: count, first: ids)
  }

  /// Finds everything that the new version lacks; called before the store is changed.
  func findRemoved(_ plan: MigrationPlan) throws -> [MigrationLoss] {
    var losses = [MigrationLoss]()
    for entity in plan.removedEntities {
      if entity.isAbstract { continue }
      let table = try invariant(layout.table(of: entity.number), "an entity of the old version has a table")
      let condition = "_entity = \(layout.numbers.stored(entity: entity.number))"
      if let loss = try loss(entity.name, .gone, in: table, where: condition) { losses.append(loss) }
    }
    for property in plan.removedProperties {
      guard let owner = plan.old.entity(property.owner), let table = layout.table(of: owner.number),
        let column = table.column(of: property.number)
      else { continue }
      let isList = property.relationship?.isToMany == true
      let condition = isList ? "length(\(quoted(column.name))) > 0" : "\(quoted(column.name)) IS NOT NULL"
      let path = "\(owner.name).\(property.name)"
      if let loss = try loss(path, .gone, in: table, where: condition) { losses.append(loss) }
    }
    return losses
  }
}

extension MigrationWriter {
  /// Finds the changed values after everything is computed; the old values are in unused columns.
  func findReplaced() throws -> [MigrationLoss] {
    let finder = MigrationLossFinder(connection: connection, layout: new)
    var losses = [MigrationLoss]()
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for column in table.columns {
        guard let earlier = plan.predecessors[column.property.number].flatMap({ before.column(of: $0) }),
          let owner = plan.old.entity(earlier.property.owner), let kind = kind(of: column.property, earlier.property)
        else { continue }
        let was = quoted(TableNames.ended(old.numbers.stored(property: earlier.property.number)))
        let condition =
          "\(was) IS NOT NULL AND \(Self.differ(was, earlier.property, quoted(column.name), column.property))"
        let path = "\(owner.name).\(earlier.property.name)"
        if let loss = try finder.loss(path, kind, in: table, where: condition) { losses.append(loss) }
      }
    }
    return losses
  }

  /// Nil if every value was kept.
  private func kind(of property: Property, _ earlier: Property) -> MigrationLoss.Kind? {
    guard let attribute = property.attribute, let before = earlier.attribute, !before.isDerived else { return nil }
    switch plan.origins[property.number] {
    case .mapped, .derived: return .replaced
    case .converted: return before.kind == .integer && attribute.kind == .double ? .rounded : nil
    default: return nil
    }
  }

  /// SQLite compares an integer with a double exactly. A text and a number are compared as texts: as a number, 012
  /// would equal 12.
  private static func differ(_ was: String, _ earlier: Property, _ now: String, _ property: Property) -> String {
    func isText(_ property: Property) -> Bool { property.attribute.map { GraphValueType($0.kind) } == .string }
    guard isText(earlier) != isText(property) else { return "\(was) IS NOT \(now)" }
    return "CAST(\(was) AS TEXT) IS NOT CAST(\(now) AS TEXT)"
  }
}
