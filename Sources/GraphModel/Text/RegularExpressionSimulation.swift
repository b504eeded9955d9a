/// Follows all paths through a program at once. Between two scalars of the text it has the set of active places,
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
  /// The places that wait for the next scalar, before splits and assertions are followed, because those depend on it.
  private(set) var places = [InstructionIndex]()
  private(set) var before = PrecedingContext.other
  /// The work done: instructions followed and scalars tested.
  private(set) var steps = 0

  /// Scratch memory: the round in which a place was last visited, and the places to visit.
  private var closedIn: [UInt32]
  private var addedIn: [UInt32]
  private var round: UInt32 = 0
  private var pending = [InstructionIndex]()
  private var waiting = [(test: Int, next: InstructionIndex)]()

  /// - Parameter isAnywhere: whether a match may begin and end anywhere.
  init(_ program: RegularExpressionProgram, isAnywhere: Bool) {
    self.program = program
    self.isAnywhere = isAnywhere
    closedIn = Array(repeating: 0, count: program.instructions.count)
    addedIn = closedIn
    places = [program.start]
    before = program.usesBeginning || program.usesWords ? .beginning : .other
  }

  mutating func resume(_ places: [InstructionIndex], _ before: PrecedingContext) {
    self.places = places
    self.before = before
  }

  /// Consumes a scalar. True if a match is complete before it, regardless of what follows.
  mutating func advance(_ value: UInt32) -> Bool {
    let isWord = program.usesWords && Unicode.Scalar(value).map { ScalarProperty.word.holds(for: $0) } ?? false
    if close(nextIsWord: isWord, atEnd: false), isAnywhere { return true }
    places.removeAll(keepingCapacity: true)
    for (test, next) in waiting {
      steps += 1
      if addedIn[Int(next)] != round, program.tests[test].passes(value) { add(next) }
    }
    if isAnywhere, addedIn[Int(program.start)] != round { add(program.start) }
    before = isWord ? .word : .other
    return false
  }

  /// Whether the text matches if it ends here.
  mutating func matchesAtEnd() -> Bool { close(nextIsWord: false, atEnd: true) }

  private mutating func add(_ place: InstructionIndex) {
    addedIn[Int(place)] = round
    places.append(place)
  }

  /// Fills `waiting`. True if a path through the program ends here.
  private mutating func close(nextIsWord: Bool, atEnd: Bool) -> Bool {
    round += 1
    waiting.removeAll(keepingCapacity: true)
    pending.removeAll(keepingCapacity: true)
    pending.append(contentsOf: places)
    var isComplete = false
    while let place = pending.popLast() {
      if closedIn[Int(place)] == round { continue }
      closedIn[Int(place)] = round
      steps += 1
      switch program.instructions[Int(place)] {
      case .match: isComplete = true
      case .test(let test, let next): waiting.append((test, next))
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
