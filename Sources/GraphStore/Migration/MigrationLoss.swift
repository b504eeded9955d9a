import GRDB
import GraphModel

/// Something that the new version has no place for, or another value in its place.
public struct MigrationLoss: Sendable, Equatable {
  /// Why values or objects go; the names are for programs.
  public enum Kind: String, Sendable, CaseIterable {
    /// The new version does not have the entity or the property.
    case gone
    /// A mapping, or a derived attribute, gives something else.
    case replaced
    /// A whole number that no double holds became the nearest that one holds.
    case rounded
  }

  /// `Person`, or `Person.age`, as the old version calls it.
  public let path: String
  /// Why it goes.
  public let kind: Kind
  /// Objects, or objects whose value is not what it was.
  public let count: Int
  /// The first of them, in the order in which they were made.
  public let first: [ObjectID]

  /// So many objects of each loss are named.
  public static let maximumObjects = 3
}

/// Losses are found where both can be read: what goes before anything is changed, what is replaced when the new values
/// stand beside the old ones.
struct LossFinder {
  let connection: Connection
  let layout: StoreLayout

  /// Nil where no row is concerned.
  /// - Parameter condition: about the table's columns, by the names that they have now.
  func loss(
    _ path: String, _ kind: MigrationLoss.Kind, in table: EntityTable, where condition: String
  ) throws -> MigrationLoss? {
    let rows = "FROM \(quoted(table.name)) WHERE \(condition)"
    let count = try Int.fetchOne(connection.database, sql: "SELECT count(*) \(rows)") ?? 0
    guard count > 0 else { return nil }
    let first = try connection.statement(
      "SELECT _id, _entity \(rows) ORDER BY _row LIMIT \(MigrationLoss.maximumObjects)")
    var ids = [ObjectID]()
    while try connection.step(first) {
      ids.append(ObjectID(key: first.id(0), entity: layout.numbers.entity(first, 1)))
    }
    return MigrationLoss(path: path, kind: kind, count: count, first: ids)
  }

  /// What the new version does not have, while the store is of the old one.
  func gone(_ plan: MigrationPlan) throws -> [MigrationLoss] {
    var losses = [MigrationLoss]()
    for entity in plan.removedEntities {
      guard let table = layout.table(of: entity.number), !entity.isAbstract else { continue }
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
  /// What has another value than before, once everything is computed: old values stand in columns that nothing names.
  func findReplaced() throws -> [MigrationLoss] {
    let finder = LossFinder(connection: connection, layout: new)
    var losses = [MigrationLoss]()
    for table in new.orderedTables {
      guard let before = before(table) else { continue }
      for column in table.columns {
        guard let earlier = plan.predecessors[column.property.number].flatMap({ before.column(of: $0) }),
          let owner = plan.old.entity(earlier.property.owner), let kind = kind(of: column.property, earlier.property)
        else { continue }
        let was = quoted(StoredNames.ended(old.numbers.stored(property: earlier.property.number)))
        let condition =
          "\(was) IS NOT NULL AND \(Self.differ(was, earlier.property, quoted(column.name), column.property))"
        let path = "\(owner.name).\(earlier.property.name)"
        if let loss = try finder.loss(path, kind, in: table, where: condition) { losses.append(loss) }
      }
    }
    return losses
  }

  /// Nil where every value has gone on as it was.
  private func kind(of property: Property, _ earlier: Property) -> MigrationLoss.Kind? {
    guard let attribute = property.attribute, let before = earlier.attribute, !before.isDerived else { return nil }
    switch plan.origins[property.number] {
    case .mapped, .derived: return .replaced
    case .converted: return before.kind == .integer && attribute.kind == .double ? .rounded : nil
    default: return nil
    }
  }

  /// SQLite compares a whole number with a double exactly. A text beside a number is compared as it would be written: as a
  /// number, 012 would be 12.
  private static func differ(_ was: String, _ earlier: Property, _ now: String, _ property: Property) -> String {
    func isText(_ property: Property) -> Bool { property.attribute.map { GraphValueType($0.kind) } == .string }
    guard isText(earlier) != isText(property) else { return "\(was) IS NOT \(now)" }
    return "CAST(\(was) AS TEXT) IS NOT CAST(\(now) AS TEXT)"
  }
}
