/// Follows all paths through a program at once. Between two scalars of the text it has the set of active threads,
/// without duplicates, so that a scalar costs at most two steps per instruction. For a yes-or-no answer the order of
/// paths is irrelevant.
struct RegularExpressionSimulation {
  typealias InstructionIndex = RegularExpressionProgram.InstructionIndex

  /// The kind of character before the current position, if the program depends on it.
  enum PrecedingContext: UInt8, Hashable, Sendable {
    case beginning, word, other
  }

  private let program: RegularExpressionProgram
  private let isAnywhere: Bool
  /// The threads that wait for the next scalar, before splits and assertions are followed, because those depend on it.
  private(set) var threads = [InstructionIndex]()
  private(set) var before = PrecedingContext.other
  /// The work done: instructions followed and scalars tested.
  private(set) var steps = 0

  /// Scratch memory: the round in which a thread was last visited, and the threads to visit.
  private var expandedRound: [UInt32]
  private var addedRound: [UInt32]
  private var round: UInt32 = 0
  private var pending = [InstructionIndex]()
  private var tests = [(test: Int, next: InstructionIndex)]()

  /// - Parameter isAnywhere: whether a match may begin and end anywhere.
  init(_ program: RegularExpressionProgram, isAnywhere: Bool) {
    self.program = program
    self.isAnywhere = isAnywhere
    expandedRound = Array(repeating: 0, count: program.instructions.count)
    addedRound = expandedRound
    threads = [program.start]
    before = program.usesBeginning || program.usesWords ? .beginning : .other
  }

  mutating func resume(_ threads: [InstructionIndex], _ before: PrecedingContext) {
    assert(threads.allSatisfy { Int($0) < program.instructions.count }, "the threads are in the program")
    self.threads = threads
    self.before = before
  }

  /// Consumes a scalar. True if a match is complete before it, regardless of what follows.
  mutating func advance(_ value: UInt32) -> Bool {
    let isWord = program.usesWords && Unicode.Scalar(value).map { ScalarProperty.word.holds(for: $0) } == true
    if followEmptyTransitions(nextIsWord: isWord, atEnd: false), isAnywhere { return true }
    threads.removeAll(keepingCapacity: true)
    for (test, next) in tests {
      steps += 1
      if addedRound[Int(next)] != round, program.tests[test].passes(value) { add(next) }
    }
    if isAnywhere, addedRound[Int(program.start)] != round { add(program.start) }
    before = isWord ? .word : .other
    return false
  }

  /// Whether the text matches if it ends here.
  mutating func matchesAtEnd() -> Bool { followEmptyTransitions(nextIsWord: false, atEnd: true) }

  private mutating func add(_ thread: InstructionIndex) {
    addedRound[Int(thread)] = round
    threads.append(thread)
  }

  /// Fills `waiting`. True if a path through the program ends here.
  private mutating func followEmptyTransitions(nextIsWord: Bool, atEnd: Bool) -> Bool {
    round += 1
    tests.removeAll(keepingCapacity: true)
    pending.removeAll(keepingCapacity: true)
    pending.append(contentsOf: threads)
    var isComplete = false
    while let thread = pending.popLast() {
      if expandedRound[Int(thread)] == round { continue }
      expandedRound[Int(thread)] = round
      steps += 1
      switch program.instructions[Int(thread)] {
      case .match: isComplete = true
      case .test(let test, let next): tests.append((test, next))
      case .split(let first, let second):
        pending.append(second)
        pending.append(first)
      case .assertion(let assertion, let next):
        let holds =
          switch assertion {
          case .beginning: before == .beginning
          case .end: atEnd
          case .wordBoundary: (before == .word) != nextIsWord
          case .noWordBoundary: (before == .word) == nextIsWord
          }
        if holds { pending.append(next) }
      }
    }
    return isComplete
  }
}
