import FreedMemory
import GraphModel
import GraphWire

/// Reads of history.
extension StoreReadRunner {
  /// The maximum number of object changes in one log, and their approximate maximum size in bytes.
  static let maximumLogChanges = 1_000_000
  static let maximumLogBytes = 256 << 20

  func log(_ request: LogRequest, _ number: UInt64, _ stream: ReadStream) throws {
    var (chunk, size) = ([CommitEntry](), 0)
    var (changes, bytes) = (0, 0)
    defer { releaseMemory(after: changes) }
    let end = try store.log(
      request, seenBy: visibility, maximumChanges: Self.maximumLogChanges, while: { stream.isActive }
    ) { commit in
      changes += commit.changes.count
      bytes += commit.approximateSize
      guard bytes <= Self.maximumLogBytes else {
        throw Refusal(
          .limit,
          "the log would take more than \(Self.maximumLogBytes >> 20) MiB: ask for fewer commits, or for fewer changes of "
            + "each")
      }
      chunk.append(entry(commit))
      size += commit.approximateSize
      if size >= ProtocolLimits.chunkSize {
        try stream.add(frame(ToClient(number, .log(chunk, last: false))))
        (chunk, size) = ([], 0)
      }
    }
    try stream.finish(frame(ToClient(number, .log(chunk, last: true, damage: end.damage))), at: end.at)
  }

  /// The number of objects from which a read leaves more freed memory than the next reads need.
  static let manyObjects = 50_000

  private func releaseMemory(after objects: Int) { if objects >= Self.manyObjects { releaseFreedMemory() } }

  func why(_ property: PropertyNumber, of id: ObjectID, _ number: UInt64, _ stream: ReadStream) throws {
    var origin = try store.origin(of: property, of: id, seenBy: visibility)
    // Omits values until the answer fits into a frame, the losing values first.
    var size = origin.overwrittenValues.reduce(origin.value.approximateSize + origin.replaced.approximateSize) {
      $0 + $1.value.approximateSize
    }
    while size > ProtocolLimits.maximumFrameSize / 2, !origin.overwrittenValues.isEmpty {
      size -= origin.overwrittenValues.removeFirst().value.approximateSize
    }
    if size > ProtocolLimits.maximumFrameSize - 1 << 16 { (origin.replaced, origin.isReplacedKnown) = (.null, false) }
    if isOfOthers(origin.author) { origin.transaction = Self.unknownTransaction }
    if let lens { origin = lens.downgraded(origin, of: property) }
    try stream.finish(frame(ToClient(number, .why(origin))), at: store.head)
  }

  func follow(_ request: FollowRequest, _ number: UInt64, _ stream: ReadStream) throws {
    let part = try store.follow(request, seenBy: visibility)
    let answer = ToClient.Body.followed(part.commits.map(entry), at: part.at, head: part.head, damage: part.damage)
    try stream.finish(frame(ToClient(number, answer)), at: part.head)
  }

  func differences(_ request: DifferenceRequest, _ number: UInt64, _ stream: ReadStream) throws {
    var chunk = [ObjectDifference]()
    var (size, count) = (0, 0)
    defer { releaseMemory(after: count) }
    let end = try store.differences(request, seenBy: visibility) { difference in
      var difference = difference
      count += 1
      if difference.approximateSize > ProtocolLimits.maximumFrameSize / 2 {
        // Too large for one frame: omit the previous values, but keep the property numbers.
        difference.properties = difference.properties.map { .init($0.number, was: .null) }
      }
      let added = difference.approximateSize
      if size + added > ProtocolLimits.maximumFrameSize / 2, !chunk.isEmpty {
        try stream.add(frame(ToClient(number, .differences(chunk, last: false))))
        (chunk, size) = ([], 0)
      }
      chunk.append(difference)
      size += added
      if size >= ProtocolLimits.chunkSize {
        try stream.add(frame(ToClient(number, .differences(chunk, last: false))))
        (chunk, size) = ([], 0)
      }
    }
    try stream.finish(frame(ToClient(number, .differences(chunk, last: true, damage: end.damage))), at: end.at)
  }

  /// Whether a commit is one of another user, for a user who does not see everything.
  ///
  /// The fingerprints of all commits are sent to such a user, too. A client's replica is a random part of each, which
  /// keeps the values of invisible commits from being guessed, so it must not become known.
  private func isOfOthers(_ author: String) -> Bool {
    visibility != nil && !UTF8Comparison.equal(author, principal.name)
  }

  private static let unknownTransaction = TransactionID(replica: .zero, sequence: 0)

  private func entry(_ commit: CommitRecord) -> CommitEntry {
    var entry = CommitEntry(commit)
    if isOfOthers(entry.author) { entry.transaction = Self.unknownTransaction }
    // Changes of objects whose entity was removed from the model cannot be decoded.
    entry.changes.removeAll { store.model.entity($0.id.entity) == nil }
    guard commit.approximateSize > ProtocolLimits.maximumFrameSize / 2 else { return entry }
    // Too large for one frame: omit the objects, but keep their ids.
    for index in entry.changes.indices {
      entry.changes[index].object = nil
      entry.changes[index].edits = []
    }
    return entry
  }
}
