// Tests: RandomGraphTests.swift, DeepQueriesTests.swift
import GRDB
import GRDBSQLite
import GraphModel

/// The SQL functions of a connection for operations that SQL lacks. Each calls `GraphModel`, so that SQL and the
/// evaluator agree. Only statements use them, never the schema, so any `sqlite3` can open the file.
package enum SQLFunctions {
  package static func register(on database: Database) {
    let connection = database.sqliteConnection
    registerTexts(connection)
    registerCalculations(connection)
  }

  private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY

  private static func registerTexts(_ connection: OpaquePointer?) {
    sqlite3_create_function_v2(
      connection, "graph_fold", 2, flags, nil,
      { context, _, values in
        guard case .string(let text) = SQLFunctions.value(values?[0], .string) else {
          return sqlite3_result_null(context)
        }
        let options = StringOptions(rawValue: UInt8(truncatingIfNeeded: sqlite3_value_int(values?[1])))
        SQLFunctions.setResult(.string(text.folded(options)), context)
      }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_search", 2, flags, nil,
      { SQLFunctions.search($0, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_like", 2, flags, nil,
      { context, _, values in
        guard case .string(let text) = SQLFunctions.value(values?[0], .string),
          case .string(let pattern) = SQLFunctions.value(values?[1], .string)
        else { return sqlite3_result_null(context) }
        SQLFunctions.setResult(.bool(TextSearch.like(text, pattern: pattern)), context)
      }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_contains", 2, flags, nil,
      { context, _, values in
        guard let text = SQLFunctions.bytes(values?[0]), let part = SQLFunctions.bytes(values?[1]) else {
          return sqlite3_result_null(context)
        }
        SQLFunctions.setResult(.bool(TextSearch.contains(text, part)), context)
      }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_matches", 3, flags, nil, { SQLFunctions.matches($0, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_key", 2, flags, nil,
      { context, _, values in
        guard case .string(let text) = SQLFunctions.value(values?[0], .string),
          let collation = SQLFunctions.value(values?[1], .string).stringValue.flatMap(Collation.init(rawValue:))
        else { return sqlite3_result_null(context) }
        SQLFunctions.setResult(.data(collation.key(text)), context)
      }, nil, nil, nil)
  }

  private static func registerCalculations(_ connection: OpaquePointer?) {
    sqlite3_create_function_v2(
      connection, "graph_call", -1, flags, nil, { SQLFunctions.call($0, $1, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_run", -1, flags, nil, { SQLFunctions.run($0, $1, $2) }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_calculate", 3, flags, nil,
      { context, _, values in
        guard case .string(let sign) = SQLFunctions.value(values?[0], .string),
          let operation = ArithmeticOperator(rawValue: sign)
        else { return sqlite3_result_null(context) }
        SQLFunctions.setResult(
          operation.apply(SQLFunctions.value(values?[1], .decimal), SQLFunctions.value(values?[2], .decimal)), context)
      }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_date", 1, flags, nil,
      { context, _, values in
        guard sqlite3_value_type(values?[0]) == SQLITE_INTEGER else { return sqlite3_result_null(context) }
        let time = sqlite3_value_int64(values?[0])
        if RFC3339.range.contains(time) { sqlite3_result_int64(context, time) } else { sqlite3_result_null(context) }
      }, nil, nil, nil)
    sqlite3_create_function_v2(
      connection, "graph_sum", 2, flags, nil, nil, { SQLFunctions.collect($0, $2) },
      { SQLFunctions.finish($0, .sum) }, nil)
    sqlite3_create_function_v2(
      connection, "graph_avg", 2, flags, nil, nil, { SQLFunctions.collect($0, $2) },
      { SQLFunctions.finish($0, .average) }, nil)
  }

  // MARK: - Functions with cached state

  /// A pattern, parsed once per statement: SQLite keeps it with its constant argument.
  private final class Pattern {
    let expression: RegularExpression?

    init(_ text: String, _ options: StringOptions) {
      expression = RegularExpression.prepare(text, options: options)
    }
  }

  private static func matches(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    guard case .string(let text) = value(values?[0], .string), case .string(let source) = value(values?[1], .string)
    else { return sqlite3_result_null(context) }
    let pattern: Pattern
    if let known = sqlite3_get_auxdata(context, 1) {
      pattern = Unmanaged<Pattern>.fromOpaque(known).takeUnretainedValue()
    } else {
      pattern = Pattern(source, StringOptions(rawValue: UInt8(truncatingIfNeeded: sqlite3_value_int(values?[2]))))
      sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(pattern).toOpaque()) { pointer in
        if let pointer { Unmanaged<Pattern>.fromOpaque(pointer).release() }
      }
    }
    setResult(.bool(pattern.expression?.matchesWhole(text) == true), context)
  }

  /// The words of a search, prepared once per statement.
  private final class Search {
    let words: SearchTermMatcher

    init(_ text: String) { words = SearchTermMatcher(text.words) }
  }

  private static func search(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    guard case .string(let text) = value(values?[0], .string), case .string(let operand) = value(values?[1], .string)
    else { return sqlite3_result_int(context, 0) }
    let search: Search
    if let known = sqlite3_get_auxdata(context, 1) {
      search = Unmanaged<Search>.fromOpaque(known).takeUnretainedValue()
    } else {
      search = Search(operand)
      sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(search).toOpaque()) { pointer in
        if let pointer { Unmanaged<Search>.fromOpaque(pointer).release() }
      }
    }
    sqlite3_result_int(context, search.words.matches(text) ? 1 : 0)
  }

  private static func call(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard count >= 2, let name = value(values?[0], .string).stringValue, let function = GraphFunction(rawValue: name),
      let letters = value(values?[1], .string).stringValue, letters.utf8.count == Int(count) - 2
    else { return sqlite3_result_null(context) }
    var arguments = [Value]()
    for (index, letter) in letters.enumerated() {
      arguments.append(value(values?[index + 2], GraphValueType(letter: letter)))
    }
    setResult(function.apply(arguments), context)
  }

  /// A program, decoded once per statement.
  private final class Program {
    let calculation: ExpressionBytecode?

    init(_ bytes: [UInt8]) { calculation = try? ExpressionBytecode(program: bytes) }
  }

  private static func run(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard count >= 1 else { return sqlite3_result_null(context) }
    let program: Program
    if let known = sqlite3_get_auxdata(context, 0) {
      program = Unmanaged<Program>.fromOpaque(known).takeUnretainedValue()
    } else {
      guard case .data(let bytes) = value(values?[0], .data) else { return sqlite3_result_null(context) }
      program = Program(bytes)
      sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(program).toOpaque()) { pointer in
        if let pointer { Unmanaged<Program>.fromOpaque(pointer).release() }
      }
    }
    guard let calculation = program.calculation else {
      return sqlite3_result_error(context, "graph_run was given no program", -1)
    }
    setResult(
      calculation.value { place, type in place < Int(count) - 1 ? value(values?[place + 1], type) : .null }, context)
  }

  /// The values of one group, referenced from SQLite's memory for the aggregate.
  private final class Group {
    var values = [Value]()
    let type: GraphValueType

    init(_ type: GraphValueType) { self.type = type }
  }

  private static func collect(_ context: OpaquePointer?, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let place = sqlite3_aggregate_context(context, Int32(MemoryLayout<UnsafeRawPointer?>.size)) else {
      return sqlite3_result_error_nomem(context)
    }
    let slot = place.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    let group: Group
    if let known = slot.pointee {
      group = Unmanaged<Group>.fromOpaque(known).takeUnretainedValue()
    } else {
      guard let letter = value(values?[1], .string).stringValue?.first else {
        return sqlite3_result_error(context, "an aggregate was given no type", -1)
      }
      group = Group(GraphValueType(letter: letter))
      slot.pointee = Unmanaged.passRetained(group).toOpaque()
    }
    group.values.append(value(values?[0], group.type))
  }

  private static func finish(_ context: OpaquePointer?, _ aggregate: GraphPredicate.Aggregate) {
    guard let place = sqlite3_aggregate_context(context, 0) else { return sqlite3_result_null(context) }
    let slot = place.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    guard let known = slot.pointee else { return sqlite3_result_null(context) }
    let group = Unmanaged<Group>.fromOpaque(known).takeRetainedValue()
    slot.pointee = nil
    setResult(aggregate.value(of: group.values, type: group.type), context)
  }

  // MARK: - Values

  package static func value(_ pointer: OpaquePointer?, _ type: GraphValueType) -> Value {
    let stored = sqlite3_value_type(pointer)
    if stored == SQLITE_NULL { return .null }
    func bytes() -> [UInt8] {
      guard let start = sqlite3_value_blob(pointer) else { return [] }
      return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer))))
    }
    // SQL can produce a negative zero, which the evaluator never has.
    func double() -> Value {
      let number = sqlite3_value_double(pointer)
      return .double(number == 0 ? 0 : number)
    }
    switch type {
    case .bool: return .bool(sqlite3_value_int64(pointer) != 0)
    // An integer sum that overflowed is a double.
    case .integer, .duration:
      return stored == SQLITE_FLOAT ? double() : .integer(sqlite3_value_int64(pointer))
    case .double: return double()
    case .date: return .date(sqlite3_value_int64(pointer))
    case .decimal: return .decimal(stored: bytes())
    case .string:
      guard let start = sqlite3_value_text(pointer) else { return .null }
      let count = Int(sqlite3_value_bytes(pointer))
      return .string(String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
    case .uuid: return if let id = UniqueID(bytes: bytes()) { .uuid(id) } else { .null }
    case .data: return .data(bytes())
    case .null, .object: return .null
    }
  }

  /// The bytes of a text in SQLite's memory; nil for null.
  private static func bytes(_ pointer: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    guard let start = sqlite3_value_text(pointer) else { return nil }
    return UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(pointer)))
  }

  /// Sets the function's result, or an interrupt error if its work was cancelled.
  package static func setResult(_ value: Value, _ context: OpaquePointer?) {
    if Cancellation.isCancelled { return sqlite3_result_error_code(context, SQLITE_INTERRUPT) }
    func blob(_ bytes: [UInt8]) {
      if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
      bytes.withUnsafeBytes { sqlite3_result_blob(context, $0.baseAddress, Int32($0.count), Row.transient) }
    }
    switch value {
    case .null, .object, .objects: sqlite3_result_null(context)
    case .bool(let flag): sqlite3_result_int(context, flag ? 1 : 0)
    case .integer(let number), .date(let number): sqlite3_result_int64(context, number)
    case .double(let number): sqlite3_result_double(context, number)
    case .decimal(let number): blob(number.orderedBytes)
    case .uuid(let id): blob(id.bytes)
    case .data(let bytes): blob(bytes)
    case .string(var text):
      text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) {
          sqlite3_result_text(context, $0.baseAddress, Int32($0.count), Row.transient)
        }
      }
    }
  }
}

extension GraphValueType {
  /// The type code that statements pass to functions. SQLite has fewer types: it stores a date as an integer.
  package var letter: String { String(Unicode.Scalar(code)) }

  /// The letter in ASCII.
  var code: UInt8 {
    switch self {
    case .null: UInt8(ascii: "n")
    case .bool: UInt8(ascii: "b")
    case .integer: UInt8(ascii: "i")
    case .double: UInt8(ascii: "f")
    case .decimal: UInt8(ascii: "d")
    case .string: UInt8(ascii: "s")
    case .date: UInt8(ascii: "t")
    case .duration: UInt8(ascii: "p")
    case .uuid: UInt8(ascii: "u")
    case .data: UInt8(ascii: "x")
    case .object: UInt8(ascii: "o")
    }
  }

  package init(letter: Character) {
    self =
      switch letter {
      case "b": .bool
      case "i": .integer
      case "f": .double
      case "d": .decimal
      case "s": .string
      case "t": .date
      case "p": .duration
      case "u": .uuid
      case "x": .data
      default: .null
      }
  }
}
