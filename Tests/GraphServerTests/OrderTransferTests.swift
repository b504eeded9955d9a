import GraphHub
import GraphModel
import Testing

@testable import GraphServer

/// The transfer of an order's objects from a reader's thread to the loop.
@Suite struct OrderTransferTests {
  private static func images(_ count: Int) -> [ObjectImage] {
    (0..<count).map {
      ObjectImage(id: ObjectID(key: UniqueID(high: 1, low: UInt64($0)), entity: 1), revision: 1, values: [])
    }
  }

  private static let token = Token(store: .zero, revision: 3, fingerprint: 7)

  @Test func objectsArriveInOrderAndInSlices() {
    let images = Self.images(2 * OrderTransfer.sliceObjects + 1)
    let slices = OrderTransfer(
      .success(CollectedObjects(images: images, at: Self.token)), bytes: 0, in: OrderMemoryLimiter(limit: 1))
    var (all, sizes) = ([ObjectImage](), [Int]())
    while let slice = slices.next() {
      all += slice
      sizes.append(slice.count)
    }
    #expect(all == images)
    #expect(sizes == [OrderTransfer.sliceObjects, OrderTransfer.sliceObjects, 1])
    #expect(slices.result == .success(Self.token))
    let none = OrderTransfer(
      .success(CollectedObjects(images: Self.images(9), at: Self.token)), bytes: 0, in: OrderMemoryLimiter(limit: 1))
    none.free()
    #expect(none.next() == nil)
  }

  @Test func concurrentOrderReadsShareOneLimit() throws {
    let memory = OrderMemoryLimiter(limit: 100)
    try memory.add(60)
    var first: OrderTransfer? = OrderTransfer(
      .success(CollectedObjects(images: [], at: Self.token)), bytes: 60, in: memory)
    let refusal = try #require(throws: Refusal.self) { try memory.add(60) }
    #expect(refusal.code == .limit && refusal.message.contains("100 bytes of memory"))
    memory.remove(60)
    #expect(first?.result == .success(Self.token))
    first = nil
    try memory.add(100)
  }
}
