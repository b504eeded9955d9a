import GraphClient
import GraphModel
import GraphWire

/// Snapshots for a program. A snapshot is one line with all that is watched, in one state: where only one of several queries
/// comes anew, or their results are of several revisions, all of them are read at one. Commits up to there are part of it.
extension WatchPrinter {
  /// So often a state that was pruned before it could be read is given up for a newer one.
  private static let attempts = 3

  /// A result came anew; the others stand as they were told.
  func showWhole(_ query: QueryID, _ images: [ObjectImage], _ at: Revision) async throws {
    // A batch may reset several queries, and the first of them has shown them all.
    guard at > snapshotRevision else { return }
    let isAlone = queries.count == 1 && at >= revision
    revision = max(revision, at)
    showSnapshot(isAlone ? images : try await wholeResult())
  }

  /// What all queries find in one state, and `revision` is the state's.
  func wholeResult() async throws -> [ObjectImage] {
    var attempt = 0
    while true {
      attempt += 1
      do {
        return try await result(at: revision)
      } catch let refusal as Refusal where refusal.code == .pruned && attempt < Self.attempts {
        revision = max(revision, try await client.status().head.revision)
      }
    }
  }

  private func result(at revision: Revision) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for (_, query) in queries.sorted(by: { $0.key < $1.key }) {
      for try await chunk in client.images(of: query.entity, where: query.predicate, at: revision) { images += chunk }
    }
    return images
  }
}
