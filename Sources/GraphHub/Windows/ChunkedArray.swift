// Tests: SortedResultTests.swift

/// An array in chunks.
///
/// Growing a contiguous array of half a million elements copies all of it at once, which takes tens of milliseconds.
struct ChunkedArray<Element> {
  /// A chunk of rows exceeds 128 KiB, so that it has its own mapping and returns to the system when it is freed.
  private static var chunkSize: Int { 2_048 }

  private var chunks = [[Element]]()
  private(set) var count = 0

  mutating func append(_ element: Element) {
    if count.isMultiple(of: Self.chunkSize) {
      chunks.append([])
      // The first chunk grows gradually, because most orders are small.
      if count > 0 { chunks[chunks.count - 1].reserveCapacity(Self.chunkSize) }
    }
    chunks[chunks.count - 1].append(element)
    count += 1
  }

  subscript(index: Int) -> Element {
    get { chunks[index / Self.chunkSize][index % Self.chunkSize] }
    // In place: with `get` and `set`, the element's own storage would be copied.
    _modify { yield &chunks[index / Self.chunkSize][index % Self.chunkSize] }
  }
}

extension ChunkedArray: Sendable where Element: Sendable {}
