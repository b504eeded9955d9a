import GraphModel

/// Attributes that have another type in the store than in the model.
extension StoreLayout {
  /// The type of a column whose values are converted as a migration converts them; nil if they need no conversion, or
  /// there is none.
  mutating func convertedType(_ property: Property, _ attribute: Attribute, _ column: Int, _ table: Int) throws
    -> Attribute.Kind?
  {
    guard let kind = kind(of: column, table), AttributeConversion.converts(kind, to: attribute.kind) else { return nil }
    let rows = try file.database.statement(
      "SELECT 1 FROM \(quoted(table)) WHERE \(StoreDatabase.quoted(file.tables[table].columns[column])) IS NOT NULL LIMIT 1"
    )
    if try rows.step() {
      let fractions = [.double, .decimal].contains(kind) ? "; fractions are dropped" : ""
      remark(
        name(property),
        "the store has \(kind.article), and the model \(attribute.kind.article): its values are converted as a migration "
          + "converts them" + (attribute.kind == .integer ? fractions : ""), 0)
    }
    return kind
  }

  /// The type of a column's values. Columns of booleans and UUIDs are declared like those of integers and bytes, so
  /// that only the model in the store distinguishes them.
  private func kind(of column: Int, _ table: Int) -> Attribute.Kind? {
    let name = file.tables[table].columns[column]
    let entities = file.entities.filter { $0.table == table }.compactMap { file.model?.entity($0.name) }
    let types = Set(entities.flatMap(\.attributes).filter { "Z" + $0.name.uppercased() == name }.map(\.type))
    switch file.tables[table].types[column].uppercased() {
    case "INTEGER": return types == [800] ? .bool : .integer
    case "FLOAT": return .double
    case "DECIMAL": return .decimal
    case "VARCHAR": return .string
    case "TIMESTAMP": return .date
    case "BLOB": return types == [1100] ? .uuid : nil
    default: return nil
    }
  }
}
