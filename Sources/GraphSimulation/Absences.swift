import GraphModel

/// Clients that stay away while others commit, so that they come back to a store which has gone far, whose history is pruned
/// behind what they know, or which was put back and has passed their revision by other commits.
struct Absences {
  /// By the client's number: it comes back when the store has this revision.
  private var ends = [Int: Revision]()

  mutating func keep(_ client: Int, below revision: Revision) { ends[client] = revision }

  func holds(_ client: Int, at revision: Revision) -> Bool { ends[client].map { revision < $0 } ?? false }
}
