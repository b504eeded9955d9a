import GraphModel

/// The graphs that this process has open, by folder, with the number of their clients.
///
/// The first client of a folder opens the graph, and the last one closes it. A client that connects while the graph
/// closes waits, and opens it again. An entry is made before its graph is open, so that clients that connect at the
/// same time share it.
actor OpenGraphs {
  private struct Entry {
    let opening: Task<EmbeddedServer, any Error>
    var leases = 0
  }

  static let shared = OpenGraphs()

  private var entries = [String: Entry]()
  /// The graphs whose last client has closed. Each task removes itself at its end.
  private var closing = [String: Task<Void, Never>]()

  /// Counts a client of a folder.
  /// - Parameters:
  ///   - folder: a path with links resolved.
  ///   - open: opens the graph if no other client has.
  /// - Throws: the error of `open`, for all clients that waited for it; then the next client tries again.
  func acquire(
    _ folder: String, _ open: @escaping @Sendable () async throws -> EmbeddedServer
  ) async throws -> EmbeddedServer {
    while let closed = closing[folder] { await closed.value }
    // Detached: all clients of the folder wait for it, and the cancellation of the first must not end it.
    var entry = entries[folder] ?? Entry(opening: Task.detached(operation: open))
    entry.leases += 1
    entries[folder] = entry
    do {
      return try await entry.opening.value
    } catch {
      // Another client may have removed it, and a third one may be trying again.
      if entries[folder]?.opening == entry.opening { entries[folder] = nil }
      throw error
    }
  }

  /// Stops counting a client of an open graph. After the last client, the graph is closed before this returns.
  func release(_ folder: String) async {
    guard var entry = entries[folder] else { return assertionFailure("a graph that has a client is open") }
    assert(entry.leases > 0, "a client that is counted is released once")
    entry.leases -= 1
    if entry.leases > 0 {
      entries[folder] = entry
      return
    }
    entries[folder] = nil
    assert(closing[folder] == nil, "a graph that closes has no clients")
    let opening = entry.opening
    let task = Task {
      if let graph = try? await opening.value { await graph.stop() }
      closing[folder] = nil
    }
    closing[folder] = task
    await task.value
  }
}
