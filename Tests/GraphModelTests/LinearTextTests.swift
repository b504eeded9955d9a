@_spi(_Unicode) import Swift
import GraphTesting
import Testing

@testable import GraphModel

/// The text functions take time proportional to the text, also for runs of marks; steps are counted, not timed.
@Suite struct LinearTextTests {
  private static let both: StringOptions = [.caseInsensitive, .diacriticInsensitive]

  /// The checks during the work; each stands for `Cancellation.pollInterval` steps.
  private static func polls(_ body: () -> Void) -> Int {
    var polls = 0
    Cancellation.run(
      while: {
        polls += 1
        return true
      }, body)
    return polls
  }

  private static func marks(_ count: Int) -> String { "a" + String(repeating: "\u{301}\u{323}", count: count / 2) }

  // MARK: - Case folding

  /// The folding by Unicode's tables alone, of which frequent letters take a shorter way.
  @Test(arguments: [String.FoldingLength.full, .simple])
  func frequentLettersFoldAsByTables(length: String.FoldingLength) throws {
    for value in UInt32(0)...0x52F {
      let scalar = try #require(Unicode.Scalar(value))
      let properties = scalar.properties
      var expected = String(scalar)
      if properties.changesWhenCaseMapped, value != 0x131 {
        let folded = properties.lowercaseMapping.uppercased().lowercased()
        expected = length == .full || folded.unicodeScalars.count == 1 ? folded : properties.lowercaseMapping
      }
      var found = [UInt8]()
      scalar.appendCaseFolded(to: &found, length)
      #expect(found == Array(expected.utf8), "U+\(String(value, radix: 16))")
    }
  }

  @Test func frequentLettersHaveRoleByTables() throws {
    for value in [UInt32(0x80)...0x52F, 0x3000...0x30FF, 0x4E00...0x9FFF].joined() {
      let scalar = try #require(Unicode.Scalar(value))
      #expect(scalar.wordClass == scalar.wordClassByProperties, "U+\(String(value, radix: 16))")
    }
  }

  /// A copy of the text for each letter would take minutes.
  @Test(.timeLimit(.minutes(1))) func longTextIsFoldedInOnePass() {
    let (piece, folded) = ("Größe ДА ŉ\u{132}", "größe да ʼn\u{133}")
    let count = 20_000
    let found = String(repeating: piece, count: count).folded(.caseInsensitive)
    let expected = String(repeating: folded.replacing("ß", with: "ss"), count: count)
    #expect(UTF8Comparison.equal(found, expected))
    let wide = String(repeating: "Ａ\u{132}", count: 100_000)
    #expect(UTF8Comparison.equal(wide.folded(.diacriticInsensitive), String(repeating: "AIJ", count: 100_000)))
  }

  // MARK: - Runs of marks

  @Test func startersAreThoseOfUnicode() throws {
    let ranges: [ClosedRange<UInt32>] = [0...0x34FF, 0xA000...0xABFF, 0xF900...0xFFFF, 0x10A00...0x11FFF]
    for value in ranges.joined() {
      let scalar = try #require(Unicode.Scalar(value))
      let isStarter = scalar.properties.canonicalCombiningClass == .notReordered
      #expect(CanonicalOrder.isStarter(scalar) == isStarter, "U+\(String(value, radix: 16))")
    }
  }

  /// Texts with runs of any length, against the standard library's own sort.
  @Test func longRunsDecomposeAndComposeAsShortOnes() {
    let starters: [Unicode.Scalar] = ["a", "é", "ǘ", "가", "П", "\u{1100}", "\u{1161}"]
    let marks: [Unicode.Scalar] = [
      "\u{300}", "\u{301}", "\u{308}", "\u{323}", "\u{327}", "\u{344}", "\u{345}", "\u{5B0}", "\u{F71}", "\u{F72}",
      "\u{F73}", "\u{F75}", "\u{F81}", "\u{3099}", "\u{1D165}", "\u{34F}",
    ]
    for seed in SeedSweep.seeds(100) {
      var random = SeededGenerator(seed: seed)
      var scalars = [Unicode.Scalar]()
      for _ in 0..<random.below(5) {
        scalars += [starters[random.below(starters.count)]]
        let length = random.chance(50) ? random.below(4) : 55 + random.below(80)
        scalars += (0..<length).map { _ in marks[random.below(marks.count)] }
      }
      let text = String(String.UnicodeScalarView(scalars))
      var counter = Cancellation.StepCounter(over: text.utf8.count)
      let ordered = text.withLongRunsInOrder(&counter)
      #expect(Array(ordered._nfd) == Array(text._nfd), "seed \(seed)")
      #expect(Array(ordered._nfc) == Array(text._nfc), "seed \(seed)")
      #expect(Array(text.composed) == Array(text._nfc), "seed \(seed)")
    }
  }

  @Test func longRunIsGivenInOrderToStandardLibrary() {
    var counter = Cancellation.StepCounter(over: 0)
    let scalars = Array(Self.marks(20_000).withLongRunsInOrder(&counter).unicodeScalars)
    let classes = scalars.map(\.properties.canonicalCombiningClass.rawValue)
    // An insertion sort makes a step for each pair in the wrong order.
    #expect(zip(classes, classes.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(scalars.count == 20_001)
  }

  @Test(.timeLimit(.minutes(1))) func stepsOfMarksAreLinear() {
    let functions: [(String) -> Void] = [
      { _ = $0.folded(Self.both) }, { _ = $0.composed }, { _ = Collation.natural.key($0) }, { _ = $0.words },
    ]
    for (index, function) in functions.enumerated() {
      let (small, large) = (Self.marks(100_000), Self.marks(200_000))
      let (few, many) = (Self.polls { function(small) }, Self.polls { function(large) })
      #expect(few > 10 && many > few && many < 3 * few, "function \(index): \(few), \(many)")
    }
  }

  @Test func longRunIsCanceledWithin() {
    var polls = 0
    let folded = Cancellation.run(
      while: {
        polls += 1
        return polls < 3
      }, { Self.marks(400_000).folded(Self.both) })
    #expect(polls == 3 && folded.isEmpty)
  }

  // MARK: - Chains of comparisons

  private final class Staff: ImageSource {
    let images: [ObjectID: ObjectImage]
    private(set) var reads = 0

    init(_ images: [ObjectImage]) { self.images = Dictionary(uniqueKeysWithValues: images.map { ($0.id, $0) }) }

    func image(of id: ObjectID) -> ObjectImage? {
      reads += 1
      return images[id]
    }

    func referrers(to id: ObjectID, through property: Property) -> [ObjectID] {
      reads += 1
      return images.values.filter { $0[property] == .object(id) }.map(\.id)
    }
  }

  @Test func chainReadsPathOfObjectOnce() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    func image(_ number: UInt64, _ name: String, manager: Value) throws -> ObjectImage {
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: number), entity: person.number), revision: 1,
        values: Array(repeating: .null, count: person.slotCount))
      image[try #require(person.property(named: "name"))] = .string(name)
      image[try #require(person.property(named: "manager"))] = manager
      return image
    }
    let boss = try image(1, "b", manager: .null)
    let report = try image(2, "r", manager: .object(boss.id))
    for (chain, last) in [("manager.name <", "\"c\""), ("manager.reports.@count ==", "1"), ("reports.@count ==", "0")] {
      let isText = last.hasPrefix("\"")
      let terms = (0..<1_500).map { "\(chain) \(isText ? "\"A\($0)\"" : "\($0 + 5)")" } + ["\(chain) \(last)"]
      let predicate = try GraphPredicate(
        parsing: terms.joined(separator: " OR "), entity: person, model: model)
      let staff = Staff([boss, report])
      #expect(PredicateEvaluator(predicate, model: model).matches(report, in: staff), "\(chain)")
      #expect(staff.reads <= 4, "\(chain): \(staff.reads)")
    }
  }

  /// Joined searches have the results of single ones.
  @Test func joinedSearchesMatchAsSingleOnes() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let text = try #require(note.property(named: "text"))
    let words = ["no", "notes", "note", "milk", "日本", "日", "本語", "a b", "", "é"]
    for seed in SeedSweep.seeds(200) {
      var random = SeededGenerator(seed: seed)
      let parts = (0..<1 + random.below(6)).map { _ in
        let comparison = GraphPredicate.Comparison(
          .one, .path(.property(text.number)), .search, .value(.string(words[random.below(words.count)])))
        return random.chance(30) ? GraphPredicate.not(.comparison(comparison)) : .comparison(comparison)
      }
      var image = ObjectImage(id: .temporary(1, entity: note.number), revision: 1, values: note.initialValues)
      let content = (0..<random.below(5)).map { _ in words[random.below(words.count)] }.joined(separator: " ")
      if random.chance(90) { image[text] = .string(content) }
      let single = parts.map { PredicateEvaluator($0, model: model).matches(image) }
      #expect(PredicateEvaluator(.or(parts), model: model).matches(image) == single.contains(true), "seed \(seed)")
      #expect(PredicateEvaluator(.and(parts), model: model).matches(image) == !single.contains(false), "seed \(seed)")
    }
  }

  @Test func chainOfSearchesSplitsTextOnce() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let text = try #require(note.property(named: "text"))
    var image = ObjectImage(id: .temporary(1, entity: note.number), revision: 1, values: note.initialValues)
    image[text] = .string(String(repeating: "größe ", count: 20_000))
    func chain(_ count: Int) throws -> PredicateEvaluator {
      let terms = (0..<count).map { "text SEARCH \"q\($0)\"" }.joined(separator: " OR ")
      return PredicateEvaluator(try GraphPredicate(parsing: terms, entity: note, model: model), model: model)
    }
    let (one, many) = (try chain(1), try chain(1_000))
    let (few, all) = (Self.polls { _ = one.matches(image) }, Self.polls { _ = many.matches(image) })
    #expect(few > 10 && all < 2 * few, "\(few), \(all)")
  }

  // MARK: - Excerpts

  @Test func excerptLimitsMarksOfCharacter() {
    let marked = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(marked.excerpt.unicodeScalars.count == 481)
    #expect("xyz\(marked)".excerpt == "xyz…")
    #expect(marked.beginning(of: 60, scalars: 100).unicodeScalars.count == 100)
    let family = String(repeating: "👨‍👩‍👧‍👦", count: 61)
    let whole = String(family.dropLast())
    #expect(family.excerpt == whole + "…")
    #expect(whole.excerpt == whole)
  }
}
