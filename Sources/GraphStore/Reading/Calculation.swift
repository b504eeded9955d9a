import GraphModel

/// A calculation of many steps as one call of `graph_run`: SQLite's parser holds a hundred things at once, and a call
/// inside a call takes five of them, so calls that lie in each other end at some fifteen. Here only what the calculation
/// reads of the row is SQL; the steps are a program in a parameter, operands before their operator, which the function
/// goes through with a stack. It asks the functions that the evaluator asks, so both have one meaning.
struct Calculation {
  private enum Step {
    /// Pushes what the call was given at a place, which is of a type.
    case read(Int, GraphValueType)
    case constant(Value)
    case arithmetic(ArithmeticOperator)
    /// Of so many operands.
    case function(GraphFunction, Int)
  }

  /// A call has at most this many values of the row: SQLite takes 127 arguments. A calculation that reads more is
  /// several calls in each other.
  static let maximumReads = 100

  private let steps: [Step]

  /// The calculation's value.
  /// - Parameter read: the row's value at a place, as this type.
  func value(_ read: (Int, GraphValueType) -> Value) -> Value {
    var stack = [Value]()
    for step in steps {
      switch step {
      case .read(let place, let type): stack.append(read(place, type))
      case .constant(let value): stack.append(value)
      case .arithmetic(let operation):
        guard let right = stack.popLast(), let left = stack.popLast() else { return .null }
        stack.append(operation.apply(left, right))
      case .function(let function, let count):
        guard count <= stack.count else { return .null }
        let value = function.apply(Array(stack.suffix(count)))
        stack.removeLast(count)
        stack.append(value)
      }
    }
    return stack.popLast() ?? .null
  }

  // MARK: - The program

  private enum Field {
    static let read = 1
    static let constant = 2
    static let arithmetic = 3
    static let count = 4
    static let function = 5
  }

  /// Reads what a `Program` has written.
  init(program: [UInt8]) throws(MalformedMessage) {
    var reader = BinaryReader(program)
    var steps = [Step]()
    var count = 0
    while let (number, field) = try reader.next() {
      switch number {
      case Field.read:
        let place = try field.unsigned()
        let letter = Character(Unicode.Scalar(UInt8(truncatingIfNeeded: place)))
        steps.append(.read(Int(truncatingIfNeeded: place >> 8), GraphValueType(letter: letter)))
      case Field.constant: steps.append(.constant(try field.form()))
      case Field.arithmetic:
        let sign = String(Character(Unicode.Scalar(UInt8(truncatingIfNeeded: try field.unsigned()))))
        guard let operation = ArithmeticOperator(rawValue: sign) else { throw MalformedMessage("no operator \(sign)") }
        steps.append(.arithmetic(operation))
      case Field.count: count = try field.count()
      case Field.function:
        let name = try field.string()
        guard let function = GraphFunction(rawValue: name) else { throw MalformedMessage("no function \(name)") }
        steps.append(.function(function, count))
      default: throw MalformedMessage("no step \(number)")
      }
    }
    self.steps = steps
  }

  /// A program that is being written, with the SQL of what it reads.
  struct Program {
    private var writer = BinaryWriter()
    private(set) var reads = [String]()

    var bytes: [UInt8] { writer.bytes }

    /// - Parameter sql: has the value in its stored form; an object is its id.
    mutating func read(_ sql: String, _ type: GraphValueType) {
      // Of an object no function asks more than whether it is there: its id is bytes.
      let type = if case .object = type { GraphValueType.data } else { type }
      let letter = type.letter.utf8.first ?? 0
      writer.field(Field.read, UInt64(reads.count) << 8 | UInt64(letter), always: true)
      reads.append(sql)
    }

    mutating func constant(_ value: Value) {
      if case .object(let id) = value { return constant(.data(id.key.bytes)) }
      writer.field(Field.constant, value)
    }

    mutating func arithmetic(_ operation: ArithmeticOperator) {
      writer.field(Field.arithmetic, UInt64(operation.rawValue.utf8.first ?? 0), always: true)
    }

    mutating func function(_ function: GraphFunction, of count: Int) {
      writer.field(Field.count, UInt64(count), always: true)
      writer.field(Field.function, function.rawValue)
    }
  }
}

// MARK: - As SQL

extension PredicateSQL {
  /// The expression, which is calculated, as one call; nil when SQL can't say what it reads.
  mutating func call(_ expression: GraphExpression) -> String? {
    var program = Calculation.Program()
    return append(expression, to: &program) ? call(program) : nil
  }

  private mutating func call(_ program: Calculation.Program) -> String {
    "graph_run(" + ([argument(.data(program.bytes))] + program.reads).joined(separator: ", ") + ")"
  }

  /// Appends what leaves the expression's value on the stack.
  /// - Returns: false when SQL can't say what it reads, or one function reads more than a call takes.
  private mutating func append(_ expression: GraphExpression, to program: inout Calculation.Program) -> Bool {
    let parts: [GraphExpression]
    switch expression {
    case .value(let value):
      program.constant(value)
      return true
    // What was bound is a constant; what was not is null.
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
    guard reads <= Calculation.maximumReads else { return false }
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
  /// How many values of a row the call for it is given.
  private var reads: Int {
    switch self {
    case .value, .function(.now, _): 0
    case .list, .expressions, .variable, .path, .subquery: 1
    case .arithmetic(_, _, let left, let right): Self.reads(of: [left, right]).count
    case .function(_, let arguments): Self.reads(of: arguments).count
    }
  }

  /// How many values of a row the call for these operands is given, and which of them are calls of their own, which give
  /// it one: as many of the largest as it takes.
  fileprivate static func reads(of parts: [GraphExpression]) -> (count: Int, apart: Set<Int>) {
    var counts = parts.map(\.reads)
    var sum = counts.reduce(0, +)
    var apart = Set<Int>()
    while sum > Calculation.maximumReads, let place = counts.indices.max(by: { counts[$0] < counts[$1] }),
      counts[place] > 1
    {
      apart.insert(place)
      sum -= counts[place] - 1
      counts[place] = 1
    }
    return (sum, apart)
  }
}
