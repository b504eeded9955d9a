import GraphModel

/// A result, and how it became so.
public struct ResultsUpdate: Sendable {
  /// The result as it is now.
  public let snapshot: ResultsSnapshot
  /// From the update before; nil in the first.
  public let difference: ResultsDifference?
}

/// The states of a result, one after another, for the actor that its controller belongs to. It ends when the controller is
/// stopped or gone or the reading task is cancelled, and throws when the result fails.
///
/// What waits for a reader is bounded: one result, and the objects that were touched since it read last.
public struct ResultsUpdates: AsyncSequence {
  /// One state, and how it came.
  public typealias Element = ResultsUpdate
  /// What the result fails by.
  public typealias Failure = Refusal

  let controller: ResultsController

  /// One reader of the updates; it does not keep the controller alive.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: ResultsReader
    private var wake: AsyncStream<Void>.Iterator

    init(_ reader: ResultsReader) {
      self.reader = reader
      wake = reader.wakes.makeAsyncIterator()
    }

    /// The newest result that this reader has not had.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Refusal) -> ResultsUpdate? {
      while true {
        if let update = reader.takeUpdate() { return update }
        if let refusal = reader.failure { throw refusal }
        guard await wake.next(isolation: actor) != nil else {
          // What came with the last wake.
          if let refusal = reader.failure { throw refusal }
          return nil
        }
      }
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(controller.addReader()) }
}

/// What waits for one reader. The controller fills it, the reader empties it, both on one actor.
final class ResultsReader {
  let wakes: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  /// What the reader got last; nil before its first.
  private var base: ResultsSnapshot?
  private var newest: ResultsSnapshot?
  private var touched = [ObjectID: ResultsTouch]()
  private var revision: Revision = 0
  private var author = ""
  private var time: Timestamp = 0
  private(set) var failure: Refusal?

  init() { (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  deinit { wake.finish() }

  func begin(with snapshot: ResultsSnapshot) {
    newest = snapshot
    wake.yield()
  }

  /// - Parameter isNews: false when rows were touched and none changed for anyone to see; what was touched is remembered
  ///   all the same, for a later difference is found by it.
  func take(_ commit: ResultsCommit, isNews: Bool) {
    if isNews || newest != nil { newest = commit.snapshot }
    (revision, author, time) = (commit.revision, commit.author, commit.time)
    // The first is told whole: what led to it does not matter.
    if base != nil {
      for touch in commit.touched {
        guard let id = touch.after?.id ?? touch.before?.id else { continue }
        let both = touched[id]?.followed(by: touch) ?? touch
        // It came and went unseen.
        touched[id] = both.before == nil && both.after == nil ? nil : both
      }
    }
    if isNews { wake.yield() }
  }

  func end(_ refusal: Refusal?) {
    failure = refusal
    wake.finish()
  }

  func takeUpdate() -> ResultsUpdate? {
    guard let newest else { return nil }
    defer { (base, self.newest, touched) = (newest, nil, [:]) }
    guard let base else { return ResultsUpdate(snapshot: newest, difference: nil) }
    var difference = ResultsDifference(from: base, to: newest, touched: touched.values)
    (difference.revision, difference.author, difference.time) = (revision, author, time)
    return ResultsUpdate(snapshot: newest, difference: difference)
  }
}
