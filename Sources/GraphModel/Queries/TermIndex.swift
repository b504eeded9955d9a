/// An index of searches, each under one of its words; finds the searches that a text could match. A search's word is
/// a prefix, so the prefixes of a text's words with the lengths of indexed words are looked up. A phrase of a script
/// without spaces is indexed under its first two letters.
struct TermIndex: PredicateIndex {
  private var searches = [[UInt8]: Set<UInt64>]()
  /// The number of indexed words by length in bytes.
  private var lengths = [Int: Int]()

  var isEmpty: Bool { searches.isEmpty }

  /// - Parameter term: the word, folded as `String.words` are.
  mutating func insert(_ number: UInt64, term: String) {
    let key = Self.key(term)
    assert(!key.isEmpty, "a term has a letter")
    if searches[key] == nil { lengths[key.count, default: 0] += 1 }
    searches[key, default: []].insert(number)
  }

  mutating func remove(_ number: UInt64, term: String) {
    let key = Self.key(term)
    // A search with the same term twice is removed by the first of the two.
    guard let index = searches.index(forKey: key), searches.values[index].remove(number) != nil,
      searches.values[index].isEmpty
    else { return }
    searches.remove(at: index)
    assert(lengths[key.count, default: 0] > 0, "a term was counted when it was stored")
    lengths.modifyIfPresent(key.count, removingIf: { $0 == 0 }) { $0 -= 1 }
  }

  private static func key(_ term: String) -> [UInt8] { Array((term.searchTerms.first ?? term).utf8) }

  /// Visits the numbers of the searches whose word is a prefix of one of the text's words. Empty if the value is not a
  /// text.
  func forEach(matching value: Value, _ body: (UInt64) -> Bool) {
    guard !isEmpty, let text = value.stringValue else { return }
    var beginnings = Set<[UInt8]>()
    for bytes in Set(text.indexTerms.map { Array($0.utf8) }) {
      for length in lengths.keys where length <= bytes.count {
        let beginning = Array(bytes[..<length])
        // Many words share a prefix.
        guard let numbers = searches[beginning], beginnings.insert(beginning).inserted else { continue }
        for number in numbers where !body(number) { return }
      }
    }
  }
}
