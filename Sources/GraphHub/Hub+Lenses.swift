import GraphModel
import GraphWire

/// Clients of an older version of the model. What such a client says is put into the server's words when it arrives
/// (`receive`), what it is told into its own when it leaves (`send`, and the reader of what streams past the hub). All
/// between the two knows one version. Live queries seen through one lens share their deltas, as others do.
extension Hub {
  /// What a client with this model sees the store through; nil for the server's own model, and for a client that takes
  /// whatever there is.
  /// - Throws: `Refusal`, before anything is exchanged: which models they are, and what stands between them.
  func lens(for hash: ModelHash?) throws(Refusal) -> ModelLens? {
    guard let hash, hash != model.hash else { return nil }
    let served = "the server's is \(model.hash) (\(model.name) \(model.version))"
    switch lenses[hash] {
    case .lens(let lens): return lens
    case .unknown:
      throw Refusal(.notAllowed, "the client's model is \(hash), \(served): use a client of the server's model")
    case .none(let old, let problems):
      let shown = problems.all.prefix(Self.shownProblems).map { "\($0.path) \($0.reason)" }.joined(separator: "; ")
      let rest = problems.all.count - Self.shownProblems
      throw Refusal(
        .notAllowed,
        "the client's model is \(hash) (\(old.name) \(old.version)), \(served), and between the two lies what a client of "
          + "version \(old.version) can't work with: \(shown)\(rest > 0 ? "; and \(rest) more" : ""): "
          + "use a client of the server's model")
    }
  }

  private static let shownProblems = 5

  /// What is read for a session, through its lens.
  func seen(_ request: ReadRequest, by id: SessionID) -> ReadRequest {
    sessions[id]?.lens.map { .seen(request, through: $0) } ?? request
  }
}
