import GraphHub
import GraphModel
import GraphTesting
import Testing

@testable import GraphServer

/// The order in which the writer takes requests: of users by turns, of each user in the order of arrival.
@Suite struct WriteQueueTests {
  private static func rights(_ user: String?) -> Rights? { user.map { Rights(user: $0, role: .editor) } }

  private static func commit(_ ticket: UInt64, _ user: String?) -> (StoreRequestID, WriteRequest) {
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: ticket)
    let author = Principal(id: user.map { $0 } ?? "owner", name: "name")
    return (
      StoreRequestID(ticket),
      .transaction(Transaction(id: id, changes: []), author: author, rights: rights(user))
    )
  }

  private static func batch(_ ticket: UInt64, _ user: String?) -> (StoreRequestID, WriteRequest) {
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: ticket)
    let batch = Batch(id: id, entity: 0, operation: .restore(rows: 0))
    let author = Principal(id: user.map { $0 } ?? "owner", name: "name")
    return (StoreRequestID(ticket), .batch(BatchJob(batch, author: author, rights: rights(user))))
  }

  /// The tickets of all groups that the queue has left.
  private func groups(_ queue: inout WriteQueue) -> [[UInt64]] {
    var groups = [[UInt64]]()
    while !queue.isEmpty {
      let group = queue.removeGroup().map(\.0.number)
      #expect(!group.isEmpty, "a queue that is not empty has a group")
      if group.isEmpty { break }
      groups.append(group)
    }
    #expect(queue.removeGroup().isEmpty)
    return groups
  }

  @Test func groupOfOwnerHasAllRequestsUpToTheLimit() {
    var queue = WriteQueue()
    queue.append((1...1_024).map { Self.commit($0, nil) })
    #expect(groups(&queue) == [Array(1...1_024)])
    queue.append((1...1_025).map { Self.commit($0, nil) })
    #expect(groups(&queue) == [Array(1...1_024), [1_025]])
  }

  @Test func batchOfOwnerIsCommittedAlone() {
    var queue = WriteQueue()
    queue.append([Self.commit(1, nil), Self.batch(2, nil), Self.batch(3, nil), Self.commit(4, nil)])
    #expect(groups(&queue) == [[1], [2], [3], [4]])
  }

  @Test(arguments: [15, 16, 17] as [UInt64]) func groupHasFewRequestsOfUser(count: UInt64) {
    var queue = WriteQueue()
    queue.append((1...count).map { Self.commit($0, "ann") })
    queue.append([Self.commit(100, "ben"), Self.commit(101, nil)])
    let first = Array(1...min(count, 16)) + [100, 101]
    #expect(groups(&queue) == [first] + (count > 16 ? [[17]] : []))
  }

  @Test func floodOfOneUserDelaysOthersByOneGroup() {
    var queue = WriteQueue()
    queue.append((1...1_000).map { Self.commit($0, "ann") })
    #expect(queue.removeGroup().map(\.0.number) == Array(1...16))
    queue.append([Self.commit(2_000, "ben")])
    #expect(queue.removeGroup().map(\.0.number) == Array(17...32) + [2_000])
    queue.append([Self.commit(2_001, nil)])
    #expect(queue.removeGroup().map(\.0.number) == Array(33...48) + [2_001])
  }

  @Test func othersComeBetweenTheBatchesOfUser() {
    var queue = WriteQueue()
    queue.append([Self.batch(1, "ann"), Self.batch(2, "ann"), Self.batch(3, "ann"), Self.commit(4, "ann")])
    #expect(queue.removeGroup().map(\.0.number) == [1])
    queue.append([Self.commit(10, "ben"), Self.commit(11, nil)])
    #expect(queue.removeGroup().map(\.0.number) == [10, 11])
    #expect(queue.removeGroup().map(\.0.number) == [2])
    queue.append([Self.batch(20, "ben")])
    #expect(queue.removeGroup().map(\.0.number) == [20])
    #expect(groups(&queue) == [[3], [4]])
  }

  @Test(arguments: UInt64(1)...10) func requestsOfUserStayInOrder(seed: UInt64) {
    var (random, next) = (SeededGenerator(seed: seed), UInt64(0))
    var queue = WriteQueue()
    let users = [nil, "ann", "ben", "cleo"] as [String?]
    var expected = [String?: [UInt64]]()
    var taken = [String?: [UInt64]]()
    var owners = [UInt64: String?]()
    func take(_ group: [(StoreRequestID, WriteRequest)]) {
      for (ticket, _) in group {
        guard let user = owners[ticket.number] else { continue }
        taken[user, default: []].append(ticket.number)
      }
    }
    for _ in 0..<2_000 {
      next += 1
      let user = users.randomElement(using: &random).flatMap { $0 }
      owners[next] = user
      expected[user, default: []].append(next)
      queue.append([Int.random(in: 0..<8, using: &random) == 0 ? Self.batch(next, user) : Self.commit(next, user)])
      if Int.random(in: 0..<4, using: &random) == 0 { take(queue.removeGroup()) }
    }
    while !queue.isEmpty { take(queue.removeGroup()) }
    #expect(taken == expected, "seed \(seed)")
  }
}
