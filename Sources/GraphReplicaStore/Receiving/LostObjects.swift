// Tests: OfflineSimulationTests.swift, SyncRunTests.swift
import GraphModel
import GraphStore

/// Finds the objects of a mirror whose states the server has lost, while a new mirror is loaded.
///
/// If the server's history no longer reaches back to the mirror's state, the server can't say whether it has had it. It
/// may have been restored from a backup, and pruned since then. An object then has a lower revision at the server, or
/// another state at the same one: otherwise revisions only grow.
package struct LostObjects {
  private let mirror: MirrorStore
  private var ids = Set<ObjectID>()

  /// - Parameter mirror: the earlier mirror.
  package init(over mirror: MirrorStore) { self.mirror = mirror }

  /// Compares objects of the server with the mirror.
  package mutating func compare(_ images: [ObjectImage]) throws {
    try mirror.read { mirror in
      for image in images {
        guard let earlier = try mirror.image(of: image.id) else { continue }
        // A mirror of a part has no references to objects outside of it.
        let known = self.mirror.kept == nil ? image : try mirror.withKnownReferences(image)
        if image.revision < earlier.revision || image.revision == earlier.revision && known != earlier {
          ids.insert(image.id)
        }
      }
    }
  }

  /// Adapts the edits of these objects, before the new mirror takes the place of the earlier one.
  /// - Returns: the number of edits that were parked.
  package func rebase(_ unsent: UnsentFile, at time: Timestamp, form: IntentForm) throws -> Int {
    try unsent.rebase(onto: nil, at: time, form: form, text: mirror.pastText, only: ids)
  }
}
