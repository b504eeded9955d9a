import FreedMemory
import GraphHub
import GraphModel
import Synchronization

/// The objects of an order on their way from a reader's thread to the hub: so few at a time that the loop's other work, the
/// commits of all clients, waits a millisecond for them.
final class OrderSlices: Sendable {
  static let sliceObjects = 512

  private let rest: Mutex<[[ObjectImage]]>
  let result: Result<Token, Refusal>
  private let memory: CollectedMemory
  private let bytes: Int

  /// - Parameter bytes: what the objects are counted with in `memory`.
  init(
    _ result: Result<(images: [ObjectImage], at: Token), Refusal>, bytes: Int, in memory: CollectedMemory
  ) {
    (self.memory, self.bytes) = (memory, bytes)
    var slices = [[ObjectImage]]()
    switch result {
    case .success(let (images, at)):
      for start in stride(from: 0, to: images.count, by: Self.sliceObjects).reversed() {
        slices.append(Array(images[start..<min(start + Self.sliceObjects, images.count)]))
      }
      self.result = .success(at)
    case .failure(let refusal): self.result = .failure(refusal)
    }
    rest = Mutex(slices)
  }

  deinit { memory.remove(bytes) }

  /// The next objects; nil when all are handed over.
  func next() -> [ObjectImage]? { rest.withLock { $0.popLast() } }

  /// Frees those that are left, on the calling thread.
  func free() {
    let left = rest.withLock { rest in
      defer { rest = [] }
      return rest
    }
    withExtendedLifetime(left) {}
  }
}

/// Counts the bytes of all orders that are being read.
final class CollectedMemory: Sendable {
  private let limit: Int
  private let bytes = Mutex(0)

  init(limit: Int) { self.limit = limit }

  /// - Throws: a refusal when that is too much.
  func add(_ count: Int) throws {
    let total = bytes.withLock { bytes in
      bytes += count
      return bytes
    }
    if total > limit { throw Refusal.tooLargeOrders(limit) }
  }

  func remove(_ count: Int) { bytes.withLock { $0 -= count } }
}
