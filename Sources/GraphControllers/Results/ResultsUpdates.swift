import GraphModel

/// A state of a result, and its difference from the previous one.
public struct ResultsUpdate: Sendable {
  /// The current result.
  public let snapshot: ResultsSnapshot
  /// The difference from the previous update; nil in the first.
  public let difference: ResultsDifference?
}

/// The successive states of a result, for the actor that its controller belongs to. The sequence ends when the
/// controller is stopped or released or the reading task is cancelled, and throws if the query fails.
///
/// The memory for a reader is bounded: one result, and the objects touched since its last read.
public struct ResultsUpdates: AsyncSequence {
  /// A state of the result and its difference from the previous one.
  public typealias Element = ResultsUpdate
  /// The error of a failed query.
  public typealias Failure = Refusal

  let controller: ResultsController

  /// A reader of the updates; it does not keep the controller alive. Several tasks that call it at once receive one
  /// update each, in the order of their calls.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: ResultsReader

    init(_ reader: ResultsReader) { self.reader = reader }

    /// Returns the newest result that this reader has not received.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Refusal) -> ResultsUpdate? { try await next(isolation: actor) { true } }

    /// Returns the newest result that this reader has not received, at a moment when a condition is true.
    /// - Parameter isReady: the condition; it is evaluated at once and after each change.
    package mutating func next(
      isolation actor: isolated (any Actor)? = #isolation, when isReady: () -> Bool
    ) async throws(Refusal) -> ResultsUpdate? {
      guard await reader.turns.begin(isolation: actor) else { return nil }
      defer { reader.turns.end() }
      while true {
        if isReady(), let update = reader.nextUpdate() { return update }
        if let refusal = reader.failure { throw refusal }
        guard await reader.wake.wait(isolation: actor) else {
          // A failure may have arrived together with the end.
          if let refusal = reader.failure { throw refusal }
          return nil
        }
      }
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(controller.addReader()) }
}

/// The pending update of one reader. The controller fills it and the reader empties it, both on one actor.
final class ResultsReader {
  let wake = WakeSign()
  /// The turns of the tasks that wait for an update.
  let turns = ReaderTurns()
  /// The last result that the reader received; nil before the first.
  private var base: ResultsSnapshot?
  private var newest: ResultsSnapshot?
  private var touched = [ObjectID: ResultsRowChange]()
  /// The difference of the newest commit, if it is the only one since the last read; it need not be computed again.
  private var only: ResultsDifference?
  private var revision: Revision = 0
  private var author = ""
  private var time: Timestamp = 0
  private(set) var failure: Refusal?

  deinit { wake.end() }

  func begin(with snapshot: ResultsSnapshot) {
    newest = snapshot
    wake.give()
  }

  /// Records a commit for the reader.
  /// - Parameters:
  ///   - difference: that of the commit alone.
  ///   - isNews: false if rows were touched without a visible change. The touched rows are still recorded, because a
  ///     later difference needs them.
  func record(_ commit: ResultsCommit, _ difference: ResultsDifference, isNews: Bool) {
    // The relationships of the rows have been loaded: a reader that was not ready for an earlier commit may be now.
    if commit.touched.isEmpty, !isNews { return remind() }
    only = isNews && newest == nil && touched.isEmpty ? difference : nil
    if isNews || newest != nil { newest = commit.snapshot }
    (revision, author, time) = (commit.revision, commit.author, commit.time)
    // The first update is a complete result and needs no touched rows.
    if base != nil {
      for touch in commit.touched {
        guard let id = touch.after?.id ?? touch.before?.id else { continue }
        let both = touched[id]?.followed(by: touch) ?? touch
        // The object was inserted and removed between two reads.
        touched[id] = both.before == nil && both.after == nil ? nil : both
      }
    }
    remind()
  }

  private func remind() { if newest != nil { wake.give() } }

  func end(_ refusal: Refusal?) {
    failure = refusal
    wake.end()
  }

  func nextUpdate() -> ResultsUpdate? {
    guard let newest else { return nil }
    defer { (base, self.newest, touched, only) = (newest, nil, [:], nil) }
    guard let base else { return ResultsUpdate(snapshot: newest, difference: nil) }
    if let only { return ResultsUpdate(snapshot: newest, difference: only) }
    var difference = ResultsDifference(from: base, to: newest, touched: touched.values)
    (difference.revision, difference.author, difference.time) = (revision, author, time)
    return ResultsUpdate(snapshot: newest, difference: difference)
  }
}
