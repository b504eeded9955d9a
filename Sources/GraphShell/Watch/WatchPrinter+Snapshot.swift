import GraphClient
import GraphModel
import GraphWire

/// Snapshots for JSON output. A snapshot is one line with all watched objects at one revision. If only one of several
/// queries is reloaded, or if their results have different revisions, all of them are read at one revision, which
/// includes the commits up to it.
extension WatchPrinter {
  /// Maximum number of attempts if the revision is pruned before it could be read.
  private static let attempts = 3

  /// Handles a reloaded result of one query; the other results are unchanged.
  func showWhole(_ query: QueryID, _ images: [ObjectImage], _ at: Revision) async throws {
    // A batch may reset several queries; the snapshot for the first one covers all.
    guard at > snapshotRevision || hasOtherRights else { return }
    hasOtherRights = false
    let isAlone = queries.count == 1 && at >= revision
    revision = max(revision, at)
    showSnapshot(isAlone ? images : try await wholeResult())
  }

  /// The results of all queries at one revision, which is `revision`.
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
    var damage = DamageNotice()
    for (_, query) in queries.sorted(by: { $0.key < $1.key }) {
      let objects = client.images(of: query.entity, where: query.predicate, at: revision)
      objects.omitsDamage = true
      for try await chunk in objects { images += chunk }
      damage.formUnion(objects.damage)
    }
    if !damage.isEmpty { CommandFailure.write(IncompleteResult(damage, model).report, json: output.json) }
    return images
  }
}
