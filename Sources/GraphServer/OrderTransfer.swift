import GraphHub
import GraphModel
import Synchronization

/// The objects of an order as read and sorted.
struct CollectedObjects {
  var objects: [SortedObject]
  var at: Token
  /// The damaged objects that are missing.
  var damage = DamageNotice()
}

/// The objects of an order in transit from a reader's thread to the hub.
///
/// The slices are so small that the loop's other work, including all commits, waits for about a millisecond.
final class OrderTransfer: Sendable {
  static let sliceObjects = 512

  private let rest: Mutex<[[SortedObject]]>
  let result: Result<Token, Refusal>
  /// The damaged objects that the order lacks.
  let damage: DamageNotice
  private let memory: OrderMemoryLimiter
  private let bytes: Int

  /// - Parameter bytes: the size of the objects as counted in `memory`.
  init(_ result: Result<CollectedObjects, Refusal>, bytes: Int, in memory: OrderMemoryLimiter) {
    (self.memory, self.bytes) = (memory, bytes)
    var slices = [[SortedObject]]()
    switch result {
    case .success(let collected):
      let objects = collected.objects
      for start in stride(from: 0, to: objects.count, by: Self.sliceObjects).reversed() {
        slices.append(Array(objects[start..<min(start + Self.sliceObjects, objects.count)]))
      }
      (self.result, damage) = (.success(collected.at), collected.damage)
    case .failure(let refusal): (self.result, damage) = (.failure(refusal), DamageNotice())
    }
    rest = Mutex(slices)
  }

  deinit { memory.remove(bytes) }

  /// The next slice; nil when all have been taken.
  func next() -> [SortedObject]? { rest.withLock { $0.popLast() } }

  /// Frees the remaining objects on the calling thread.
  func free() {
    let left = rest.withLock { rest in
      defer { rest = [] }
      return rest
    }
    withExtendedLifetime(left) {}
  }
}

/// Counts the bytes of all orders that are being read.
final class OrderMemoryLimiter: Sendable {
  private let limit: Int
  private let bytes = Mutex(0)

  init(limit: Int) { self.limit = limit }

  /// - Throws: a refusal when the total exceeds the limit.
  func add(_ count: Int) throws {
    let total = bytes.withLock { bytes in
      bytes += count
      return bytes
    }
    if total > limit { throw Refusal.tooLargeOrders(limit) }
  }

  func remove(_ count: Int) {
    bytes.withLock { bytes in
      bytes -= count
      assert(bytes >= 0, "only counted bytes are removed")
    }
  }
}
