import GraphHub
import GraphModel
import GraphTesting
import Testing

@testable import GraphServer

/// The order in which the writer takes requests: of users by turns, of each user in the order of arrival.
@Suite struct WriteQueueTests {
  private static func rights(_ user: String?) -> Rights? { user.map { Rights(user: $0, role: .editor) } }

  /// - Parameter kibibytes: the size of a text in the transaction.
  private static func commit(
    _ ticket: UInt64, _ user: String?, kibibytes: Int = 0
  ) -> (StoreRequestID, WriteRequest) {
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: ticket)
    let author = Principal(id: user.map { $0 } ?? "owner", name: "name")
    let text = Edit(1, .set(.string(String(repeating: "x", count: kibibytes << 10))))
    let changes = kibibytes == 0 ? [] : [Change(.insert, .temporary(1, entity: 1), edits: [text])]
    return (
      StoreRequestID(ticket),
      .transaction(Transaction(id: id, changes: changes), author: author, rights: rights(user))
    )
  }

  private static func undo(_ ticket: UInt64, _ user: String?) -> (StoreRequestID, WriteRequest) {
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: ticket)
    let author = Principal(id: user.map { $0 } ?? "owner", name: "name")
    return (StoreRequestID(ticket), .undo(UndoRequest(id), author: author, rights: rights(user)))
  }

  private static func restore(_ ticket: UInt64, _ user: String?) -> (StoreRequestID, WriteRequest) {
    let id = TransactionID(replica: UniqueID(high: 1, low: 1), sequence: ticket)
    let author = Principal(id: user.map { $0 } ?? "owner", name: "name")
    return (
      StoreRequestID(ticket), .restore(RestoreRequest(id, .everything, at: 1), author: author, rights: rights(user))
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

  @Test func groupHasFewBytes() {
    var queue = WriteQueue()
    queue.append((1...6).map { Self.commit($0, nil, kibibytes: 1_000) } + [Self.commit(7, nil)])
    #expect(groups(&queue) == [[1, 2, 3, 4], [5, 6, 7]])
    // A larger one has a group of its own, and its user's later requests stay behind it.
    queue.append([Self.commit(1, nil), Self.commit(2, nil, kibibytes: 5_000), Self.commit(3, nil)])
    #expect(groups(&queue) == [[1], [2], [3]])
  }

  @Test func groupHasFewBytesOfUser() {
    var queue = WriteQueue()
    queue.append((1...6).map { Self.commit($0, "ann", kibibytes: 400) } + [Self.commit(10, "ben")])
    #expect(groups(&queue) == [[1, 2, 10], [3, 4], [5, 6]])
    // A larger one is alone among those of its user, and beside the small ones of others.
    queue.append((1...2).map { Self.commit($0, "ann", kibibytes: 2_000) })
    queue.append([Self.commit(3, "ann"), Self.commit(10, "ben"), Self.commit(11, nil)])
    #expect(groups(&queue) == [[1, 10, 11], [2], [3]])
  }

  /// Small requests of others do not overtake a large one again and again.
  @Test func largeRequestHasItsTurn() {
    var queue = WriteQueue()
    queue.append([Self.commit(1, "ann"), Self.commit(2, "ben", kibibytes: 6_000)])
    queue.append((3...40).map { Self.commit($0, "cleo") })
    #expect(queue.removeGroup().map(\.0.number) == [1] + Array(3...18))
    #expect(queue.removeGroup().map(\.0.number) == [2])
    #expect(queue.removeGroup().map(\.0.number) == Array(19...34))
  }

  @Test func restoreIsCommittedAloneAndUndosAreFew() {
    var queue = WriteQueue()
    queue.append([Self.commit(1, nil), Self.restore(2, nil), Self.commit(3, nil)])
    #expect(groups(&queue) == [[1], [2], [3]])
    queue.append([Self.restore(1, "ann"), Self.restore(2, "ann"), Self.commit(3, "ben")])
    #expect(groups(&queue) == [[1], [3], [2]])
    queue.append([Self.undo(1, "ann"), Self.undo(2, "ann"), Self.commit(3, "ben"), Self.undo(4, nil)])
    #expect(groups(&queue) == [[1, 3, 4], [2]])
    queue.append((1...5).map { Self.undo($0, nil) })
    #expect(groups(&queue) == [[1, 2, 3, 4], [5]])
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
      switch Int.random(in: 0..<16, using: &random) {
      case 0: queue.append([Self.batch(next, user)])
      case 1: queue.append([Self.restore(next, user)])
      case 2: queue.append([Self.undo(next, user)])
      case 3: queue.append([Self.commit(next, user, kibibytes: 900)])
      default: queue.append([Self.commit(next, user)])
      }
      if Int.random(in: 0..<4, using: &random) == 0 { take(queue.removeGroup()) }
    }
    while !queue.isEmpty { take(queue.removeGroup()) }
    #expect(taken == expected, "seed \(seed)")
  }
}
