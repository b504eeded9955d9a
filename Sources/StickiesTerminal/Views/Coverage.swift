import TerminalCells

/// Which cells of a rectangle are covered, as bits: so that what lies under others is not drawn at all.
struct Coverage {
  let frame: Rect
  private let wordsPerRow: Int
  private var words: [UInt64]

  init(_ frame: Rect) {
    self.frame = frame
    wordsPerRow = (frame.size.width + 63) / 64
    words = Array(repeating: 0, count: wordsPerRow * frame.size.height)
  }

  /// The bits of columns `low..<high` in one word of a row.
  private static func mask(_ word: Int, _ low: Int, _ high: Int) -> UInt64 {
    let first = max(low - word * 64, 0)
    let end = min(high - word * 64, 64)
    let below = end == 64 ? UInt64.max : 1 << UInt64(end) - 1
    return below & (UInt64.max << UInt64(first))
  }

  /// Covers a rectangle as far as it lies inside; true if it covers a cell that was free.
  mutating func add(_ rect: Rect) -> Bool {
    let area = rect.intersection(frame)
    guard !area.isEmpty else { return false }
    let (low, high) = (area.minX - frame.minX, area.maxX - frame.minX)
    var isNew = false
    for row in (area.minY - frame.minY)..<(area.maxY - frame.minY) {
      for word in low / 64...(high - 1) / 64 {
        let mask = Self.mask(word, low, high)
        let place = row * wordsPerRow + word
        if words[place] & mask != mask {
          isNew = true
          words[place] |= mask
        }
      }
    }
    return isNew
  }

  /// Whether all of a rectangle that lies inside is covered.
  func contains(_ rect: Rect) -> Bool {
    let area = rect.intersection(frame)
    guard !area.isEmpty else { return true }
    let (low, high) = (area.minX - frame.minX, area.maxX - frame.minX)
    for row in (area.minY - frame.minY)..<(area.maxY - frame.minY) {
      for word in low / 64...(high - 1) / 64 {
        let mask = Self.mask(word, low, high)
        if words[row * wordsPerRow + word] & mask != mask { return false }
      }
    }
    return true
  }

  /// Whether a cell is covered.
  func contains(_ point: Point) -> Bool {
    guard frame.contains(point) else { return false }
    let x = point.x - frame.minX
    return words[(point.y - frame.minY) * wordsPerRow + x / 64] >> UInt64(x % 64) & 1 == 1
  }
}
