// Tests: UniqueKeysTests.swift
import GraphModel

/// The statements that look up objects by unique key, one for each constraint of an entity.
final class KeyStatements {
  private struct Key: Hashable {
    let entity: EntityNumber
    let constraint: [PropertyNumber]
  }

  private var known = [Key: SQL]()
  /// The last statement, because consecutive inserts are mostly of one entity.
  private var last: (key: Key, sql: SQL)?

  /// Returns a statement that finds id and entity by a constraint's values; nil if the entity lacks the properties.
  func lookup(_ constraint: [PropertyNumber], of entity: Entity, in layout: StoreLayout) -> SQL? {
    let key = Key(entity: entity.number, constraint: constraint)
    if let last, last.key == key { return last.sql }
    guard let sql = known[key] ?? Self.sql(constraint, entity, layout) else { return nil }
    known[key] = sql
    last = (key, sql)
    return sql
  }

  private static func sql(_ constraint: [PropertyNumber], _ entity: Entity, _ layout: StoreLayout) -> SQL? {
    guard let table = layout.table(of: entity.number) else { return nil }
    let columns = constraint.compactMap { table.column(of: $0) }
    guard columns.count == constraint.count else { return nil }
    assert(!columns.isEmpty)
    let conditions = columns.map { "\(quoted($0.name)) = ?" }.joined(separator: " AND ")
    let family = entity.number == entity.root ? "" : " AND _entity IN (\(layout.numbers.family(of: entity)))"
    return SQL("SELECT _id, _entity FROM \(quoted(table.name)) WHERE \(conditions)\(family)")
  }
}
