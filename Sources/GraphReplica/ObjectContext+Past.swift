import GraphModel
import GraphWire

/// Contexts of the past: all their objects are of one revision. They are read, faulted and followed along relationships as
/// in any context; nothing is edited, saved or followed live. What they want to read is taken from them and given back by
/// whoever has a connection (`PastGraph` of a client).
extension ObjectContext {
  /// An empty context of the graph as it was at a revision, with objects of the same classes.
  public func makePast(at revision: Revision) -> ObjectContext { ObjectContext(at: revision, like: self) }

  /// What loads of this context ask for now; each is answered by `takePast` or `refusePast` under its number.
  public func takePastFetches() -> [(number: RequestID, fetch: Fetch)] {
    var fetches = [(number: RequestID, fetch: Fetch)]()
    while let event = nextLoadEvent() {
      // Credit is the affair of whoever asks.
      if case .ask(let number, .fetch(let fetch)) = event { fetches.append((number, fetch)) }
    }
    return fetches
  }

  /// A part of the answer.
  public func takePast(_ chunk: Chunk, of number: RequestID) { _ = isForLoads(.chunk(number, chunk)) }

  /// The answer is none.
  public func refusePast(_ number: RequestID, _ refusal: Refusal) { _ = isForLoads(.refused(number, refusal)) }

  /// True, and told, where nothing may be edited.
  func refusesEdit(_ what: @autoclosure () -> String) -> Bool {
    guard let revision else { return false }
    let edit = EditOfThePast(revision: revision, what: what())
    var context = self
    while context.editWasRefused == nil, let parent = context.parent { context = parent }
    guard let tell = context.editWasRefused else { preconditionFailure(edit.description) }
    tell(edit)
    return true
  }
}

/// An attempt to edit the graph as it was: a programmer's error.
public struct EditOfThePast: Error, Hashable, Sendable, CustomStringConvertible {
  /// The revision of the context.
  public let revision: Revision
  /// What was tried, in words.
  public let what: String

  public var description: String {
    "\(what) in the graph as of revision \(revision): edit the object of the same id in the client's own context"
  }
}
