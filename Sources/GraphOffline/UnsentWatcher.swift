// Tests: LiveConflictsTests.swift
import Dispatch
import GraphClient
import GraphModel
import GraphReplicaStore
import Synchronization

/// Follows the file of unsent edits, whichever process writes it.
///
/// The system reports each write. The watcher then waits for the writer's commit and reads the counts and the parked
/// edits; it does not read those that merely wait to be sent. It also notices that the mirror was loaded again.
final class UnsentWatcher: Sendable {
  /// The state and the counts; nil without a replica.
  let status = LiveState<OfflineReplica.Status?>(nil)
  /// The parked edits, oldest first.
  let conflicts = LiveState<[OfflineReplica.ParkedEdit]>([])
  /// The file of the mirror, which each load replaces; nil without a replica.
  let mirror = LiveState<FileIdentity?>(nil)
  private let folder: ReplicaFolder
  private let form: IntentForm
  private let queue = DispatchQueue(label: "unsent-edits")
  /// Guarded by its mutex; used on the queue, and once when the watcher is made.
  private let opened = Mutex<Opened?>(nil)

  private struct Opened {
    let path: String
    let file: UnsentFile
    let events: FileWatcher?
    var version: Int64?
  }

  init(_ folder: ReplicaFolder, model: Model) {
    (self.folder, form) = (folder, IntentForm(model))
    read()
  }

  deinit { opened.withLock { $0?.file.close() } }

  /// Reads the file again, for example because the replica has just been made.
  func refresh() { queue.async { [weak self] in self?.read() } }

  /// Ends the sequences.
  func end() {
    status.end()
    conflicts.end()
    mirror.end()
  }

  private func read() {
    do {
      let overview = try opened.withLock { opened -> UnsentFile.Overview? in
        guard try reopen(&opened), var known = opened else { return nil }
        let overview = try known.file.overview(form, unless: known.version)
        if let overview {
          known.version = overview.version
          opened = known
        }
        return overview
      }
      let current = folder.current
      if let overview { publish(overview) } else if current == nil { status.set(nil) }
      mirror.set(current.flatMap { FileIdentity(path: $0 + "/" + ReplicaStore.mirrorName) })
    } catch {
      // The next event reads it again.
    }
  }

  /// Opens the file of the present folder, unless it is open.
  /// - Returns: whether there is one.
  private func reopen(_ opened: inout Opened?) throws -> Bool {
    guard let current = folder.current else { return false }
    if let opened, UTF8Comparison.equal(opened.path, current) { return true }
    opened?.file.close()
    opened = nil
    guard let file = try UnsentFile.open(folder: current) else { return false }
    let events = FileWatcher(
      folder: current, prefix: UnsentFile.name, replaced: ReplicaStore.mirrorName, queue: queue
    ) { [weak self] in self?.read() }
    opened = Opened(path: current, file: file, events: events, version: nil)
    return true
  }

  private func publish(_ overview: UnsentFile.Overview) {
    // The list first: a reader of the counts finds the edits that they count.
    conflicts.set(overview.parked.map(OfflineReplica.ParkedEdit.init))
    status.set(
      OfflineReplica.Status(
        isOn: overview.state != .off, unsent: overview.unsent, parked: overview.parked.count,
        scopes: overview.kept?.containers))
  }
}
