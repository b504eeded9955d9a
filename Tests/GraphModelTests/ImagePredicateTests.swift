import GraphTesting
import Testing

@testable import GraphModel

/// Predicates over an object's own values agree with `ValueMatcher`, which handles every case. Comparing bytes word by
/// word agrees with comparing them one by one.
@Suite struct ImagePredicateTests {
  private static let values: [Value] = [
    .null, .bool(false), .bool(true), .integer(-1), .integer(0), .integer(3), .integer(.max), .double(-1), .double(0.5),
    .double(3), .double(.infinity), .string(""), .string("a"), .string("b and more than fifteen bytes"),
    .string("b and more than fifteen bytez"), .date(3), .date(9),
    .object(ObjectID(key: UniqueID(high: 1, low: 1), entity: 1)),
    .object(ObjectID(key: UniqueID(high: 1, low: 2), entity: 1)), .uuid(UniqueID(high: 1, low: 1)), .data([1]),
  ]

  @Test func comparisonsAgreeWithValueMatcher() throws {
    let model = try Fixtures.company()
    let person = try #require(model.entity(named: "Person"))
    let property = try #require(person.property(named: "age"))
    let slot = try #require(property.slot)
    let other = try #require(person.storedProperties.first { $0.slot != slot })
    var held = 0
    for comparator in GraphPredicate.Comparator.allCases where ![.in, .between].contains(comparator) {
      for constant in Self.values {
        let comparison = GraphPredicate.Comparison(.one, .property(property.number), comparator, .value(constant))
        let never = GraphPredicate.Comparison(.one, .property(other.number), .equal, .value(.integer(77)))
        let match = ValueMatcher(comparison)
        let alone = PredicateEvaluator(.comparison(comparison), model: model)
        let joined = PredicateEvaluator(
          .and([.or([.comparison(never), .comparison(comparison)]), .not(.comparison(never)), .always]), model: model)
        for value in Self.values {
          var image = ObjectImage(
            id: ObjectID(key: UniqueID(high: 2, low: 1), entity: person.number), revision: 1,
            values: Array(repeating: .null, count: person.slotCount))
          image.values[slot] = value
          let expected = match(value, .constant)
          #expect(alone.matches(image) == expected, "\(value) \(comparator.rawValue) \(constant)")
          #expect(alone.matches(image, in: NoImageSource()) == expected)
          #expect(joined.matches(image) == expected, "\(value) \(comparator.rawValue) \(constant), joined")
          if expected { held += 1 }
        }
        // An image of fewer values, of a sibling entity: null.
        let short = ObjectImage(id: ObjectID(key: .zero, entity: person.number), revision: 1, values: [])
        #expect(alone.matches(short) == match(.null, .constant))
      }
    }
    #expect(held > 500)
  }

  @Test func wordwiseByteComparisonAgreesWithBytewise() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<5_000 {
      let shared = Int.random(in: 0...20, using: &random)
      let start = String(repeating: "x", count: shared)
      let texts = (0..<2).map { _ in
        start + String((0..<Int.random(in: 0...12, using: &random)).map { _ in random.pick(Array("aäz🎈x")) ?? "x" })
      }
      let (a, b) = (Array(texts[0].utf8), Array(texts[1].utf8))
      let expected: ValueOrdering = a == b ? .same : a.lexicographicallyPrecedes(b) ? .ascending : .descending
      #expect(UTF8Comparison.order(texts[0], texts[1]) == expected, "\(texts)")
      #expect(UTF8Comparison.equal(texts[0], texts[1]) == (a == b), "\(texts)")
      #expect(UTF8Comparison.equal(texts[0], String(decoding: a, as: UTF8.self)))
    }
  }
}
