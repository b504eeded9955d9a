import GraphModel
import GraphWire

/// Support for clients with an older version of the model. A lens translates a client's messages on arrival
/// (`receive`), and the server's on departure (`send`, and the stream reader for frames that bypass the hub).
/// Everything in between uses the server's version. Live queries with the same lens share their deltas.
extension Hub {
  /// The lens for a client with this model; nil for the server's own model, and for a client that names no model.
  /// - Throws: `Refusal` that names both models and the incompatible changes between them.
  func lens(for hash: ModelHash?) throws(Refusal) -> ModelLens? {
    guard let hash, hash != model.hash else { return nil }
    let served = "the server's is \(model.hash) (\(model.name) \(model.version))"
    switch lenses[hash] {
    case .lens(let lens): return lens
    case .unknown:
      throw Refusal(.notAllowed, "the client's model is \(hash), \(served): use a client with the server's model")
    case .none(let old, let problems):
      let shown = problems.all.prefix(Self.shownProblems).map { "\($0.path) \($0.reason)" }.joined(separator: "; ")
      let rest = problems.all.count - Self.shownProblems
      throw Refusal(
        .notAllowed,
        "the client's model is \(hash) (\(old.name) \(old.version)), \(served), and a client of version "
          + "\(old.version) can't handle these changes: \(shown)\(rest > 0 ? "; and \(rest) more" : ""): "
          + "use a client with the server's model")
    }
  }

  private static let shownProblems = 5

  /// The read request, translated by the session's lens.
  func translated(_ request: ReadRequest, by session: Session) -> ReadRequest {
    session.lens.map { .translated(request, through: $0) } ?? request
  }
}
