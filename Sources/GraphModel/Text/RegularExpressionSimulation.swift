/// All ways through a program at once: between two scalars of the text it holds the set of places that are alive, each
/// once, so a scalar costs at most two steps for each instruction. Which way came first does not matter to a yes or no.
struct RegularExpressionSimulation {
  typealias Place = RegularExpressionProgram.Place

  /// What stood before the place where the text is now, as far as the program asks.
  enum Before: UInt8, Hashable, Sendable {
    case beginning, word, other
  }

  private let program: RegularExpressionProgram
  private let isAnywhere: Bool
  /// The places that wait for the next scalar, not yet followed through splits and assertions: those need to know it.
  private(set) var places = [Place]()
  private(set) var before = Before.other
  /// How much has been done: instructions looked at, and scalars tested.
  private(set) var steps = 0

  /// Working memory: which round a place was last seen in, and where to go on.
  private var closedIn: [UInt32]
  private var addedIn: [UInt32]
  private var round: UInt32 = 0
  private var pending = [Place]()
  private var waiting = [(test: Int, next: Place)]()

  /// - Parameter isAnywhere: A match may begin and end anywhere.
  init(_ program: RegularExpressionProgram, isAnywhere: Bool) {
    self.program = program
    self.isAnywhere = isAnywhere
    closedIn = Array(repeating: 0, count: program.instructions.count)
    addedIn = closedIn
    places = [program.start]
    before = program.usesBeginning || program.usesWords ? .beginning : .other
  }

  mutating func resume(_ places: [Place], _ before: Before) {
    self.places = places
    self.before = before
  }

  /// Takes a scalar. True when a match is complete before it and nothing that follows can undo it.
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

  /// Whether the text may end here.
  mutating func matchesAtEnd() -> Bool { close(nextIsWord: false, atEnd: true) }

  private mutating func add(_ place: Place) {
    addedIn[Int(place)] = round
    places.append(place)
  }

  /// Fills `waiting`. True when a way through the program ends here.
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
