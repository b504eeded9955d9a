import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import Synchronization

/// A second store that is fed by the entries of the server's commits alone. At every quiet moment it must equal the
/// server's store, row by row, and its check must find nothing.
///
/// A crash may lose the entries of commits that are on disk, and a restore removes commits. The follower then begins
/// again with a copy of the server's files.
struct RedoFollower {
  /// The entries that the server's store has passed on since the last comparison.
  final class Entries: Sendable {
    private let entries = Mutex([LogEntry]())

    func append(_ more: [LogEntry]) { entries.withLock { $0 += more } }

    func takeAll() -> [LogEntry] {
      entries.withLock { entries in
        defer { entries = [] }
        return entries
      }
    }
  }

  let entries = Entries()
  private let directory: String
  private let source: String
  private let model: Model

  /// - Parameter source: the directory of the server's store.
  init(of source: String, model: Model) {
    (self.source, self.model) = (source, model)
    directory = source + "-redo"
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }

  /// Begins with a copy of the server's files, at a moment at which the server writes nothing and its store has
  /// committed everything.
  func begin() throws {
    _ = entries.takeAll()
    remove()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + "/graph.sqlite" + suffix) {
      try FileManager.default.copyItem(
        atPath: source + "/graph.sqlite" + suffix, toPath: directory + "/graph.sqlite" + suffix)
    }
    try StoreComparison.makeIndependent(directory)
  }

  /// Applies the pending entries after a start of the server. Begins again if they do not lead to its newest state, or
  /// if a power failure has undone a pruning.
  func serverDidStart(_ server: SQLiteStore) throws {
    let (store, head) = try apply(entries.takeAll())
    if try head != server.head || store.oldestRevision > server.oldestRevision { try begin() }
  }

  // MARK: - Comparison

  /// Applies the pending entries, in their binary form, and compares.
  /// - Parameter floor: the oldest revision that the server's store can read.
  /// - Returns: the first difference and the number of applied entries.
  func compare(floor: Revision) throws -> (difference: String?, applied: Int) {
    let pending = entries.takeAll()
    let (store, _) = try apply(pending)
    while try store.prune(through: floor) {}
    try store.close()
    let findings = try StoreCheck.run(directory: directory, model: model, heldObjects: 3)
    return (try StoreComparison.differences(source, directory).first ?? findings.first?.text, pending.count)
  }

  /// Opens the store and applies entries in their binary form.
  private func apply(_ entries: [LogEntry]) throws -> (store: SQLiteStore, head: Token) {
    let store = try SQLiteStore(directory: directory, model: model)
    try store.apply { body in
      for entry in entries { try body(try LogEntry(binary: entry.binary)) }
    }
    return (store, try store.head)
  }
}
