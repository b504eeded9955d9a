import Foundation
import GRDB
import GraphModel

#if canImport(Glibc)
  import Glibc
#endif

/// `stickiesd restore`: a backup becomes the store, and the store that was there is kept beside it.
///
/// A store is a database and its log, and no system call renames two files at once. So the backup is copied in and proven
/// first; then one rename, to a name that says what is meant and when, decides. Whoever opens the directory next and finds
/// that name does the rest, however often it is interrupted: the old log and the old database go aside, in this order, and
/// the new database takes its place. Nobody ever opens one store's database beside the other's log.
public enum StoreRestore {
  /// What was restored.
  public struct Report: Sendable, Hashable {
    /// The state that the store is in now.
    public var head: Token
    /// How many objects it has.
    public var objects: Int
    /// The file's size.
    public var bytes: Int
    /// Where the store is that was there before; nil when there was none.
    public var previous: String?
  }

  /// Makes `file` the store in `directory`, which no daemon may be using.
  /// - Parameters:
  ///   - model: the backup's.
  ///   - stamp: stands in the name of the store that was there: letters and digits, such as `20261121T205432Z`.
  ///   - replacesOther: the store that is there may be another one than that of which `file` is a backup.
  ///   - progress: called often; what it throws ends the restore before anything has changed.
  /// - Throws: `StoreFailure`, or `StoreBackup.Unsound`; then the store is as it was.
  public static func run(
    file: String, directory: String, model: Model, stamp: String, replacesOther: Bool = false,
    progress: (StoreBackup.Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    let kind = try ofBackup(file) { try StoreFiles.kind(of: file, isOnlyRead: true) }
    guard kind != .absent else {
      throw StoreFailure(.notAStore, "there is no backup \(file)", advice: "Look at the path.")
    }
    try StoreFiles.prepare(directory: directory)
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    try finish(in: directory)
    guard FileIdentity(of: file) != FileIdentity(of: path) else {
      throw StoreFailure(.alreadyThere, "\(file) is the store itself", advice: "Give a backup; nothing was touched.")
    }
    try ofBackup(file) { try WriteAheadLogFile.refuseLoss(beside: file) }
    let draft = path + ".restore"
    let contents = try ofBackup(file) {
      try withoutActuallyEscaping(progress) { progress in
        try StoreCopy(source: file, draft: draft, model: model, pace: .init(), tell: progress).make()
      }
    }
    do {
      if !replacesOther { try refuseOther(contents.head.store, beside: path, file: file) }
      var (name, number) = (stamp, 1)
      while access(previous(path, name), F_OK) == 0 {
        number += 1
        name = "\(stamp)-\(number)"
      }
      let hadStore = access(path, F_OK) == 0
      try lock.verify()
      try StoreCopy.refuseMoved(draft, contents.file)
      guard rename(draft, intent(path, name)) == 0 else { throw StoreFiles.failure("\(path) can't be made", errno) }
      try StoreFiles.synchronize(directory: directory)
      try finish(in: directory)
      return Report(
        head: contents.head, objects: contents.objects, bytes: StoreFiles.size(ofFile: path),
        previous: hadStore ? previous(path, name) : nil)
    } catch {
      StoreCopy.discard(draft, contents.file)
      throw error
    }
  }

  /// A file that is no good backup is nothing that the store has: what is said elsewhere of a store that can't be read would
  /// send people to the wrong one.
  private static func ofBackup<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    let advice = "Give another backup; the store was not touched."
    do {
      return try body()
    } catch var unsound as StoreBackup.Unsound {
      unsound.advice = advice
      throw unsound
    } catch var failure as StoreFailure {
      switch failure.code {
      case .corrupt, .notAStore:
        // SQLite's failures are told of "the store" at a path.
        failure.sentence = failure.sentence.replacing("the store \(file)", with: "the backup \(file)")
        failure.sentence = failure.sentence.replacing("\(file) is no store", with: "\(file) is no backup of a store")
        failure.advice = advice
      case .newerVersion: failure.advice = "Use the newer program; the store was not touched."
      default: break
      }
      throw failure
    }
  }

  private static let mark = ".restoring-"

  private static func intent(_ path: String, _ stamp: String) -> String { path + mark + stamp }

  private static func previous(_ path: String, _ stamp: String) -> String { path + ".before-" + stamp }

  /// The stamp of a restore that was decided and not finished.
  private static func unfinished(in directory: String) -> String? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let prefix = StoreFiles.name + mark
    return names.filter { $0.hasPrefix(prefix) }.min().map { String($0.dropFirst(prefix.count)) }
  }

  static func isUnfinished(in directory: String) -> Bool { unfinished(in: directory) != nil }

  /// Does what is left of a restore that was decided. Whoever calls holds the directory's lock.
  /// - Returns: whether there was one.
  @discardableResult
  static func finish(in directory: String) throws -> Bool {
    guard let stamp = unfinished(in: directory) else { return false }
    let path = directory + "/" + StoreFiles.name
    let old = previous(path, stamp)
    // The index of the log is made anew from the log; a log without a byte is what a look left.
    unlink(path + "-shm")
    if access(path + "-wal", F_OK) == 0, !StoreFiles.hasContent(path + "-wal") { unlink(path + "-wal") }
    for suffix in ["-wal", "-journal", ""] where access(path + suffix, F_OK) == 0 {
      guard rename(path + suffix, old + suffix) == 0 else {
        throw StoreFiles.failure("\(path + suffix) can't be put aside", errno)
      }
    }
    // On disk before the new one: of two renames a power cut may keep the second alone.
    try StoreFiles.synchronize(directory: directory)
    guard rename(intent(path, stamp), path) == 0 else { throw StoreFiles.failure("\(path) can't be made", errno) }
    try StoreFiles.synchronize(directory: directory)
    return true
  }

  /// A backup of another store is somebody's mistake more often than their wish. A store that can't be read says nothing.
  private static func refuseOther(_ store: UniqueID, beside path: String, file: String) throws {
    guard access(path, F_OK) == 0, (try? StoreFiles.kind(of: path, isOnlyRead: true)) != nil else { return }
    var configuration = Configuration()
    configuration.readonly = true
    let present = try? DatabaseQueue(path: path, configuration: configuration).read { database in
      try Data.fetchOne(database, sql: "SELECT id FROM _store").flatMap { UniqueID(bytes: Array($0)) }
    }
    guard let present = present ?? nil, present != store else { return }
    throw StoreFailure(
      .alreadyThere, "\(file) is a backup of another store than the one in \(StoreFiles.folder(of: path))",
      cause: "its id is \(store), the present one's \(present)",
      advice: "Give --data the directory that is meant, or --other; nothing was touched.")
  }
}
