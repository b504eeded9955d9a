/// An index of queries for texts with a certain substring, each under a gram of three bytes of it. Finds the queries
/// that a text could match. A text is looked up by each of its grams, folded as the query folds it. A substring is
/// stored under the gram with the fewest entries, so that substrings with a common prefix are spread. The lookup also
/// compares the complete substring, because a number at its end shares three digits with many others.
struct SubstringIndex: PredicateIndex {
  /// Up to three successive bytes, and their number.
  private typealias Gram = UInt32

  private static let maximumGramLength = 3

  /// A query and its substring.
  private struct Entry: Hashable {
    let number: UInt64
    let substring: String
  }

  /// The entries for one combination of folding options.
  private struct GramTable {
    var entries = [Gram: Set<Entry>]()
    /// The number of stored grams of each length; substrings below three bytes have shorter grams.
    var lengths = [Int](repeating: 0, count: SubstringIndex.maximumGramLength + 1)
    /// A Bloom filter of the stored grams: most grams of a long text are not stored, and need no table lookup.
    var filter = [UInt64](repeating: 0, count: 1_024)

    static func bit(_ gram: Gram) -> (word: Int, mask: UInt64) {
      let hash = (gram &* 0x9E37_79B1) >> 16
      return (Int(hash >> 6), 1 << UInt64(hash & 63))
    }

    func mayHave(_ gram: Gram) -> Bool {
      let (word, mask) = Self.bit(gram)
      return filter[word] & mask != 0
    }
  }

  private var folded = [StringOptions: GramTable]()

  var isEmpty: Bool { folded.isEmpty }

  /// - Parameter substring: the substring, folded and not empty.
  mutating func insert(_ number: UInt64, substring: String, _ options: StringOptions) {
    var grams = folded.removeValue(forKey: options) ?? GramTable()
    let (all, length) = Self.grams(of: substring)
    assert(!all.isEmpty, "a substring has a gram")
    let best = all.min { grams.entries[$0, default: []].count < grams.entries[$1, default: []].count }
    if let best {
      if grams.entries[best] == nil { grams.lengths[length] += 1 }
      grams.entries[best, default: []].insert(Entry(number: number, substring: substring))
      let (word, mask) = GramTable.bit(best)
      grams.filter[word] |= mask
    }
    folded[options] = grams
  }

  mutating func remove(_ number: UInt64, substring: String, _ options: StringOptions) {
    guard var grams = folded.removeValue(forKey: options) else { return }
    let (all, length) = Self.grams(of: substring)
    let entry = Entry(number: number, substring: substring)
    for gram in all {
      // The substring is under one of its grams.
      guard let index = grams.entries.index(forKey: gram), grams.entries.values[index].remove(entry) != nil,
        grams.entries.values[index].isEmpty
      else { continue }
      // Its bit stays set, because another gram may share it.
      grams.entries.remove(at: index)
      grams.lengths[length] -= 1
      assert(grams.lengths[length] >= 0, "a gram was counted when it was stored")
    }
    if !grams.entries.isEmpty { folded[options] = grams }
  }

  /// Visits the numbers of the queries whose substring occurs in the text; none if the value is not a text.
  func forEach(matching value: Value, _ body: (UInt64) -> Bool) {
    guard let text = value.stringValue else { return }
    for (options, grams) in folded {
      var seen = Set<Gram>()
      let whole = text.folded(options)
      let continues = Self.forEachGram(of: whole, lengths: grams.lengths) { gram in
        guard grams.mayHave(gram), let entries = grams.entries[gram], seen.insert(gram).inserted else { return true }
        for entry in entries where TextSearch.contains(whole, entry.substring) {
          guard body(entry.number) else { return false }
        }
        return true
      }
      guard continues else { return }
    }
  }

  /// The distinct longest grams of a substring, in order.
  private static func grams(of substring: String) -> (grams: [Gram], length: Int) {
    let length = min(substring.utf8.count, maximumGramLength)
    var lengths = [Int](repeating: 0, count: maximumGramLength + 1)
    lengths[length] = 1
    var (found, seen) = ([Gram](), Set<Gram>())
    _ = forEachGram(of: substring, lengths: lengths) { gram in
      if seen.insert(gram).inserted { found.append(gram) }
      return true
    }
    return (found, length)
  }

  /// - Returns: false if `body` stopped the iteration.
  private static func forEachGram(of text: String, lengths: [Int], _ body: (Gram) -> Bool) -> Bool {
    var (last, count): (UInt32, Int) = (0, 0)
    for byte in text.utf8 {
      last = last << 8 | UInt32(byte)
      count += 1
      for length in 1...maximumGramLength where lengths[length] > 0 && count >= length {
        let bytes = last & (0xFF_FFFF >> UInt32(8 * (maximumGramLength - length)))
        guard body(UInt32(length) << 24 | bytes) else { return false }
      }
    }
    return true
  }
}
