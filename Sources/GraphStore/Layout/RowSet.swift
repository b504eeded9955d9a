// Tests: BatchDeleteTests.swift, RandomGraphTests.swift

/// A set of rowids as a bitmap. Rowids are dense, so a million of them take some hundred kilobytes. Iterates in
/// ascending order.
package struct RowSet: Sequence {
  private static let bits = 12
  private static let words = 1 << (bits - 6)

  /// The bitmaps by the upper bits of the rowid.
  private var pages = [Int64: [UInt64]]()
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Returns false if the set contained the row already.
  @discardableResult
  package mutating func insert(_ row: Int64) -> Bool {
    let (page, word, bit) = Self.place(of: row)
    let isNew = pages[page, default: [UInt64](repeating: 0, count: Self.words)].set(bit, of: word)
    if isNew { count += 1 }
    return isNew
  }

  func contains(_ row: Int64) -> Bool {
    let (page, word, bit) = Self.place(of: row)
    guard let page = pages[page] else { return false }
    return page[word] & bit != 0
  }

  private static func place(of row: Int64) -> (page: Int64, word: Int, bit: UInt64) {
    let inside = Int(row & (1 << Int64(bits) - 1))
    assert(inside >> 6 < words)
    return (row >> Int64(bits), inside >> 6, 1 << UInt64(inside & 63))
  }

  package init() {}

  package func makeIterator() -> Iterator { Iterator(pages.sorted { $0.key < $1.key }) }

  package struct Iterator: IteratorProtocol {
    private let pages: [(key: Int64, value: [UInt64])]
    private var page = 0
    private var word = 0
    /// The remaining bits of the word.
    private var rest: UInt64

    fileprivate init(_ pages: [(key: Int64, value: [UInt64])]) {
      self.pages = pages
      rest = if let first = pages.first { first.value[0] } else { 0 }
    }

    package mutating func next() -> Int64? {
      while page < pages.count {
        if rest != 0 {
          let bit = rest.trailingZeroBitCount
          rest &= rest - 1
          return pages[page].key << Int64(RowSet.bits) | Int64(word << 6 | bit)
        }
        word += 1
        if word == RowSet.words { (page, word) = (page + 1, 0) }
        rest = page < pages.count ? pages[page].value[word] : 0
      }
      return nil
    }
  }
}

extension [UInt64] {
  fileprivate mutating func set(_ bit: UInt64, of word: Int) -> Bool {
    let isNew = self[word] & bit == 0
    self[word] |= bit
    return isNew
  }
}
