import GraphModel

/// Clients that stay offline while others commit.
///
/// When they reconnect, the store is far ahead, its history was pruned past their revision, or it was restored and has
/// passed their revision with other commits.
struct OfflineClients {
  /// The revision of the store at which each client returns, by client number.
  private var ends = [Int: Revision]()

  mutating func add(_ client: Int, below revision: Revision) { ends[client] = revision }

  func isOffline(_ client: Int, at revision: Revision) -> Bool {
    guard let end = ends[client] else { return false }
    return revision < end
  }
}
