// Tests: ReplyStreamTests.swift, CancelledRequestTests.swift
import GraphControllers
import GraphModel
import GraphReplica
import GraphWire

/// The parts of one answer, pulled. A part is requested when the previous one has been consumed. In addition to the
/// parts that the server sends ahead, at most one waits here.
///
/// The server stops working on the request when its answer has no reader: when the stream is released before its end,
/// and when the task of its last reader is cancelled. Readers of several tasks are served in the order of their calls,
/// each part to one of them.
public final class ReplyStream: AsyncSequence {
  /// The objects of one chunk.
  public typealias Element = [ObjectImage]

  /// A reader that waits for a part. Its sign ends with the part, or when its task is cancelled: the reader notices
  /// both on its own actor.
  private final class Reader {
    let arrival = WakeSign()
    /// The part, or the error; nil while the reader waits.
    private(set) var result: Result<ToClient.Body?, any Error>?
    /// Resumed with the result; of a reader whose task was cancelled, and which waits for the outcome.
    var continuation: CheckedContinuation<Void, Never>?

    func receive(_ result: Result<ToClient.Body?, any Error>) {
      assert(self.result == nil, "a reader receives one part")
      self.result = result
      arrival.end()
      continuation?.resume()
      continuation = nil
    }
  }

  /// Parts that no reader has taken; empty while a reader waits.
  private var parts = [ToClient.Body]()
  /// The readers that wait for a part, the first one first.
  private var readers = [Reader]()
  /// The number of readers that wait for a part.
  var waitingReaders: Int { readers.count }
  private var failure: (any Error)?
  private var isComplete = false
  /// Whether the answer's end has not arrived. A stream that fails ends, too.
  private var isOpen = true
  private var isCancelled = false
  /// Whether the request changes the store: its outcome is awaited even if it is cancelled.
  let hasOutcome: Bool
  /// The measurement of a fetch, until the answer has ended.
  var measurement: Measurement?
  /// The request that the parts answer; 0 in tests.
  let request: RequestID
  private let requestPart: () -> Void
  private let cancelRequest: () -> Void
  /// The columns of rows; known when the first chunk has been consumed.
  private(set) var columns = [RowColumn]()
  /// The state that the objects were read at; known when the last chunk has been consumed.
  public private(set) var token: Token?
  /// The number of objects or rows in the entire answer; known when the last chunk has been consumed.
  public private(set) var count: Int?
  /// The cursor of the next page. Known when the last chunk of a fetch with a limit has been consumed; nil when there
  /// are no further objects.
  public private(set) var next: FetchCursor?
  /// Whether the caller can do without damaged objects and commits. Otherwise the last chunk throws
  /// `Refusal(.unavailable)` if the answer omits objects, so that a caller does not consider them deleted.
  public var omitsDamage = false
  /// The damage that the answer omits; known when the last chunk has been consumed.
  public private(set) var damage = DamageNotice()

  /// - Parameters:
  ///   - hasOutcome: the request changes the store. Its outcome is awaited even if it is cancelled.
  ///   - cancelRequest: called once if the answer is no longer needed before its end.
  init(
    _ request: RequestID = 0, hasOutcome: Bool = false, requestPart: @escaping () -> Void,
    cancelRequest: @escaping () -> Void = {}
  ) {
    (self.request, self.hasOutcome) = (request, hasOutcome)
    (self.requestPart, self.cancelRequest) = (requestPart, cancelRequest)
  }

  deinit {
    if isOpen, !isCancelled {
      measurement?.finish(throwing: CancellationError())
      cancelRequest()
    }
  }

  // MARK: - Arriving parts

  func put(_ part: ToClient.Body, isLast: Bool) {
    // A part may arrive after the request was cancelled.
    if !isOpen { return }
    if case .chunk(let chunk) = part, !chunk.columns.isEmpty { columns = chunk.columns }
    if isLast {
      (isComplete, isOpen) = (true, false)
      finishMeasurement(part)
    }
    if readers.isEmpty {
      parts.append(part)
    } else {
      readers.removeFirst().receive(.success(part))
    }
    if isLast { resumeReaders(with: .success(nil)) }
  }

  func end(_ error: any Error) {
    if isComplete { return }
    (failure, isOpen) = (failure ?? error, false)
    measurement?.finish(throwing: error)
    measurement = nil
    resumeReaders(with: .failure(error))
  }

  private func finishMeasurement(_ last: ToClient.Body) {
    measurement?.finish { attributes in
      if case .chunk(let chunk) = last, let end = chunk.end { attributes["graph.objects"] = Int(clamping: end.count) }
    }
    measurement = nil
  }

  private func resumeReaders(with result: Result<ToClient.Body?, any Error>) {
    let waiting = readers
    readers = []
    for reader in waiting { reader.receive(result) }
  }

  // MARK: - Cancelling

  /// Cancels the request at the server, unless its answer is complete.
  func cancel() {
    if !isOpen || isCancelled { return }
    isCancelled = true
    cancelRequest()
    if hasOutcome { return }
    parts = []
    end(CancellationError())
  }

  /// Handles the cancellation of a waiting reader's task.
  private func cancel(_ reader: Reader) {
    if readers.count == 1 { return cancel() }
    if hasOutcome { return }
    readers.removeAll { $0 === reader }
    reader.receive(.failure(CancellationError()))
  }

  // MARK: - Reading

  /// The next part; nil after the last.
  /// - Throws: `CancellationError` if the task was cancelled, except for a request that has an outcome.
  func nextPart() async throws -> ToClient.Body? {
    if Task.isCancelled, readers.isEmpty { cancel() }
    let part = parts.isEmpty ? try await waitForPart() : parts.removeFirst()
    if let part, part.awaitsMore { requestPart() }
    return part
  }

  private func waitForPart() async throws -> ToClient.Body? {
    if isComplete { return nil }
    if let failure { throw failure }
    let reader = Reader()
    readers.append(reader)
    _ = await reader.arrival.wait()
    if reader.result == nil { cancel(reader) }
    if reader.result == nil { await withCheckedContinuation { reader.continuation = $0 } }
    guard let result = reader.result else { preconditionFailure("a reader is resumed with a result") }
    return try result.get()
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

  /// The differences of the next part; nil after the last.
  func nextDifferences() async throws -> [ObjectDifference]? {
    let part = try await next {
      if case .differences(let differences, _, let damage) = $0 { (differences, damage) } else { nil }
    }
    guard let (differences, damage) = part else { return nil }
    try receive(damage)
    return differences
  }

  private func receive(_ damage: DamageNotice) throws {
    self.damage.formUnion(damage)
    if !omitsDamage, !self.damage.isEmpty { throw self.damage.refusal }
  }

  /// Consumes chunks of the stream that made it; all its iterators share them.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: ReplyStream

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [ObjectImage]? { try await stream.nextChunk() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}
