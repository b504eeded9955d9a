import GraphTesting
import Testing

@testable import GraphModel

@Suite struct LiveQueryIndexTests {
  /// The index may find too much, never too little.
  @Test func theIndexMissesNothingThatThePredicateMatches() throws {
    let model = try Fixtures.stickies()
    let note = try #require(model.entity(named: "Note"))
    let texts = [
      "color == \"red\"", "color IN {\"red\", \"blue\"}", "x > 5", "x <= 3 AND pinned == TRUE", "x BETWEEN {2, 4}",
      "number == 3", "NOT (color == \"red\")", "pinned == TRUE OR x > 7", "text CONTAINS \"a\"", "x >= 2 AND x < 6",
      "origin == NULL", "origin == \"k\"", "TRUEPREDICATE", "number > 2.5", "number == 3.0",
      "color == \"red\" OR number == 3", "(x > 7 OR color == \"blue\" OR x > 7) AND pinned == TRUE",
      "number == 1 OR x < 1",
      "text SEARCH \"AB\"", "text SEARCH \"xyz of\"", "number == 2 OR text SEARCH \"ä zw\"",
      "text BEGINSWITH \"ab\"", "text BEGINSWITH \"\"", "text BEGINSWITH \"x\" OR FALSEPREDICATE", "FALSEPREDICATE",
      "color == \"green\" OR text CONTAINS \"z\"",
    ]
    for seed in UInt64(0)..<200 {
      var random = SeededGenerator(seed: seed)
      var index = LiveQueryIndex(model: model)
      var queries = [UInt64: LiveQuery]()
      for number in UInt64(1)...40 {
        let text = random.pick(texts) ?? "TRUEPREDICATE"
        let query = LiveQuery(
          entity: note.number, predicate: try GraphPredicate(parsing: text, entity: note, model: model))
        queries[number] = query
        index.insert(query, number: number)
      }
      for number in UInt64(1)...40 where random.chance(40) {
        if let query = queries.removeValue(forKey: number) { index.remove(query, number: number) }
      }
      func image() -> ObjectImage {
        var image = ObjectImage(
          id: ObjectID(key: UniqueID(high: 1, low: 1), entity: note.number), revision: 1,
          values: Array(repeating: .null, count: note.slotCount))
        func set(_ name: String, _ value: Value) {
          if let property = note.property(named: name) { image[property] = value }
        }
        set("color", .string(random.pick(["red", "blue", "green"]) ?? "red"))
        set("x", .double(Double(Int.random(in: 0...9, using: &random))))
        set("number", .integer(Int64.random(in: 1...5, using: &random)))
        set("pinned", .bool(random.chance(50)))
        set("text", .string(random.pick(["abc", "xyz", "Offer, XYZ!", "Ärger, zwei"]) ?? ""))
        set("origin", random.chance(50) ? .null : .string("k"))
        return image
      }
      let (before, after) = (image(), image())
      let change = ObjectChange(kind: .updated, id: before.id, before: before, after: after)
      let candidates = Set(index.candidates(for: change))
      for (number, query) in queries {
        let evaluator = PredicateEvaluator(query.predicate, model: model)
        if evaluator.matches(before) || evaluator.matches(after) {
          #expect(candidates.contains(number), "seed \(seed): \(query.predicate.text(in: model))")
        }
      }
    }
  }

  @Test func theIntervalTreeAgreesWithAList() {
    for seed in UInt64(0)..<100 {
      var random = SeededGenerator(seed: seed)
      var tree = IntervalTree()
      var list = [IntervalTree.Interval]()
      for number in UInt64(1)...100 {
        let low = Int64.random(in: 0...50, using: &random)
        let interval = IntervalTree.Interval(
          low: random.chance(20) ? nil : .integer(low),
          high: random.chance(20) ? nil : .integer(low + Int64.random(in: 0...20, using: &random)), number: number)
        tree.insert(interval)
        list.append(interval)
        if random.chance(30), let index = list.indices.randomElement(using: &random) {
          tree.remove(list.remove(at: index))
        }
      }
      for value in Int64(-1)...75 {
        var found = [UInt64]()
        tree.holding(.integer(value), into: &found)
        let expected = list.filter { interval in
          (interval.low.map { Value.order($0, .integer(value)) != .descending } ?? true)
            && (interval.high.map { Value.order($0, .integer(value)) != .ascending } ?? true)
        }
        #expect(found.sorted() == expected.map(\.number).sorted(), "seed \(seed), value \(value)")
      }
      for interval in list { tree.remove(interval) }
      #expect(tree.isEmpty)
    }
  }
}
