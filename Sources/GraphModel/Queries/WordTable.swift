/// Searches, each filed under one of its words: asked which of them a text could satisfy. A search's word stands for all
/// words that begin with it, so a text is asked for by the beginnings of its words that are as long as a filed one. A
/// phrase of a script without spaces is filed under its first two letters.
struct WordTable: QueryShelf {
  private var searches = [[UInt8]: Set<UInt64>]()
  /// How many words of each length, in bytes, are filed.
  private var lengths = [Int: Int]()

  var isEmpty: Bool { searches.isEmpty }

  /// - Parameter word: folded, as `String.words` are.
  mutating func insert(_ number: UInt64, word: String) {
    let key = Self.key(word)
    if searches[key] == nil { lengths[key.count, default: 0] += 1 }
    searches[key, default: []].insert(number)
  }

  mutating func remove(_ number: UInt64, word: String) {
    let key = Self.key(word)
    guard searches[key]?.remove(number) != nil, searches[key]?.isEmpty == true else { return }
    searches[key] = nil
    let left = (lengths[key.count] ?? 1) - 1
    lengths[key.count] = left > 0 ? left : nil
  }

  private static func key(_ word: String) -> [UInt8] { Array((word.searchTerms.first ?? word).utf8) }

  /// Over the numbers of the searches whose word begins one of the text's; none for what is no text.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool) {
    guard !isEmpty, let text = value.stringValue else { return }
    var beginnings = Set<[UInt8]>()
    for bytes in Set(text.indexTerms.map { Array($0.utf8) }) {
      for length in lengths.keys where length <= bytes.count {
        let beginning = Array(bytes[..<length])
        // Many words begin alike.
        guard let numbers = searches[beginning], beginnings.insert(beginning).inserted else { continue }
        for number in numbers where !body(number) { return }
      }
    }
  }
}
