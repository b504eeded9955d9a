// Tests: FetchingTests.swift
import GraphModel
import GraphWire

/// One row of a fetch whose result is rows.
public struct FetchedRow: Sendable {
  /// The columns, the same for all rows of an answer.
  public let columns: [RowColumn]
  /// The values, one for each column.
  public let values: [Value]

  /// The value of a column by name; nil when there is no such column.
  public subscript(name: String) -> Value? {
    columns.firstIndex { $0.name == name }.flatMap { $0 < values.count ? values[$0] : nil }
  }
}

/// The rows of one answer, pulled chunk by chunk.
public final class RowStream: AsyncSequence {
  /// The rows of one chunk.
  public typealias Element = [FetchedRow]

  private let stream: ReplyStream
  /// The columns; known when the first chunk has been consumed.
  public var columns: [RowColumn] { stream.columns }
  /// The state that the rows were read at; known when the last chunk has been consumed.
  public var token: Token? { stream.token }
  /// The cursor of the next page. Known when the last chunk of a fetch with a limit has been consumed; nil when there
  /// are no further rows. Groups and distinct rows have none.
  public var next: FetchCursor? { stream.next }
  /// Whether the rows of damaged objects are left out; otherwise the read of the last chunk throws a refusal.
  package var omitsDamage: Bool {
    get { stream.omitsDamage }
    set { stream.omitsDamage = newValue }
  }

  init(_ stream: ReplyStream) { self.stream = stream }

  /// The next chunk's rows; nil after the last.
  public func nextChunk() async throws -> [FetchedRow]? {
    guard let chunk = try await stream.nextWholeChunk() else { return nil }
    return chunk.rows.map { FetchedRow(columns: columns, values: $0) }
  }

  /// Reads the chunks of a stream. The iterators of one stream share them: each chunk goes to one iterator.
  public struct Iterator: AsyncIteratorProtocol {
    let stream: RowStream

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> [FetchedRow]? { try await stream.nextChunk() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }
}

/// A page of a longer result.
public struct Page<Object> {
  /// The objects, in the request's order.
  public let objects: [Object]
  /// The cursor of the next page; nil for the last one.
  public let next: FetchCursor?
  /// The state that this page was read at; the next one may be of a later state.
  public let at: Token?
}

/// The pages of a result, each read on demand.
public final class PageSequence<Object>: AsyncSequence {
  /// A page.
  public typealias Element = Page<Object>

  private let read: (FetchCursor?) async throws -> Page<Object>
  private var cursor: FetchCursor?
  private var isComplete = false
  /// Whether a page is being read. The next page begins where it ends.
  private var isReading = false
  private var readers = [CancellableWait]()

  init(read: @escaping (FetchCursor?) async throws -> Page<Object>) { self.read = read }

  /// The next page; nil after the last. A result without objects has one page, which is empty.
  ///
  /// Calls of several tasks are answered one after the other, each with a page of its own. A call whose task is
  /// cancelled throws `CancellationError`; the next call reads its page.
  public func nextPage() async throws -> Page<Object>? {
    while isReading { try await waitForTurn() }
    if isComplete {
      resumeReader()
      return nil
    }
    isReading = true
    defer {
      isReading = false
      resumeReader()
    }
    let page = try await read(cursor)
    cursor = page.next
    isComplete = page.next == nil
    return page
  }

  private func waitForTurn() async throws {
    let wait = CancellableWait()
    readers.append(wait)
    do { try await wait.wait() } catch {
      readers.removeAll { $0 === wait }
      throw error
    }
  }

  /// Resumes the first reader whose task is not cancelled.
  private func resumeReader() {
    while !readers.isEmpty {
      if readers.removeFirst().end() { return }
    }
  }

  /// Reads the pages of a sequence. The iterators of one sequence share them: each page goes to one iterator.
  public struct Iterator: AsyncIteratorProtocol {
    let pages: PageSequence<Object>

    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> Page<Object>? { try await pages.nextPage() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(pages: self) }
}
