/// A program with a precomputed transition table from sets of threads, for its symbols. The table is computed when the
/// pattern is parsed, within a budget of work, and never changes, so that it needs no lock and is the same for every
/// text. If it needs more states or symbols, the simulation continues instead. A table that grows during matching was
/// rejected: it would need a lock, or a cache that every caller passes along.
struct RegularExpressionAutomaton: Sendable {
  typealias Simulation = RegularExpressionSimulation
  /// The maximum number of simulation steps for computing the table: about a millisecond at worst.
  static let budget = 20_000
  static let maximumStates = 256

  /// Three reserved states: no match is possible; the match is certain; outside the table.
  private static let (dead, matched, unknown, first): (UInt16, UInt16, UInt16, UInt16) = (0, 1, 2, 3)

  private struct State: Hashable {
    var threads: [Simulation.InstructionIndex]
    var before: Simulation.PrecedingContext
  }

  let program: RegularExpressionProgram
  private let isAnywhere: Bool
  private let alphabet: RegularExpressionAlphabet
  /// The table, with a row for each state and a column for each symbol.
  private var table = [UInt16]()
  private var states = [State]()
  private var numbers = [State: UInt16]()
  private var mayEnd = [Bool]()
  private var start = Self.unknown

  /// The number of states in the table.
  var stateCount: Int { states.count }

  init(_ program: RegularExpressionProgram, isAnywhere: Bool, budget: Int) {
    self.program = program
    self.isAnywhere = isAnywhere
    alphabet = RegularExpressionAlphabet(program)
    if budget > 0, !alphabet.samples.isEmpty { buildTable(budget: budget) }
  }

  // MARK: - The map

  private mutating func buildTable(budget: Int) {
    var simulation = Simulation(program, isAnywhere: isAnywhere)
    let width = alphabet.samples.count
    table = Array(repeating: Self.unknown, count: width * Int(Self.first))
    start = number(of: State(threads: simulation.threads, before: simulation.before), &simulation)
    var drawn = 0
    while drawn < states.count {
      let row = (drawn + Int(Self.first)) * width
      for (column, sample) in alphabet.samples.enumerated() {
        if simulation.steps > budget { return }
        simulation.resume(states[drawn].threads, states[drawn].before)
        if simulation.advance(sample) {
          table[row + column] = Self.matched
        } else if simulation.threads.isEmpty {
          table[row + column] = Self.dead
        } else {
          let next = State(threads: simulation.threads.sorted(), before: simulation.before)
          table[row + column] = number(of: next, &simulation)
        }
      }
      drawn += 1
    }
  }

  private mutating func number(of state: State, _ simulation: inout Simulation) -> UInt16 {
    if let number = numbers[state] { return number }
    if states.count == Self.maximumStates { return Self.unknown }
    let number = UInt16(states.count) + Self.first
    numbers[state] = number
    states.append(state)
    simulation.resume(state.threads, state.before)
    mayEnd.append(simulation.matchesAtEnd())
    table.append(contentsOf: repeatElement(Self.unknown, count: alphabet.samples.count))
    assert(mayEnd.count == states.count && numbers.count == states.count, "each state has one number")
    assert(table.count == (states.count + Int(Self.first)) * alphabet.samples.count, "each state has one row")
    return number
  }

  // MARK: - Matching

  /// - Parameter steps: is increased by the work done: one for each scalar in the table, more outside it.
  func matches(_ text: String, steps: inout Int) -> Bool {
    if let answer = text.utf8.withContiguousStorageIfAvailable({ matches($0, &steps) }) { return answer }
    var text = text
    return text.withUTF8 { matches($0, &steps) }
  }

  private func matches(_ bytes: UnsafeBufferPointer<UInt8>, _ steps: inout Int) -> Bool {
    var position = 0
    var state = start
    var simulation: Simulation?
    var counter = Cancellation.StepCounter(over: bytes.count)
    var counted = 0
    defer {
      let done = position + (simulation?.steps ?? 0)
      steps += done
      _ = counter.addSteps(done - counted)
      counter.flush()
    }
    while position < bytes.count {
      let done = position + (simulation?.steps ?? 0)
      guard counter.addSteps(done - counted) else { return false }
      counted = done
      if state >= Self.first {
        let (next, last) = advance(bytes, from: state, &position)
        if next == Self.dead { return false }
        if next == Self.matched { return true }
        state = last
        if position == bytes.count { break }
      }
      // Simulate the scalar that the table lacks, then look up the result, which may be in the table.
      let current = state >= Self.first ? states[Int(state - Self.first)] : nil
      var simulating = simulation.take() ?? Simulation(program, isAnywhere: isAnywhere)
      if let current { simulating.resume(current.threads, current.before) }
      let isASCII = bytes[position] < 0x80
      let isComplete = simulating.advance(Self.scalar(bytes, &position, folds: program.folds))
      let isDead = simulating.threads.isEmpty
      state = Self.unknown
      if !isASCII, !numbers.isEmpty {
        state = numbers[State(threads: simulating.threads.sorted(), before: simulating.before)] ?? Self.unknown
      }
      simulation = simulating
      if isComplete { return true }
      if isDead { return false }
    }
    if state >= Self.first { return mayEnd[Int(state - Self.first)] }
    var last = simulation ?? Simulation(program, isAnywhere: isAnywhere)
    return last.matchesAtEnd()
  }

  /// Advances as far as the table reaches; returns the state that ended it, and the last state in the table.
  private func advance(
    _ bytes: UnsafeBufferPointer<UInt8>, from state: UInt16, _ position: inout Int
  ) -> (next: UInt16, last: UInt16) {
    let width = alphabet.samples.count
    return table.withUnsafeBufferPointer { table in
      alphabet.ascii.withUnsafeBufferPointer { ascii in
        var (state, thread) = (state, position)
        defer { position = thread }
        while thread < bytes.count {
          let byte = bytes[thread]
          var after = thread + 1
          let symbol: Int
          if byte < 0x80 {
            symbol = Int(ascii[Int(byte)])
          } else {
            after = thread
            guard let known = alphabet.symbol(Self.scalar(bytes, &after, folds: false), program) else {
              return (Self.unknown, state)
            }
            symbol = known
          }
          let next = table[Int(state) * width + symbol]
          if next < Self.first { return (next, state) }
          state = next
          thread = after
        }
        return (state, state)
      }
    }
  }

  /// Decodes a scalar; a string's bytes are valid UTF-8.
  private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int, folds: Bool) -> UInt32 {
    let byte = UInt32(bytes[position])
    position += 1
    if byte < 0x80 { return folds && (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
    var value = byte < 0xE0 ? byte & 0x1F : byte < 0xF0 ? byte & 0x0F : byte & 0x07
    while position < bytes.count, bytes[position] & 0xC0 == 0x80 {
      value = value << 6 | UInt32(bytes[position] & 0x3F)
      position += 1
    }
    return value
  }
}
