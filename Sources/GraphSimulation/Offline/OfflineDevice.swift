import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore

/// A computer with a replica of one user, and its processes.
final class OfflineDevice {
  /// A copy of the replica's files, and the edits that they have.
  struct OldCopy {
    let folder: String
    let open: [Int64: UInt64]
    let generation: Int
  }

  let number: Int
  /// The device of which it is a copy, or its own number.
  let lineage: Int
  /// The number of the user.
  let user: Int
  let folder: String
  /// The version of the model that its programs have.
  var version: Int
  /// The edits that the file must have, by their numbers there.
  var open = [Int64: UInt64]()
  var copy: OldCopy?
  /// The number of restores of the server before its mirror was loaded.
  var generation = 0
  var processes: [OfflineProcess]
  /// A reader of the list of unsent edits; nil before the first load and while files are replaced.
  var file: UnsentFile?

  init(number: Int, lineage: Int, user: Int, folder: String, version: Int) {
    (self.number, self.lineage, self.user, self.folder, self.version) = (number, lineage, user, folder, version)
    processes = (0..<2).map { OfflineProcess(number: $0) }
  }

  var mirrorPath: String { folder + "/" + ReplicaStore.mirrorName }

  /// The file of unsent edits of a device that is in use.
  var unsent: UnsentFile {
    guard let file else { preconditionFailure("a device has a file of unsent edits") }
    return file
  }

  func openFile() throws { file = try UnsentFile.open(folder: folder) }

  /// Ends all processes.
  func closeFiles() {
    for process in processes { process.close() }
    file?.close()
    file = nil
  }

  /// The files of a replica, without SQLite's shared memory.
  private static let files = [
    UnsentFile.name, ReplicaStore.mirrorName, MirrorStore.plans(beside: ReplicaStore.mirrorName),
  ].flatMap { [$0, $0 + "-wal"] }

  /// Copies the files of a folder into another one.
  /// - Parameter inPlace: whether an existing file keeps its inode, as on a disk that is restored as a whole.
  static func copyFiles(from folder: String, to other: String, inPlace: Bool = false) throws {
    let manager = FileManager.default
    try manager.createDirectory(atPath: other, withIntermediateDirectories: true)
    for name in files {
      let (source, target) = (folder + "/" + name, other + "/" + name)
      try? manager.removeItem(atPath: target + "-shm")
      guard let bytes = manager.contents(atPath: source) else {
        try? manager.removeItem(atPath: target)
        continue
      }
      if inPlace, let handle = FileHandle(forWritingAtPath: target) {
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: bytes)
        try handle.close()
      } else {
        // In another folder first, so that the new file has another inode than the one that it replaces.
        let draft = target + ".copy"
        try bytes.write(to: URL(fileURLWithPath: draft))
        guard rename(draft, target) == 0 else { throw StoreFiles.failure("\(target) can't be created", errno) }
      }
    }
  }
}

/// A process of a device: it may have the replica open, and may synchronize it.
final class OfflineProcess {
  let number: Int
  var store: ReplicaStore?
  /// The state that its user saw last.
  var view = [ObjectID: ObjectImage]()
  /// The number of restores of the server before the mirror that it has open.
  var generation = 0
  var run: OfflineRun?
  /// Whether another process has synchronized the replica since this one opened it.
  var isStale = false

  init(number: Int) { self.number = number }

  /// Ends the process.
  func close() {
    run?.close()
    run = nil
    closeStore()
  }

  func closeStore() {
    try? store?.close()
    (store, view, isStale) = (nil, [:], false)
  }
}

/// A run of the synchronizer in a process: its files, its connection and its next step.
final class OfflineRun {
  enum State {
    /// The hello was sent; the run begins or goes on with the welcome.
    case connecting
    case ready(SyncRun.Action)
    case awaitingAnswer
    /// The server was asked whether it has a state of the mirror.
    case asking(UInt64)
    case following(UInt64, end: Revision?, [MirroredCommit])
    case loading(UInt64, MirrorLoader?, Token?)
    case ended(Refusal?)
  }

  let unsent: UnsentFile
  private var lock: SenderLock?
  var mirror: MirrorStore?
  var connection: ReplicaConnection
  var run: SyncRun?
  var state = State.connecting
  /// Outcomes, in the order of their arrival.
  var answers = [(TransactionID, Result<CommitResult, Refusal>)]()
  /// Whether the user sees all objects, as the welcome says.
  var seesAll = false
  /// The intents that leave for the first time in this run.
  var marked = Set<Int64>()
  /// The intents that a planted bug has sent before they were marked.
  var unmarked = [Int64]()
  /// The comparison of the mirror that is loaded with the earlier one; nil if there is nothing to compare.
  var lost: LostObjects?

  init(unsent: UnsentFile, lock: SenderLock, connection: ReplicaConnection) {
    (self.unsent, self.lock, self.connection) = (unsent, lock, connection)
  }

  func close() {
    if case .loading(_, let loader?, _) = state { loader.abandon() }
    state = .ended(nil)
    mirror?.close()
    mirror = nil
    unsent.close()
    lock = nil
  }
}
