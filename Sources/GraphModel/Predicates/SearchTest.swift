/// A search in a property of the object itself, or several, one of which must match. A predicate may have thousands of
/// searches over one property; they are joined, so that each text is split into words once.
final class SearchTest: ImagePredicate {
  private let slot: Int
  /// The words of each search.
  private let searches: [[String]]
  private let alternatives: SearchAlternatives

  init(slot: Int, searches: [[String]]) {
    (self.slot, self.searches) = (slot, searches)
    alternatives = SearchAlternatives(searches)
  }

  func holds(_ values: [Value]) -> Bool {
    // A null finds nothing, as it does in SQL.
    guard slot < values.count, case .string(let text) = values[slot] else { return false }
    return alternatives.matches(text)
  }

  // MARK: - Joining

  /// The parts of a conjunction or disjunction, with their searches joined. The joined ones follow the other tests,
  /// which take less time.
  static func joined(_ parts: [any ImagePredicate], all: Bool) -> [any ImagePredicate] {
    var rest = [any ImagePredicate]()
    var (plain, negated) = ([SearchTest](), [SearchTest]())
    for part in parts {
      if let search = part as? SearchTest {
        plain.append(search)
      } else if let search = (part as? NegatedTest)?.inner as? SearchTest {
        negated.append(search)
      } else {
        rest.append(part)
      }
    }
    rest += all ? joiningAll(plain) : joiningAny(plain)
    // No one of them matches, or not all of them.
    rest += (all ? joiningAny(negated) : joiningAll(negated)).map(NegatedTest.init)
    return rest
  }

  private static func joiningAny(_ tests: [SearchTest]) -> [SearchTest] {
    grouped(tests).map { slot, tests in SearchTest(slot: slot, searches: tests.flatMap(\.searches)) }
  }

  /// Searches that must all match are one search for all of their words.
  private static func joiningAll(_ tests: [SearchTest]) -> [SearchTest] {
    grouped(tests.filter { $0.searches.count == 1 }).map { slot, tests in
      SearchTest(slot: slot, searches: [tests.flatMap { $0.searches[0] }])
    } + tests.filter { $0.searches.count != 1 }
  }

  private static func grouped(_ tests: [SearchTest]) -> [(slot: Int, tests: [SearchTest])] {
    Dictionary(grouping: tests, by: \.slot).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
