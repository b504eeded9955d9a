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

  func remove() { for path in [directory, spare] { remove(path) } }

  /// Begins with a copy of the server's files, on which nothing runs at this moment.
  func begin() throws { try copyFiles(to: directory) }

  // MARK: - Starts of the server

  private var spare: String { directory + "-spare" }

  /// Keeps a copy of the server's files before the server starts after a crash.
  func serverWillStart() throws { try copyFiles(to: spare) }

  /// Applies the pending entries, and takes the copy if they do not lead to the server's newest state.
  func serverDidStart(head: Token) throws {
    if try apply(entries.takeAll()).head == head { return }
    remove(directory)
    try FileManager.default.moveItem(atPath: spare, toPath: directory)
  }

  private func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }

  private func copyFiles(to target: String) throws {
    remove(target)
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: source + "/graph.sqlite" + suffix) {
      try FileManager.default.copyItem(
        atPath: source + "/graph.sqlite" + suffix, toPath: target + "/graph.sqlite" + suffix)
    }
  }

  // MARK: - Comparison

  /// Applies the pending entries, in their binary form, and compares.
  /// - Parameters:
  ///   - floor: the oldest revision that the server's store can read.
  ///   - isPruning: whether the server has removed commits but not all of their parts yet.
  /// - Returns: the first difference and the number of applied entries.
  func compare(floor: Revision, isPruning: Bool) throws -> (difference: String?, applied: Int) {
    let pending = entries.takeAll()
    let (store, _) = try apply(pending)
    while try store.prune(through: floor) {}
    try store.close()
    if isPruning { return (nil, pending.count) }
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
