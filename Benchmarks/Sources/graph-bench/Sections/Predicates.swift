import GraphModel

extension Bench {
  private struct Question {
    let text: String
    /// The number of simple comparisons for one object.
    var comparisons = 1.0
    /// Whether it is simple; only simple predicates have a required rate.
    var isSimple = true
  }

  /// The required rate: comparisons per second.
  private static let comparisonLimit = 20e6

  private static let questions = [
    Question(text: "age == 42"), Question(text: "age > 42"), Question(text: "score <= 50.5"),
    Question(text: "city == \"Hamburg\""), Question(text: "name == \"Somebody with the number 77\""),
    Question(text: "active == true"),
    // No score is below 0, so both sides are evaluated.
    Question(text: "score >= 0 AND age < 60", comparisons: 2),
    Question(text: "name CONTAINS \"number 77\"", isSimple: false),
    Question(text: "name LIKE \"*number 7*\"", isSimple: false),
    Question(text: "city ==[cd] \"hamburg\"", isSimple: false),
    Question(text: "age IN {20, 30, 40}", isSimple: false), Question(text: "age * 2 > score + 1", isSimple: false),
  ]

  /// Measures predicates in memory on one core: ten thousand objects repeatedly.
  func measurePredicates() throws {
    let model = try Model(parsing: Staff.source.utf8)
    guard let person = model.entity(named: "Person") else { throw BenchmarkError(description: "there are no people") }
    let images = (0..<10_000).map { number in
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: 1, low: UInt64(number)), entity: person.number), revision: 1,
        values: Array(repeating: .null, count: person.slotCount))
      for (name, value) in Staff.values(ofPerson: number, teams: 500) {
        if let property = person.property(named: name) { image[property] = value }
      }
      return image
    }
    for question in Self.questions {
      let predicate = try GraphPredicate(parsing: question.text, entity: person, model: model)
      let evaluator = PredicateEvaluator(predicate, model: model)
      let rates = (0..<Self.rounds).map { _ in Self.rate(evaluator, images, seconds: seconds / 4) }
      Figure(
        name: "`\(question.text)`", unit: "million/s", ours: median(rates) * question.comparisons / 1e6,
        limit: question.isSimple ? Self.comparisonLimit / 1e6 : nil, aim: question.isSimple ? .atLeast(1) : .none
      ).report()
    }
  }

  private static func rate(_ evaluator: PredicateEvaluator, _ images: [ObjectImage], seconds: Double) -> Double {
    let start = now()
    var (asked, found) = (0, 0)
    while now() - start < seconds {
      for image in images where evaluator.matches(image) { found += 1 }
      asked += images.count
    }
    // Use the count, so that the compiler cannot remove the evaluation.
    return found <= asked ? Double(asked) / (now() - start) : .nan
  }
}
