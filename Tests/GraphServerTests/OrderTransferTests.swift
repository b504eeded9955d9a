import GraphHub
import GraphModel
import Testing

@testable import GraphServer

/// The transfer of an order's objects from a reader's thread to the loop.
@Suite struct OrderTransferTests {
  private static func objects(_ count: Int) -> [SortedObject] {
    (0..<count).map {
      let id = ObjectID(key: UniqueID(high: 1, low: UInt64($0)), entity: 1)
      return SortedObject(image: ObjectImage(id: id, revision: 1, values: []), key: [])
    }
  }

  private static let token = Token(store: .zero, revision: 3, fingerprint: 7)

  @Test func objectsArriveInOrderAndInSlices() {
    let objects = Self.objects(2 * OrderTransfer.sliceObjects + 1)
    let slices = OrderTransfer(
      .success(CollectedObjects(objects: objects, at: Self.token)), bytes: 0, in: OrderMemoryLimiter(limit: 1))
    var (all, sizes) = ([SortedObject](), [Int]())
    while let slice = slices.next() {
      all += slice
      sizes.append(slice.count)
    }
    #expect(all.map(\.image) == objects.map(\.image))
    #expect(sizes == [OrderTransfer.sliceObjects, OrderTransfer.sliceObjects, 1])
    #expect(slices.result == .success(Self.token))
    let none = OrderTransfer(
      .success(CollectedObjects(objects: Self.objects(9), at: Self.token)), bytes: 0, in: OrderMemoryLimiter(limit: 1))
    none.free()
    #expect(none.next() == nil)
  }

  @Test func concurrentOrderReadsShareOneLimit() throws {
    let memory = OrderMemoryLimiter(limit: 100)
    try memory.add(60)
    var first: OrderTransfer? = OrderTransfer(
      .success(CollectedObjects(objects: [], at: Self.token)), bytes: 60, in: memory)
    let refusal = try #require(throws: Refusal.self) { try memory.add(60) }
    #expect(refusal.code == .limit && refusal.message.contains("100 bytes of memory"))
    memory.remove(60)
    #expect(first?.result == .success(Self.token))
    first = nil
    try memory.add(100)
  }
}
