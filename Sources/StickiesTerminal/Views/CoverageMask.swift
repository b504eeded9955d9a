import TerminalCells

/// A bit for each covered cell of a rectangle, so that hidden content is not drawn at all.
struct CoverageMask {
  let frame: Rect
  private let wordsPerRow: Int
  private var words: [UInt64]

  init(_ frame: Rect) {
    self.frame = frame
    wordsPerRow = (frame.size.width + 63) / 64
    words = Array(repeating: 0, count: wordsPerRow * frame.size.height)
  }

  /// The bits of the columns `low..<high` in one word of a row.
  private static func mask(_ word: Int, _ low: Int, _ high: Int) -> UInt64 {
    let first = max(low - word * 64, 0)
    let end = min(high - word * 64, 64)
    let below = end == 64 ? UInt64.max : 1 << UInt64(end) - 1
    return below & (UInt64.max << UInt64(first))
  }

  /// Covers the part of a rectangle that lies inside.
  mutating func add(_ rect: Rect) {
    let area = rect.intersection(frame)
    guard !area.isEmpty else { return }
    let (low, high) = (area.minX - frame.minX, area.maxX - frame.minX)
    for row in (area.minY - frame.minY)..<(area.maxY - frame.minY) {
      for word in low / 64...(high - 1) / 64 { words[row * wordsPerRow + word] |= Self.mask(word, low, high) }
    }
  }

  /// The bounding box of the uncovered cells of a rectangle; empty if all cells inside are covered.
  func free(of rect: Rect) -> Rect {
    let area = rect.intersection(frame)
    guard !area.isEmpty else { return Rect(x: frame.minX, y: frame.minY, width: 0, height: 0) }
    let (low, high) = (area.minX - frame.minX, area.maxX - frame.minX)
    var (minX, maxX, minY, maxY) = (Int.max, 0, 0, 0)
    for row in (area.minY - frame.minY)..<(area.maxY - frame.minY) {
      for word in low / 64...(high - 1) / 64 {
        let free = Self.mask(word, low, high) & ~words[row * wordsPerRow + word]
        guard free != 0 else { continue }
        if minX == .max { minY = row }
        maxY = row + 1
        minX = min(minX, word * 64 + free.trailingZeroBitCount)
        maxX = max(maxX, word * 64 + 64 - free.leadingZeroBitCount)
      }
    }
    guard minX < maxX else { return Rect(x: frame.minX, y: frame.minY, width: 0, height: 0) }
    return Rect(x: frame.minX + minX, y: frame.minY + minY, width: maxX - minX, height: maxY - minY)
  }

  /// Whether a cell is covered.
  func contains(_ point: Point) -> Bool {
    guard frame.contains(point) else { return false }
    let x = point.x - frame.minX
    return words[(point.y - frame.minY) * wordsPerRow + x / 64] >> UInt64(x % 64) & 1 == 1
  }
}
