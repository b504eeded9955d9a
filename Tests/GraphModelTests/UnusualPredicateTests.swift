import GraphModel
import GraphTesting
import Testing

/// Predicates that no user would write: the parser accepts one, or names the place of the mistake, which is inside the
/// text.
@Suite struct UnusualPredicateTests {
  private static let words = [
    "(", ")", "{", "}", "[", "]", "[cd]", ",", "\"", "'", "\\", "$x", "@count", ".", "..", "==", "=<", "<>", "!", "&&",
    "||",
    "+", "-", "*", "/", "1", "-0", "9223372036854775808", "1e999", "0.1", "\"a", "'b'", "NULL", "TRUE", "AND", "OR",
    "NOT",
    "ANY", "ALL", "NONE", "IN", "BETWEEN", "LIKE", "MATCHES", "SEARCH", "CONTAINS", "BEGINSWITH", "SUBQUERY(", "age",
    "name", "manager", "reports", "projects.title", "SELF", "id", "now()", "days(", "abs(", "date(\"x\")", "\u{0}",
    "\r\n", " ",
    "é", "e\u{301}", "👨‍👩‍👧", "\u{200D}", "\u{FEFF}", "東",
  ]

  /// Random bytes, words in any order, or a random predicate with parts removed, repeated and exchanged.
  private func strange(_ valid: String, _ random: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      return String(decoding: bytes, as: UTF8.self)
    case 1:
      let words = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in random.pick(Self.words) }
      return words.joined(separator: random.chance(50) ? " " : "")
    default:
      var scalars = Array(valid.unicodeScalars)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !scalars.isEmpty {
        let start = Int.random(in: 0..<scalars.count, using: &random)
        let part = start..<Int.random(in: start...min(start + 8, scalars.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: scalars.removeSubrange(part)
        case 1: scalars.insert(contentsOf: Array(scalars[part]), at: start)
        case 2: scalars.insert(contentsOf: Array((random.pick(Self.words) ?? "").unicodeScalars), at: start)
        default: scalars.removeSubrange(part.upperBound...)
        }
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  @Test func randomPredicatesAreParsedOrRefused() throws {
    let model = try Fixtures.company()
    let entities = try ["Person", "Project", "Step"].map { try #require(model.entity(named: $0)) }
    var (read, refused) = (0, 0)
    for seed in UInt64(0)..<4_000 {
      var random = SeededGenerator(seed: seed)
      var predicates = RandomPredicate(model: model, seed: seed)
      let entity = entities[Int.random(in: entities.indices, using: &random)]
      let text = strange(predicates.text(for: entity), &random)
      do throws(PredicateSyntaxError) {
        let predicate = try GraphPredicate(parsing: text, entity: entity, model: model)
        read += 1
        // It means the same as its own text. A short predicate stays far below every limit.
        guard text.utf8.count <= 60 else { continue }
        let again = predicate.text(in: model)
        #expect(
          (try? GraphPredicate(parsing: again, entity: entity, model: model)) == predicate,
          "seed \(seed): \(text) became \(again)")
      } catch {
        refused += 1
        #expect((1...text.count + 1).contains(error.column), "seed \(seed): \(text.debugDescription): \(error)")
        #expect(!error.reason.isEmpty && error.pointer.hasSuffix("^"), "seed \(seed): \(text.debugDescription)")
      }
    }
    #expect(read > 50 && refused > 1_000, "\(read) read, \(refused) refused")
  }
}
