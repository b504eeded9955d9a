/// Queries that wait for texts with a certain part, each filed under three bytes of it: asked which of them a text could
/// satisfy. A text is asked for by every three bytes in a row, folded as the query folds; of a part's the one under which the
/// fewest queries are filed counts, so that parts which begin alike do not stand in one place. Whether the text has the whole
/// part is looked at here: a number at its end shares three digits with many.
struct PartTable: QueryShelf {
  /// Up to three bytes in a row, with their number.
  private typealias Gram = UInt32

  private static let longest = 3

  /// A query, and what it waits for.
  private struct Entry: Hashable {
    let number: UInt64
    let part: String
  }

  /// Of one way to fold.
  private struct Grams {
    var entries = [Gram: Set<Entry>]()
    /// How many grams of each length are filed; parts that are shorter than three bytes have short ones.
    var lengths = [Int](repeating: 0, count: PartTable.longest + 1)
    /// A bit for each gram that may be filed: most of a long text's are not, and cost no look into the table.
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

  private var folded = [StringOptions: Grams]()

  var isEmpty: Bool { folded.isEmpty }

  /// - Parameter part: not empty, and folded.
  mutating func insert(_ number: UInt64, part: String, _ options: StringOptions) {
    var grams = folded.removeValue(forKey: options) ?? Grams()
    let (all, length) = Self.grams(of: part)
    let best = all.min { (grams.entries[$0]?.count ?? 0) < (grams.entries[$1]?.count ?? 0) }
    if let best {
      if grams.entries[best] == nil { grams.lengths[length] += 1 }
      grams.entries[best, default: []].insert(Entry(number: number, part: part))
      let (word, mask) = Grams.bit(best)
      grams.filter[word] |= mask
    }
    folded[options] = grams
  }

  mutating func remove(_ number: UInt64, part: String, _ options: StringOptions) {
    guard var grams = folded.removeValue(forKey: options) else { return }
    let (all, length) = Self.grams(of: part)
    for gram in all where grams.entries[gram]?.remove(Entry(number: number, part: part)) != nil {
      guard grams.entries[gram]?.isEmpty == true else { continue }
      // Its bit stays: it may be another's too.
      grams.entries[gram] = nil
      grams.lengths[length] -= 1
    }
    if !grams.entries.isEmpty { folded[options] = grams }
  }

  /// Over the numbers of the queries whose part occurs in the text; none for what is no text.
  func forEach(holding value: Value, _ body: (UInt64) -> Bool) {
    guard let text = value.stringValue else { return }
    for (options, grams) in folded {
      var seen = Set<Gram>()
      let whole = text.folded(options)
      let goesOn = Self.forEachGram(of: whole, lengths: grams.lengths) { gram in
        guard grams.mayHave(gram), let entries = grams.entries[gram], seen.insert(gram).inserted else { return true }
        for entry in entries where TextSearch.contains(whole, entry.part) {
          guard body(entry.number) else { return false }
        }
        return true
      }
      guard goesOn else { return }
    }
  }

  /// A part's grams of the greatest length that it has, each once, in their order.
  private static func grams(of part: String) -> (grams: [Gram], length: Int) {
    let length = min(part.utf8.count, longest)
    var lengths = [Int](repeating: 0, count: longest + 1)
    lengths[length] = 1
    var (found, seen) = ([Gram](), Set<Gram>())
    _ = forEachGram(of: part, lengths: lengths) { gram in
      if seen.insert(gram).inserted { found.append(gram) }
      return true
    }
    return (found, length)
  }

  /// - Returns: false when `body` wanted no more.
  private static func forEachGram(of text: String, lengths: [Int], _ body: (Gram) -> Bool) -> Bool {
    var (last, count): (UInt32, Int) = (0, 0)
    for byte in text.utf8 {
      last = last << 8 | UInt32(byte)
      count += 1
      for length in 1...longest where lengths[length] > 0 && count >= length {
        let bytes = last & (0xFF_FFFF >> UInt32(8 * (longest - length)))
        guard body(UInt32(length) << 24 | bytes) else { return false }
      }
    }
    return true
  }
}
