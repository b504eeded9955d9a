/// A compiled pattern, whose instructions contain their successors, so that there are no jumps. It is compiled from
/// the end, as the instructions after a part must exist before it.
struct RegularExpressionProgram: Sendable {
  /// An index in `instructions`; 16 bits are enough for the limit.
  typealias InstructionIndex = UInt16

  enum Instruction: Hashable, Sendable {
    case match
    /// The scalar must pass the test with this index.
    case test(Int, next: InstructionIndex)
    case assertion(RegularExpressionTree.Assertion, next: InstructionIndex)
    case split(InstructionIndex, InstructionIndex)
  }

  enum Test: Hashable, Sendable {
    case scalar(UInt32)
    case set(ScalarSet)

    func passes(_ value: UInt32) -> Bool {
      switch self {
      case .scalar(let scalar): scalar == value
      case .set(let set): set.contains(value)
      }
    }
  }

  private(set) var instructions: [Instruction] = [.match]
  /// The distinct tests.
  private(set) var tests = [Test]()
  private(set) var start: InstructionIndex = 0
  /// Whether ASCII capitals are matched as lowercase.
  let folds: Bool
  private(set) var usesWords = false
  private(set) var usesBeginning = false

  init(_ tree: RegularExpressionTree, folds: Bool) {
    self.folds = folds
    var numbers = [Test: Int]()
    start = add(tree, before: 0, &numbers)
    assert(Int(start) < instructions.count && numbers.count == tests.count, "the program is complete")
  }

  private mutating func add(
    _ tree: RegularExpressionTree, before next: InstructionIndex, _ numbers: inout [Test: Int]
  ) -> InstructionIndex {
    switch tree {
    case .scalar(let scalar): return append(.test(number(.scalar(scalar.value), &numbers), next: next))
    case .set(let set): return append(.test(number(.set(set), &numbers), next: next))
    case .assertion(let assertion):
      switch assertion {
      case .beginning: usesBeginning = true
      case .end: break
      case .wordBoundary, .noWordBoundary: usesWords = true
      }
      return append(.assertion(assertion, next: next))
    case .sequence(let parts):
      var next = next
      for part in parts.reversed() { next = add(part, before: next, &numbers) }
      return next
    case .alternation(let parts):
      var entry: InstructionIndex?
      for part in parts.reversed() {
        let place = add(part, before: next, &numbers)
        entry = entry.map { append(.split(place, $0)) } ?? place
      }
      return entry ?? next
    case .repetition(let part, let minimum, let maximum):
      return add(part, minimum, maximum, before: next, &numbers)
    }
  }

  private mutating func add(
    _ part: RegularExpressionTree, _ minimum: Int, _ maximum: Int?, before next: InstructionIndex,
    _ numbers: inout [Test: Int]
  ) -> InstructionIndex {
    var entry = next
    var copies = minimum
    precondition(minimum >= 0 && (maximum ?? minimum) >= minimum, "a repetition has a range")
    if let maximum {
      for _ in minimum..<maximum { entry = append(.split(add(part, before: entry, &numbers), next)) }
    } else {
      let loop = append(.split(next, next))
      let body = add(part, before: loop, &numbers)
      instructions[Int(loop)] = .split(body, next)
      // The loop's own body is the last of the required copies.
      entry = minimum == 0 ? loop : body
      copies -= 1
    }
    while copies > 0 {
      entry = add(part, before: entry, &numbers)
      copies -= 1
    }
    return entry
  }

  private mutating func append(_ instruction: Instruction) -> InstructionIndex {
    precondition(instructions.count < Int(InstructionIndex.max), "the parser bounds the program")
    instructions.append(instruction)
    return InstructionIndex(instructions.count - 1)
  }

  private mutating func number(_ test: Test, _ numbers: inout [Test: Int]) -> Int {
    if let number = numbers[test] { return number }
    numbers[test] = tests.count
    tests.append(test)
    return tests.count - 1
  }
}
