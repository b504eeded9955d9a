import GraphModel
import GraphReplica
import GraphWire

/// The parts of one answer, pulled. A part is requested when the previous one has been consumed, so that at most one
/// waits here beyond those that the server sends ahead.
@MainActor
public final class ReplyStream: AsyncSequence {
  /// The objects of one chunk.
  public typealias Element = [ObjectImage]

  private var parts = [ToClient.Body]()
  private var failure: Refusal?
  private var isComplete = false
  private var waiting: CheckedContinuation<Void, Never>?
  private let requestPart: () -> Void
  /// The state that the objects were read at; known when the last chunk has been consumed.
  public private(set) var token: Token?
  /// The number of objects or rows in the entire answer; known when the last chunk has been consumed.
  public private(set) var count: Int?
  /// The cursor of the next page. Known when the last chunk of a fetch with a limit has been consumed; nil when there
  /// are no further objects.
  public private(set) var next: FetchCursor?
  /// Whether the caller can do without damaged objects and commits. Otherwise the last chunk throws
  /// `Refusal(.unavailable)` if the answer omits any, so that no caller takes them for deleted.
  public var omitsDamage = false
  /// The damage that the answer omits; known when the last chunk has been consumed.
  public private(set) var damage = DamageNotice()

  init(requestPart: @escaping () -> Void) { self.requestPart = requestPart }

  func put(_ part: ToClient.Body, isLast: Bool) {
    parts.append(part)
    isComplete = isLast
    wake()
  }

  func end(_ refusal: Refusal) {
    failure = refusal
    wake()
  }

  private func wake() {
    waiting?.resume()
    waiting = nil
  }

  /// The next part; nil after the last.
  func nextPart() async throws -> ToClient.Body? {
    while parts.isEmpty {
      if isComplete { return nil }
      if let failure { throw failure }
      await withCheckedContinuation { waiting = $0 }
    }
    let part = parts.removeFirst()
    if part.awaitsMore { requestPart() }
    return part
  }

  /// The content of the next part; nil after the last.
  /// - Parameter content: the content of a part of the requested kind; nil for any other kind.
  func next<Content>(_ content: (ToClient.Body) -> Content?) async throws -> Content? {
    guard let part = try await nextPart() else { return nil }
    guard let content = content(part) else { throw Replica.unexpectedReply }
    return content
  }

  /// The error of a reply that ends early.
  static let incomplete = Refusal(.unavailable, "the server's answer is incomplete")

  /// The next chunk's objects; nil after the last.
  public func nextChunk() async throws -> [ObjectImage]? { try await nextWholeChunk()?.objects }

  /// The next chunk with all of its fields; nil after the last.
  func nextWholeChunk() async throws -> Chunk? {
    let chunk = try await next { if case .chunk(let chunk) = $0 { chunk } else { nil } }
    if let chunk, let end = chunk.end {
      token = end.at
      count = Int(clamping: end.count)
      next = chunk.next.isEmpty ? nil : try FetchCursor(bytes: chunk.next)
      try receive(chunk.damage)
    }
    return chunk
  }

  /// The commits of the next part of a log; nil after the last.
  func nextCommits() async throws -> [CommitEntry]? {
    let part = try await next { if case .log(let commits, _, let damage) = $0 { (commits, damage) } else { nil } }
    guard let (commits, damage) = part else { return nil }
    try receive(damage)
    return commits
  }

  private func receive(_ damage: DamageNotice) throws {
    self.damage.formUnion(damage)
    if !omitsDamage, !self.damage.isEmpty { throw self.damage.refusal }
  }

  /// Consumes chunks of the stream that made it; all its iterators share them.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: ReplyStream

    @MainActor
    public mutating func next() async throws -> [ObjectImage]? { try await stream.nextChunk() }
  }

  nonisolated public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}
