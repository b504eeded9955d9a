// Tests: FetchingTests.swift, FetchingClientTests.swift
import GraphModel
import GraphReplica
import GraphWire

/// Fetches in their wire form, which the typed fetches use. Tools build them from texts.
extension GraphReader {
  /// A fetch in its wire form.
  /// - Parameter limit: the most objects or rows; nil for all of them. It is not negative.
  public func wireFetch(
    _ entity: Entity, _ predicate: GraphPredicate = .always, _ sort: [SortKey] = [], _ limit: Int? = nil,
    _ offset: Int = 0, _ after: FetchCursor? = nil, at revision: Revision? = nil
  ) -> Fetch {
    precondition(limit.map { $0 >= 0 } != false, "the limit of a fetch is not negative")
    // A limit of 0 means all of them in a message.
    let predicate = limit == 0 ? .never : predicate
    var fetch = Fetch(
      entity: entity.number, predicate: predicate == .always ? "" : predicate.text(in: context.model),
      sort: sort.text(in: context.model), offset: UInt64(offset), at: revision)
    if let limit { fetch.limit = UInt64(limit) }
    if let after { fetch.after = after.bytes }
    return fetch
  }

  /// The rows of any fetch whose result is rows.
  public func rows(_ fetch: Fetch) -> RowStream { RowStream(stream(fetch)) }

  /// The count of any fetch whose result is a count.
  public func count(_ fetch: Fetch) async throws -> Int {
    Int(clamping: try await lastChunk(of: stream(fetch)).count)
  }

  /// The count of any fetch whose result is a count, without the damaged objects, which it names. A count of the
  /// present names none: it reads no values, and includes damaged objects.
  public func readableCount(_ fetch: Fetch) async throws -> (count: Int, damage: DamageNotice) {
    let stream = stream(fetch)
    stream.omitsDamage = true
    return (Int(clamping: try await lastChunk(of: stream).count), stream.damage)
  }

  /// Returns the server's plan of a fetch. It executes the fetch, but returns no objects.
  public func explain(_ fetch: Fetch) async throws -> FetchExplanation {
    var fetch = fetch
    fetch.explain = true
    guard let explanation = try await lastChunk(of: stream(fetch)).chunk.explanation else {
      throw Refusal(.unavailable, "the server sent no explanation")
    }
    return explanation
  }

  private func lastChunk(of stream: ReplyStream) async throws -> (chunk: Chunk, count: UInt64) {
    while let chunk = try await stream.nextWholeChunk() {
      if let end = chunk.end { return (chunk, end.count) }
    }
    throw ReplyStream.incomplete
  }
}
