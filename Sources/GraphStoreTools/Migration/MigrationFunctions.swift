// Tests: MigrationTests.swift, MigrationLossTests.swift
import GRDB
import GRDBSQLite
import GraphModel
import GraphStore

/// The functions that a migration's statements use. `graph_convert` and `graph_settle` convert a value to a property
/// of the new version, `graph_member` makes a list of one id.
enum MigrationFunctions {
  private final class ConversionContext {
    let plan: MigrationPlan

    init(_ plan: MigrationPlan) { self.plan = plan }
  }

  static func register(on database: Database, _ plan: MigrationPlan) {
    let connection = database.sqliteConnection
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    func add(
      _ name: String, _ count: Int32,
      _ body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) {
      // Each function has a reference of its own, which SQLite releases with the function.
      sqlite3_create_function_v2(
        connection, name, count, flags, Unmanaged.passRetained(ConversionContext(plan)).toOpaque(), body, nil, nil
      ) { pointer in
        if let pointer { Unmanaged<ConversionContext>.fromOpaque(pointer).release() }
      }
    }
    add("graph_convert", 2) { context, _, values in
      guard let plan = MigrationFunctions.plan(context),
        let property = plan.new.property(UInt32(truncatingIfNeeded: sqlite3_value_int64(values?[0]))),
        case .converted(let number)? = plan.origins[property.number], let old = plan.old.property(number),
        let kind = old.attribute?.kind
      else { return sqlite3_result_null(context) }
      let value = SQLFunctions.value(values?[1], GraphValueType(kind))
      SQLFunctions.setResult(property.converted(value, of: old), context)
    }
    add("graph_settle", 3) { context, _, values in
      guard let plan = MigrationFunctions.plan(context),
        let attribute = plan.new.property(UInt32(truncatingIfNeeded: sqlite3_value_int64(values?[0])))?.attribute,
        let letter = SQLFunctions.value(values?[1], .string).stringValue?.first
      else { return sqlite3_result_null(context) }
      let value = SQLFunctions.value(values?[2], GraphValueType(letter: letter))
      SQLFunctions.setResult(attribute.converted(value), context)
    }
    add("graph_member", 2) { context, _, values in
      guard case .uuid(let key) = SQLFunctions.value(values?[0], .uuid) else { return sqlite3_result_null(context) }
      let entity = EntityNumber(truncatingIfNeeded: sqlite3_value_int64(values?[1]))
      SQLFunctions.setResult(.data(GraphStore.Row.packed([ObjectID(key: key, entity: entity)])), context)
    }
  }

  private static func plan(_ context: OpaquePointer?) -> MigrationPlan? {
    sqlite3_user_data(context).map { Unmanaged<ConversionContext>.fromOpaque($0).takeUnretainedValue().plan }
  }
}

extension GraphValueType {
  /// The SQL type of an attribute's values.
  init(_ kind: Attribute.Kind) {
    self =
      switch kind {
      case .bool: .bool
      case .integer: .integer
      case .double: .double
      case .decimal: .decimal
      case .string, .text, .uri, .enumeration, .json: .string
      case .date: .date
      case .uuid: .uuid
      case .data: .data
      }
  }
}
