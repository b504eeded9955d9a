// Tests: WriteQueueTests.swift
import GraphHub
import GraphModel

/// The requests that wait for the writer, and the selection of the group that is committed next.
///
/// Requests of one user, and of the machine's owner, are committed in their order of arrival. A group takes few
/// requests of each user, so that a user with many delays the others by little. A batch request is committed alone, so
/// that it does not delay the answers of earlier requests. After it, the waiting requests of others precede a further
/// batch of the same user.
struct WriteQueue: Sendable {
  typealias Entry = (StoreRequestID, WriteRequest)

  private var waiting = [Entry]()
  /// The user of the last group, if that was a batch.
  private var lastBatch: Writer?

  /// The maximum number of requests in a group, and so of those that delay a reply.
  static let maximumGroup = 1_024
  /// The maximum number of requests of one user in a group. A further group shares the sync of the disk.
  static let maximumOfUser = 16

  /// The clients whose requests keep their order.
  private enum Writer: Hashable {
    case owner
    case user(String)
  }

  var isEmpty: Bool { waiting.isEmpty }

  mutating func append(_ requests: [Entry]) {
    // The queue is usually empty; then the requests are not copied.
    if waiting.isEmpty { waiting = requests } else { waiting += requests }
  }

  /// Removes the requests of the next group; empty if none waits.
  mutating func removeGroup() -> [Entry] {
    guard let first = waiting.first else { return [] }
    // Without accounts this is all, and nothing is copied.
    if waiting.count <= Self.maximumGroup, waiting.allSatisfy({ Self.isOrdinaryOfOwner($0.1) }) {
      defer { (waiting, lastBatch) = ([], nil) }
      return waiting
    }
    var passed = Set<Writer>()
    if case .batch = first.1 {
      let writer = Self.writer(of: first.1)
      let hasTurn = lastBatch != writer || waiting.allSatisfy { Self.writer(of: $0.1) == writer }
      if hasTurn {
        lastBatch = writer
        return [waiting.removeFirst()]
      }
      passed = [writer]
    }
    lastBatch = nil
    return removeGroup(passing: passed)
  }

  /// - Parameter passed: the writers whose requests wait for a later group.
  private mutating func removeGroup(passing passed: Set<Writer>) -> [Entry] {
    var passed = passed
    var counts = [Writer: Int]()
    var group = [Entry]()
    var rest = [Entry]()
    for (index, entry) in waiting.enumerated() {
      if group.count == Self.maximumGroup {
        rest += waiting[index...]
        break
      }
      let writer = Self.writer(of: entry.1)
      if passed.contains(writer) {
        rest.append(entry)
        continue
      }
      if case .batch = entry.1 {
        // The batch of another user is committed alone, by the following call.
        passed.insert(writer)
        rest.append(entry)
        continue
      }
      group.append(entry)
      if case .user = writer {
        counts[writer, default: 0] += 1
        if counts[writer] == Self.maximumOfUser { passed.insert(writer) }
      }
    }
    // Only batches wait.
    if group.isEmpty, !waiting.isEmpty { return removeOtherBatch() }
    waiting = rest
    return group
  }

  /// Removes the first batch of another user than the one that has waited for the others.
  private mutating func removeOtherBatch() -> [Entry] {
    guard let first = waiting.first else { return [] }
    let former = Self.writer(of: first.1)
    let other = waiting.firstIndex { Self.writer(of: $0.1) != former }
    let entry = if let other { waiting.remove(at: other) } else { waiting.removeFirst() }
    lastBatch = Self.writer(of: entry.1)
    return [entry]
  }

  private static func isOrdinaryOfOwner(_ request: WriteRequest) -> Bool {
    switch request {
    case .transaction(_, _, let rights), .undo(_, _, let rights), .restore(_, _, let rights): rights == nil
    case .batch: false
    }
  }

  private static func writer(of request: WriteRequest) -> Writer {
    switch request {
    case .transaction(_, let author, let rights), .undo(_, let author, let rights), .restore(_, let author, let rights):
      // Without rights, the request is one of the machine's owner.
      rights == nil ? .owner : .user(author.id)
    case .batch(let run): run.rights == nil ? .owner : .user(run.author.id)
    }
  }
}
