import GraphModel
import GraphTesting
import Testing

/// Many clients edit one text from different bases, and a server orders their edits, as the planner does: each edit is
/// rebased over the commits since its base. The twin has no offsets, only characters with identities.
@Suite struct TextMergeTests {
  /// A server of one text, with the production splices.
  private struct Server {
    var texts: [String]
    var committed = [[TextSplice]]()

    init(_ text: String) { texts = [text] }

    /// Nil when the splices do not fit.
    mutating func commit(_ splices: [TextSplice], base: Int) -> String? {
      var moved = splices
      for earlier in committed[base...] { moved = TextSplice.rebase(moved, over: earlier) }
      guard let text = TextSplice.apply(moved, to: texts[texts.count - 1]) else { return nil }
      committed.append(moved)
      texts.append(text)
      return text
    }
  }

  /// The naive twin. A character is a cell: it is created once, dies at most once, and keeps its place among the
  /// others. An edit in progress refers to cells and to places between cells. If another commit inserts characters at
  /// its place (with no living cell between the two), they go before it, unless its insertion leans to the left.
  private struct Oracle {
    struct Cell {
      let scalar: Unicode.Scalar
      var isAlive = true
    }

    /// One place of an edit: the deleted cells, and the index of the cell before which it inserts.
    struct Step {
      var doomed: [Int]
      var place: Int
      let insertion: [Unicode.Scalar]
      let hasLeftAffinity: Bool
    }

    var cells: [Cell]

    init(_ text: String) { cells = text.unicodeScalars.map { Cell(scalar: $0) } }

    var text: String {
      var view = String.UnicodeScalarView()
      view.append(contentsOf: cells.lazy.filter(\.isAlive).map(\.scalar))
      return String(view)
    }

    /// The cells of an edit that is begun now.
    func begin(_ splices: [TextSplice]) -> [Step] {
      let living = cells.indices.filter { cells[$0].isAlive }
      var starts = [Int]()
      var offset = 0
      for index in living {
        starts.append(offset)
        offset += String(cells[index].scalar).utf8.count
      }
      return splices.map { splice in
        let first = starts.firstIndex { $0 >= splice.offset } ?? living.count
        let doomed = living.indices.filter { starts[$0] >= splice.offset && starts[$0] < splice.end }
        // Directly after the preceding character, so that it moves with the text in which it was typed.
        let place = first == 0 ? 0 : living[first - 1] + 1
        return Step(
          doomed: doomed.map { living[$0] }, place: place, insertion: Array(splice.insertion.unicodeScalars),
          hasLeftAffinity: splice.hasLeftAffinity)
      }
    }

    /// Carries out an edit, one operation after the other, and moves the others that are under way.
    mutating func commit(_ steps: [Step], _ pending: inout [[Step]]) {
      var steps = steps
      let wasAlive = cells.map(\.isAlive)
      // The state before this commit: characters that the commit deletes still separate two places.
      var alive = wasAlive
      // Steps that this commit's characters have come behind: the rest of them does, too.
      var ahead = pending.map { _ in Set<Int>() }
      for number in steps.indices {
        let (place, count) = (steps[number].place, steps[number].insertion.count)
        for cell in steps[number].doomed { cells[cell].isAlive = false }
        guard count > 0 else { continue }
        cells.insert(contentsOf: steps[number].insertion.map { Cell(scalar: $0) }, at: place)
        for other in pending.indices {
          for step in pending[other].indices {
            let theirs = pending[other][step].place
            let isTie = !alive[min(theirs, place)..<max(theirs, place)].contains(true)
            // Behind a step of its own edit that goes behind, it does as well.
            let isHeldBack = pending[other][..<step].contains { !$0.insertion.isEmpty && $0.place > place }
            if isTie,
              ahead[other].contains(step)
                || pending[other][step].hasLeftAffinity && !steps[number].hasLeftAffinity && !isHeldBack
            {
              ahead[other].insert(step)
              pending[other][step].place = min(theirs, place)
            } else if theirs >= place {
              pending[other][step].place += count
            } else if !alive[theirs..<place].contains(true) {
              pending[other][step].place = place + count
            }
            pending[other][step].doomed = pending[other][step].doomed.map { $0 >= place ? $0 + count : $0 }
          }
        }
        for later in steps.indices where later > number {
          if steps[later].place >= place { steps[later].place += count }
          steps[later].doomed = steps[later].doomed.map { $0 >= place ? $0 + count : $0 }
        }
        for earlier in steps.indices where earlier < number {
          steps[earlier].doomed = steps[earlier].doomed.map { $0 >= place ? $0 + count : $0 }
        }
        alive.insert(contentsOf: [Bool](repeating: false, count: count), at: place)
      }
    }
  }

  /// Scalars of one to four bytes: combining ones, parts of joined emoji, no two alike in meaning.
  private static let alphabet: [Unicode.Scalar] = Array("abcxyz \né\u{301}ßж\u{200D}\u{FE0F}漢€👩🎈".unicodeScalars)

  private static func words(_ most: Int, _ random: inout SeededGenerator) -> String {
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 1...most, using: &random) { view.append(random.pick(alphabet) ?? "a") }
    return String(view)
  }

  /// One to three splices of a text, ascending; they may touch.
  private static func edit(of text: String, _ random: inout SeededGenerator) -> [TextSplice] {
    var boundaries = [0]
    for scalar in text.unicodeScalars {
      boundaries.append((boundaries.last ?? 0) + String(scalar).utf8.count)
    }
    var splices = [TextSplice]()
    var first = 0
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      guard first < boundaries.count else { break }
      let start = Int.random(in: first..<boundaries.count, using: &random)
      let reach = random.chance(30) ? boundaries.count : min(boundaries.count, start + 4)
      let end = random.chance(45) ? start : Int.random(in: start..<reach, using: &random)
      let insertion = random.chance(75) ? words(4, &random) : ""
      splices.append(
        TextSplice(
          offset: boundaries[start], length: boundaries[end] - boundaries[start], insertion: insertion,
          hasLeftAffinity: random.chance(35)))
      first = random.chance(50) ? end : end + 1
    }
    return splices
  }

  @Test func concurrentTypingMatchesOracle() {
    var edits = 0
    seeds: for seed in UInt64(0)..<3_000 {
      var random = SeededGenerator(seed: seed)
      let start = random.chance(15) ? "" : Self.words(12, &random)
      var server = Server(start)
      var oracle = Oracle(start)
      // Edits in progress: made at one revision, committed at a later one.
      var pending = [[Oracle.Step]]()
      var sent = [(splices: [TextSplice], base: Int)]()
      for _ in 0..<Int.random(in: 2...14, using: &random) {
        if sent.isEmpty || random.chance(55) {
          let splices = Self.edit(of: oracle.text, &random)
          sent.append((splices, server.committed.count))
          pending.append(oracle.begin(splices))
        } else {
          let next = Int.random(in: 0..<sent.count, using: &random)
          let (splices, base) = sent.remove(at: next)
          oracle.commit(pending.remove(at: next), &pending)
          let text = server.commit(splices, base: base)
          edits += 1
          #expect(text.map { Array($0.utf8) } == Array(oracle.text.utf8), "seed \(seed): \(splices) on \(base)")
          if text != oracle.text { continue seeds }
        }
      }
    }
    #expect(edits > 6_000)
  }

  /// The transformation that a client needs when it has sent an edit and receives an earlier one: two edits of one
  /// text, in either order.
  @Test func rebasedEditsConverge() {
    for seed in UInt64(0)..<5_000 {
      var random = SeededGenerator(seed: seed)
      let base = Self.words(10, &random)
      let (earlier, later) = (Self.edit(of: base, &random), Self.edit(of: base, &random))
      let first = TextSplice.apply(earlier, to: base).flatMap {
        TextSplice.apply(TextSplice.rebase(later, over: earlier), to: $0)
      }
      let second = TextSplice.apply(later, to: base).flatMap {
        TextSplice.apply(TextSplice.rebase(earlier, under: later), to: $0)
      }
      #expect(first != nil)
      #expect(first.map { Array($0.utf8) } == second.map { Array($0.utf8) }, "seed \(seed): \(earlier) \(later)")
    }
  }

  /// Few letters, so that a splice often fits at another place as well.
  @Test func insertionAffinityPreservesResultingText() {
    var leaning = 0
    for seed in UInt64(0)..<20_000 {
      var random = SeededGenerator(seed: seed)
      func letters(_ most: Int) -> String {
        String((0..<Int.random(in: 0...most, using: &random)).map { _ in random.pick(Array("ab\né")) ?? "a" })
      }
      let (base, text) = (letters(12), letters(16))
      let splices = random.chance(50) ? Self.edit(of: base, &random) : TextSplice.differences(from: base, to: text)
      let ends = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Int.random(in: 0...base.utf8.count, using: &random)
      }
      let leant = TextSplice.withAffinity(splices, at: ends, of: base)
      leaning += leant.count { $0.hasLeftAffinity }
      let made = TextSplice.apply(splices, to: base)
      #expect(made != nil && TextSplice.apply(leant, to: base) == made, "seed \(seed): \(base) \(splices) \(leant)")
    }
    #expect(leaning > 5_000)
  }

  @Test func successiveEditsCompose() {
    for seed in UInt64(0)..<5_000 {
      var random = SeededGenerator(seed: seed)
      let base = Self.words(10, &random)
      var (text, composed, bytes) = (base, [TextSplice](), 0)
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let edit = Self.edit(of: text, &random)
        composed = TextSplice.compose(composed, then: edit)
        text = TextSplice.apply(edit, to: text) ?? "does not fit"
        bytes += edit.reduce(0) { $0 + $1.length }
      }
      let atOnce = TextSplice.apply(composed, to: base)
      #expect(atOnce.map { Array($0.utf8) } == Array(text.utf8), "seed \(seed)")
      // The merge deletes only text that the edits delete.
      #expect(composed.reduce(0) { $0 + $1.length } <= bytes, "seed \(seed)")
    }
  }

  @Test func textBetweenTwoEditsIsNotReplaced() {
    let front = [TextSplice(offset: 0, length: 0, insertion: "1")]
    let end = [TextSplice(offset: 5, length: 1, insertion: "2")]
    #expect(
      TextSplice.compose(front, then: end) == [
        TextSplice(offset: 0, length: 0, insertion: "1"), TextSplice(offset: 4, length: 1, insertion: "2"),
      ])
    // Typed and taken back: nothing happened.
    #expect(TextSplice.compose(front, then: [TextSplice(offset: 0, length: 1, insertion: "")]) == [])
  }
}
