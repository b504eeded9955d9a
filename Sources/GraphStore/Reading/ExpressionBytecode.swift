// Tests: RandomGraphTests.swift, DeepQueriesTests.swift
import GraphModel

/// A calculation of many steps as one call of `graph_run`.
///
/// The stack of SQLite's parser has a hundred entries, and a nested call takes five of them, so calls can be nested
/// about fifteen deep. Here only the values read from the row are SQL; the steps are a program in a parameter, in
/// postfix order, which the function executes with a stack. It calls the functions of the in-memory evaluator, so
/// both give the same results.
struct ExpressionBytecode {
  private enum Step {
    /// Pushes the argument at an index, as a type.
    case read(Int, GraphValueType)
    case constant(Value)
    case arithmetic(ArithmeticOperator)
    /// Applies a function to the given number of operands.
    case function(GraphFunction, Int)
  }

  /// The maximum number of row values in a call, because SQLite allows 127 arguments. A calculation with more reads
  /// becomes several nested calls.
  static let maximumReads = 100

  private let steps: [Step]

  /// Executes the program.
  /// - Parameter read: returns the row's value at an index, as a type.
  func value(_ read: (Int, GraphValueType) -> Value) -> Value {
    var stack = [Value]()
    for step in steps {
      switch step {
      case .read(let place, let type): stack.append(read(place, type))
      case .constant(let value): stack.append(value)
      case .arithmetic(let operation):
        let right = stack.removeLast()
        let left = stack.removeLast()
        stack.append(operation.apply(left, right))
      case .function(let function, let count):
        let value = function.apply(Array(stack.suffix(count)))
        stack.removeLast(count)
        stack.append(value)
      }
    }
    assert(stack.count == 1)
    return stack.removeLast()
  }

  // MARK: - The program

  private enum Field {
    static let read = 1
    static let constant = 2
    static let arithmetic = 3
    static let count = 4
    static let function = 5
  }

  /// Decodes a program encoded by `Program`.
  /// - Throws: `MalformedMessage` also if a step lacks operands, or if the program does not leave one value.
  init(program: [UInt8]) throws(MalformedMessage) {
    var reader = BinaryReader(program)
    var steps = [Step]()
    var count = 0
    var depth = 0
    func pop(_ operands: Int) throws(MalformedMessage) {
      guard operands >= 0, operands <= depth else {
        throw MalformedMessage("a step has \(depth) of \(operands) operands")
      }
      depth += 1 - operands
    }
    while let (number, field) = try reader.next() {
      switch number {
      case Field.read:
        let place = try field.unsigned()
        let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: place)))
        steps.append(.read(Int(truncatingIfNeeded: place >> 8), GraphValueType(letter: letter)))
        try pop(0)
      case Field.constant:
        steps.append(.constant(try field.form()))
        try pop(0)
      case Field.arithmetic:
        let sign = String(Character(Unicode.Scalar(UInt8(truncatingIfNeeded: try field.unsigned()))))
        guard let operation = ArithmeticOperator(rawValue: sign) else { throw MalformedMessage("no operator \(sign)") }
        steps.append(.arithmetic(operation))
        try pop(2)
      case Field.count: count = try field.count()
      case Field.function:
        let name = try field.string()
        guard let function = GraphFunction(rawValue: name) else { throw MalformedMessage("no function \(name)") }
        steps.append(.function(function, count))
        try pop(count)
      default: throw MalformedMessage("no step \(number)")
      }
    }
    guard depth == 1 else { throw MalformedMessage("a program leaves \(depth) values") }
    self.steps = steps
  }

  /// A program under construction, with the SQL of the values that it reads.
  struct Program {
    private var writer = BinaryWriter()
    private(set) var reads = [String]()

    var bytes: [UInt8] { writer.bytes }

    /// - Parameter sql: an expression for the value in its stored form; an object is its id.
    mutating func read(_ sql: String, _ type: GraphValueType) {
      // Functions only test whether an object exists, so its id is passed as bytes.
      let type = if case .object = type { GraphValueType.data } else { type }
      writer.field(Field.read, UInt64(reads.count) << 8 | UInt64(type.code), always: true)
      reads.append(sql)
    }

    mutating func constant(_ value: Value) {
      if case .object(let id) = value { return constant(.data(id.key.bytes)) }
      writer.field(Field.constant, value)
    }

    mutating func arithmetic(_ operation: ArithmeticOperator) {
      writer.field(Field.arithmetic, UInt64(operation.code), always: true)
    }

    mutating func function(_ function: GraphFunction, of count: Int) {
      writer.field(Field.count, UInt64(count), always: true)
      writer.field(Field.function, function.rawValue)
    }
  }
}

extension ArithmeticOperator {
  /// The operator's sign in ASCII.
  fileprivate var code: UInt8 {
    switch self {
    case .add: UInt8(ascii: "+")
    case .subtract: UInt8(ascii: "-")
    case .multiply: UInt8(ascii: "*")
    case .divide: UInt8(ascii: "/")
    }
  }
}

// MARK: - As SQL

extension PredicateSQL {
  /// Returns the calculation as one call; nil if a value that it reads can't be expressed in SQL.
  mutating func call(_ expression: GraphExpression) -> String? {
    var program = ExpressionBytecode.Program()
    return append(expression, to: &program) ? call(program) : nil
  }

  private mutating func call(_ program: ExpressionBytecode.Program) -> String {
    "graph_run(" + ([argument(.data(program.bytes))] + program.reads).joined(separator: ", ") + ")"
  }

  /// Appends the steps that push the expression's value.
  /// - Returns: false if a value can't be expressed in SQL, or if one function reads more values than a call takes.
  private mutating func append(_ expression: GraphExpression, to program: inout ExpressionBytecode.Program) -> Bool {
    let parts: [GraphExpression]
    switch expression {
    case .value(let value):
      program.constant(value)
      return true
    // A bound `now()` is a constant; an unbound one is null.
    case .function(.now, _):
      program.constant(.null)
      return true
    case .arithmetic(_, _, let left, let right): parts = [left, right]
    case .function(_, let arguments): parts = arguments
    case .list, .expressions, .variable, .path, .subquery:
      guard let sql = value(expression) else { return false }
      program.read(sql, expression.type(in: model))
      return true
    }
    let (reads, apart) = GraphExpression.reads(of: parts)
    guard reads <= ExpressionBytecode.maximumReads else { return false }
    for (place, part) in parts.enumerated() {
      if apart.contains(place) {
        guard let sql = call(part) else { return false }
        program.read(sql, part.type(in: model))
      } else if !append(part, to: &program) {
        return false
      }
    }
    switch expression {
    case .arithmetic(let operation, _, _, _): program.arithmetic(operation)
    case .function(let function, let arguments): program.function(function, of: arguments.count)
    default: break
    }
    return true
  }
}

extension GraphExpression {
  /// The number of row values in the call for the expression.
  private var reads: Int {
    switch self {
    case .value, .function(.now, _): 0
    case .list, .expressions, .variable, .path, .subquery: 1
    case .arithmetic(_, _, let left, let right): Self.reads(of: [left, right]).count
    case .function(_, let arguments): Self.reads(of: arguments).count
    }
  }

  /// The number of row values in the call for these operands, and the operands that become nested calls.
  ///
  /// Each nested call is a single value. The largest operands are nested, as many as necessary.
  fileprivate static func reads(of parts: [GraphExpression]) -> (count: Int, apart: Set<Int>) {
    var counts = parts.map(\.reads)
    var sum = counts.reduce(0, +)
    var apart = Set<Int>()
    while sum > ExpressionBytecode.maximumReads, let place = counts.indices.max(by: { counts[$0] < counts[$1] }),
      counts[place] > 1
    {
      apart.insert(place)
      sum -= counts[place] - 1
      counts[place] = 1
    }
    return (sum, apart)
  }
}
