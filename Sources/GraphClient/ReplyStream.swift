import GraphModel
import GraphReplica
import GraphWire

/// The parts of one answer, pulled. A part is requested when the previous one has been consumed, so that at most one
/// waits here beyond those that the server sends ahead.
@MainActor
public final class ReplyStream: AsyncSequence {
  /// The objects of one chunk.
  public typealias Element = [ObjectImage]

  private enum Part {
    case chunk(Chunk)
    case answer(RequestResult)
  }

  private var parts = [Part]()
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

  init(requestPart: @escaping () -> Void) { self.requestPart = requestPart }

  func put(_ chunk: Chunk) {
    if chunk.end != nil { isComplete = true }
    parts.append(.chunk(chunk))
    wake()
  }

  func put(_ answer: RequestResult) {
    parts.append(.answer(answer))
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

  private func nextPart() async throws -> Part {
    while parts.isEmpty {
      if let failure { throw failure }
      await withCheckedContinuation { waiting = $0 }
    }
    return parts.removeFirst()
  }

  /// The next part of an answer of differences; nil after the last.
  func nextDifferences() async throws -> [ObjectDifference]? {
    if isComplete { return nil }
    guard case .answer(.differences(let differences, let last)) = try await nextPart() else { return nil }
    if last { isComplete = true } else { requestPart() }
    return differences
  }

  func nextAnswer() async throws -> RequestResult? {
    guard case .answer(let answer) = try await nextPart() else { return nil }
    return answer
  }

  /// The next chunk's objects; nil after the last.
  public func nextChunk() async throws -> [ObjectImage]? { try await nextWholeChunk()?.objects }

  /// The next chunk with all of its fields; nil after the last.
  func nextWholeChunk() async throws -> Chunk? {
    if isComplete, parts.isEmpty { return nil }
    guard case .chunk(let chunk) = try await nextPart() else { return nil }
    if let end = chunk.end {
      token = end.at
      count = Int(clamping: end.count)
      next = chunk.next.isEmpty ? nil : try FetchCursor(bytes: chunk.next)
    } else {
      requestPart()
    }
    return chunk
  }

  /// Consumes chunks of the stream that made it; all its iterators share them.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: ReplyStream

    @MainActor
    public mutating func next() async throws -> [ObjectImage]? { try await stream.nextChunk() }
  }

  nonisolated public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}
