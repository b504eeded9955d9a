// Tests: RandomLogTests.swift, LogFailureTests.swift

/// The two contents of a file on a simulated disk.
struct SimulatedContent {
  private static let sector = 512

  /// The content that survives a power cut.
  var durable = [UInt8]()
  /// The content that reads return.
  var cached = [UInt8]()
  /// The sectors that a sync will write.
  var dirty = Set<Int>()

  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard !bytes.isEmpty else { return }
    let end = offset + bytes.count
    if cached.count < end { cached.append(contentsOf: [UInt8](repeating: 0, count: end - cached.count)) }
    cached.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset..<end]).copyMemory(from: bytes) }
    dirty.formUnion(offset / Self.sector...(end - 1) / Self.sector)
  }

  private func range(_ sector: Int) -> Range<Int> {
    sector * Self.sector..<min((sector + 1) * Self.sector, cached.count)
  }

  private mutating func extendDurable(to count: Int) {
    if durable.count < count { durable.append(contentsOf: [UInt8](repeating: 0, count: count - durable.count)) }
  }

  mutating func synchronize() {
    extendDurable(to: cached.count)
    for sector in dirty { durable.replaceSubrange(range(sector), with: cached[range(sector)]) }
    dirty = []
  }

  /// A failed sync: each sector is written or not, and a sector that is not may stay in the cache for readers.
  mutating func dropDirtySectors(_ random: () -> Int) {
    extendDurable(to: cached.count)
    for sector in dirty.sorted() {
      let range = range(sector)
      switch random() % 3 {
      case 0: durable.replaceSubrange(range, with: cached[range])
      case 1: cached.replaceSubrange(range, with: durable[range])
      default: break
      }
    }
    dirty = []
  }

  /// A power cut: each sector that was not synced is old, new or torn.
  mutating func loseCache(_ random: () -> UInt64) {
    let size = durable.count + Int(random() % UInt64(cached.count - durable.count + 1))
    extendDurable(to: cached.count)
    for sector in dirty.sorted() {
      let range = range(sector)
      let tear = range.lowerBound + Int(random() % UInt64(range.count + 1))
      switch random() % 4 {
      case 0: break
      case 1: durable.replaceSubrange(range, with: cached[range])
      case 2: durable.replaceSubrange(range.lowerBound..<tear, with: cached[range.lowerBound..<tear])
      default: durable.replaceSubrange(tear..<range.upperBound, with: cached[tear..<range.upperBound])
      }
    }
    durable.removeSubrange(size...)
    (cached, dirty) = (durable, [])
  }
}
