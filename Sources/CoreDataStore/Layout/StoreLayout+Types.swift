import GraphModel

/// Attributes that have another type in the store than in the model.
extension StoreLayout {
  /// Whether the values of a column are those of an attribute, also if a migration would convert them.
  enum ColumnType {
    case same
    /// Another type, whose values are converted.
    case converted(Attribute.Kind)
    /// Another type, whose values no migration converts.
    case unrelated
  }

  /// How the values of a column are taken. A remark reports another type.
  mutating func columnType(_ property: Property, _ attribute: Attribute, _ column: Int, _ table: Int) throws
    -> ColumnType
  {
    let kinds = kinds(of: column, table)
    guard let kind = kinds.first, !kinds.contains(attribute.kind) else { return .same }
    let count = try valueCount(column, table)
    guard AttributeConversion.converts(kind, to: attribute.kind) else {
      if count > 0 {
        remark(
          name(property),
          "the store has \(kind.article), and the model \(attribute.kind.article): a migration does not convert such "
            + "values, so they are not taken", count)
      }
      return .unrelated
    }
    if count > 0 {
      let fractions = [.double, .decimal].contains(kind) ? "; fractions are dropped" : ""
      remark(
        name(property),
        "the store has \(kind.article), and the model \(attribute.kind.article): its values are converted as a migration "
          + "converts them" + (attribute.kind == .integer ? fractions : ""), 0)
    }
    return .converted(kind)
  }

  /// The number of rows that have a value in a column.
  func valueCount(_ column: Int, _ table: Int) throws -> Int {
    let rows = try file.database.statement(
      "SELECT count(*) FROM \(quoted(table)) WHERE "
        + "typeof(\(StoreDatabase.quoted(file.tables[table].columns[column]))) <> 'null'")
    guard try rows.step(), case .integer(let count) = rows.value(0) else { return 0 }
    return Int(count)
  }

  /// The types that the values of a column can have, the usual one first; none if the type is not known. Columns of
  /// booleans and UUIDs are declared like those of integers and bytes, so that only the model in the store
  /// distinguishes them.
  private func kinds(of column: Int, _ table: Int) -> [Attribute.Kind] {
    let name = file.tables[table].columns[column]
    let entities = file.entities.filter { $0.table == table }.compactMap { file.model?.entity($0.name) }
    let types = Set(entities.flatMap(\.attributes).filter { "Z" + $0.name.uppercased() == name }.map(\.type))
    switch file.tables[table].types[column].uppercased() {
    case "INTEGER":
      if types == [800] { return [.bool] }
      // Siblings may have different types.
      return types.isEmpty || types.contains(800) ? [.integer, .bool] : [.integer]
    case "FLOAT", "DOUBLE": return [.double]
    case "DECIMAL": return [.decimal]
    case "VARCHAR": return [.string, .text, .uri, .enumeration]
    case "TIMESTAMP": return [.date]
    case "BLOB":
      return types == [1100] ? [.uuid] : [.data, .uuid]
    default: return []
    }
  }
}
