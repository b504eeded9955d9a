import GraphModel
import GraphWire

/// Contexts of the past: all their objects are of one revision.
///
/// They are read, faulted and followed along relationships like any context, but nothing is edited, saved or followed
/// live. The owner of a connection (`PastGraph` of a client) takes their fetches and returns the answers.
extension ObjectContext {
  /// An empty context of the graph as it was at a revision, with the same classes.
  public func makePast(at revision: Revision) -> ObjectContext { ObjectContext(at: revision, like: self) }

  /// The fetches that loads need now. The owner answers each with `receivePastChunk` or `refusePast` under its number.
  public func takePastFetches() -> [(number: RequestID, fetch: Fetch)] {
    var fetches = [(number: RequestID, fetch: Fetch)]()
    while let event = nextLoadEvent() {
      // Flow control is up to the owner.
      if case .ask(let number, .fetch(let fetch)) = event { fetches.append((number, fetch)) }
    }
    return fetches
  }

  /// Accepts a part of a fetch's answer.
  public func receivePastChunk(_ chunk: Chunk, of number: RequestID) { _ = handleLoadAnswer(.chunk(number, chunk)) }

  /// Fails a fetch.
  public func refusePast(_ number: RequestID, _ refusal: Refusal) { _ = handleLoadAnswer(.refused(number, refusal)) }

  /// Reports an attempt to edit a context of the past.
  /// - Returns: whether this is such a context.
  func refusesEdit(_ what: @autoclosure () -> String) -> Bool {
    guard let revision else { return false }
    let edit = ReadOnlyContextError(revision: revision, what: what())
    var context = self
    while context.editWasRefused == nil, let parent = context.parent { context = parent }
    guard let report = context.editWasRefused else { preconditionFailure(edit.description) }
    report(edit)
    return true
  }
}

/// An attempt to edit the graph as it was: a programming error.
public struct ReadOnlyContextError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The revision of the context.
  public let revision: Revision
  /// The attempt, as a clause for people.
  public let what: String

  public var description: String {
    "\(what) in the graph as of revision \(revision): edit the object of the same id in the client's own context"
  }
}
