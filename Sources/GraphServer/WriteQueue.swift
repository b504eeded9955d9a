// Tests: WriteQueueTests.swift
import GraphHub
import GraphModel

/// The requests that wait for the writer, and the selection of the group that is committed next.
///
/// Requests of one user, and of the machine's owner, are committed in their order of arrival. A group takes few
/// requests and few bytes of each user, and few bytes in all, so that a user with many or with large ones delays the
/// others by little: all requests of a group are answered together, and the rows, rules and full-text indexes of each
/// take time. A batch or a restore, which can change a million objects, is committed alone, so that it does not delay
/// the answers of earlier requests. After it, the waiting requests of others precede a further one of the same user.
struct WriteQueue: Sendable {
  typealias Entry = (StoreRequestID, WriteRequest)

  private var waiting = [Entry]()
  /// The user of the last group, if that was committed alone.
  private var lastAlone: Writer?

  /// The maximum number of requests in a group, and so of those that delay a reply.
  static let maximumGroup = 1_024
  /// The maximum number of requests of one user in a group. A further group shares the sync of the disk.
  static let maximumOfUser = 16
  /// The approximate number of bytes in a group, unless a single request has more.
  static let maximumBytes = 4 << 20
  /// The approximate number of bytes of one user in a group, unless a single request has more.
  static let maximumBytesOfUser = 1 << 20
  /// The bytes that an undo counts: only its plan shows how much it changes.
  private static let undoBytes = maximumBytesOfUser

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
    if waiting.count <= Self.maximumGroup, isSmallGroupOfOwner {
      defer { (waiting, lastAlone) = ([], nil) }
      return waiting
    }
    var passed = Set<Writer>()
    if Self.isCommittedAlone(first.1) {
      let writer = Self.writer(of: first.1)
      let hasTurn = lastAlone != writer || waiting.allSatisfy { Self.writer(of: $0.1) == writer }
      if hasTurn {
        lastAlone = writer
        return [waiting.removeFirst()]
      }
      passed = [writer]
    }
    lastAlone = nil
    return removeGroup(passing: passed)
  }

  /// - Parameter passed: the writers whose requests wait for a later group.
  private mutating func removeGroup(passing passed: Set<Writer>) -> [Entry] {
    var passed = passed
    var shares = [Writer: (count: Int, bytes: Int)]()
    var (group, bytes) = ([Entry](), 0)
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
      let size = Self.bytes(of: entry.1)
      var share = shares[writer, default: (0, 0)]
      // The first request of a group has space in any case, so that each one has its turn.
      let hasSpace =
        group.isEmpty
        || bytes + size <= Self.maximumBytes
          && (writer == .owner || share.count == 0 || share.bytes + size <= Self.maximumBytesOfUser)
      // A batch or a restore of another user is committed alone, by the following call.
      if Self.isCommittedAlone(entry.1) || !hasSpace {
        passed.insert(writer)
        rest.append(entry)
        continue
      }
      group.append(entry)
      bytes += size
      share = (share.count + 1, share.bytes + size)
      shares[writer] = share
      if writer != .owner, share.count == Self.maximumOfUser { passed.insert(writer) }
    }
    // Only requests that are committed alone wait.
    if group.isEmpty, !waiting.isEmpty { return removeOtherAlone() }
    waiting = rest
    return group
  }

  /// Removes the first request of another user than the one that has waited for the others.
  private mutating func removeOtherAlone() -> [Entry] {
    guard let first = waiting.first else { return [] }
    let former = Self.writer(of: first.1)
    let other = waiting.firstIndex { Self.writer(of: $0.1) != former }
    let entry = if let other { waiting.remove(at: other) } else { waiting.removeFirst() }
    lastAlone = Self.writer(of: entry.1)
    return [entry]
  }

  /// Whether all waiting requests can be one group of the owner.
  private var isSmallGroupOfOwner: Bool {
    var bytes = 0
    return waiting.allSatisfy { _, request in
      bytes += Self.bytes(of: request)
      return !Self.isCommittedAlone(request) && Self.writer(of: request) == .owner && bytes <= Self.maximumBytes
    }
  }

  private static func isCommittedAlone(_ request: WriteRequest) -> Bool {
    switch request {
    case .batch, .restore: true
    case .transaction, .undo: false
    }
  }

  private static func bytes(of request: WriteRequest) -> Int {
    switch request {
    case .transaction(let transaction, _, _): transaction.approximateSize
    case .undo: undoBytes
    // Committed alone.
    case .batch, .restore: 0
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
