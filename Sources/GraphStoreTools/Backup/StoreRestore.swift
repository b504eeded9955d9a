import Foundation
import GRDB
import GraphLog
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `stickiesd restore`: a backup becomes the store, and the previous store is kept beside it.
///
/// A store consists of a database and its WAL, and no system call renames two files at once. So the backup is first
/// copied into the directory and checked. Then one rename decides: it gives the copy a name that marks a restore and
/// contains its stamp. The next program that opens the directory and finds that name completes the restore, even after
/// interruptions: it moves the old commit log, the old WAL and then the old database aside, and the new database takes
/// its place. So one store's database is never opened with the other's logs. The restored store begins a new commit
/// log.
///
/// The previous store can be restored as it was set aside: its log has the same name with `-log`.
public enum StoreRestore {
  /// The result of a restore.
  public struct Report: Sendable, Hashable {
    /// The restored state.
    public var head: Token
    /// The number of objects.
    public var objects: Int
    /// The file's size in bytes.
    public var bytes: Int
    /// The path of the previous store; nil if there was none.
    public var previous: String?
  }

  /// Makes `file` the store in `directory`, which no daemon may be using.
  /// - Parameters:
  ///   - model: the backup's model.
  ///   - stamp: part of the previous store's new name: letters and digits, such as `20261121T205432Z`.
  ///   - replacesOther: whether the present store may be another one than the backup's.
  ///   - progress: called often; if it throws, the restore ends before anything has changed.
  /// - Throws: `StoreFailure`, or `StoreBackup.VerificationError`; then the store is unchanged.
  public static func run(
    file: String, directory: String, model: Model, stamp: String, replacesOther: Bool = false,
    progress: (StoreBackup.Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    let kind = try ofBackup(file) { try StoreFiles.kind(of: file, isOnlyRead: true) }
    guard kind != .absent else {
      throw StoreFailure(.notAStore, "there is no backup \(file)", advice: "Check the path.")
    }
    try StoreFiles.prepare(directory: directory)
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    try PendingRestore.finish(in: directory)
    guard FileIdentity(of: file) != FileIdentity(of: path) else {
      throw StoreFailure(.alreadyThere, "\(file) is the store itself", advice: "Give a backup; nothing was touched.")
    }
    try ofBackup(file) { try LogMark.refuseLoss(ofStoreAt: file) }
    let draft = path + ".restore"
    let contents = try ofBackup(file) {
      try withoutActuallyEscaping(progress) { progress in
        try StoreCopy(source: file, draft: draft, model: model, pace: .init(), report: progress).make()
      }
    }
    do {
      if !replacesOther { try refuseOther(contents.head.store, beside: path, file: file) }
      var (name, number) = (stamp, 1)
      func isTaken(_ previous: String) -> Bool {
        access(previous, F_OK) == 0 || access(StoreFiles.logFolder(ofStoreAt: previous), F_OK) == 0
      }
      while isTaken(PendingRestore.previous(path, name)) {
        number += 1
        name = "\(stamp)-\(number)"
      }
      let hadStore = access(path, F_OK) == 0
      try lock.verify()
      try StoreCopy.refuseMoved(draft, contents.file)
      guard rename(draft, PendingRestore.intent(path, name)) == 0 else {
        throw StoreFiles.failure("\(path) can't be created", errno)
      }
      try StoreFiles.synchronize(directory: directory)
      try PendingRestore.finish(in: directory)
      return Report(
        head: contents.head, objects: contents.objects, bytes: StoreFiles.size(ofFile: path),
        previous: hadStore ? PendingRestore.previous(path, name) : nil)
    } catch {
      StoreCopy.discard(draft, contents.file)
      throw error
    }
  }

  /// Rewords errors about the backup. The usual advice for an unreadable store would point to the wrong one.
  private static func ofBackup<Result>(_ file: String, _ body: () throws -> Result) throws -> Result {
    let advice = "Give another backup; the store was not touched."
    do {
      return try body()
    } catch var unsound as StoreBackup.VerificationError {
      unsound.advice = advice
      throw unsound
    } catch var failure as StoreFailure {
      switch failure.code {
      case .corrupt, .notAStore:
        // SQLite's failures say "the store" for any path.
        failure.sentence = failure.sentence.replacing("the store \(file)", with: "the backup \(file)")
        failure.sentence = failure.sentence.replacing(
          "\(file) is not a store", with: "\(file) is not a backup of a store")
        failure.advice = advice
      case .newerVersion: failure.advice = "Use the newer program; the store was not touched."
      default: break
      }
      throw failure
    }
  }

  /// Refuses a backup of another store, which is usually a mistake. A present store that can't be read is not
  /// compared.
  private static func refuseOther(_ store: UniqueID, beside path: String, file: String) throws {
    guard access(path, F_OK) == 0, (try? StoreFiles.kind(of: path, isOnlyRead: true)) != nil else { return }
    var configuration = Configuration()
    configuration.readonly = true
    let present = try? DatabaseQueue(path: path, configuration: configuration).read { database in
      try database.storeID()
    }
    if let present = present.flatMap(\.self), present != store {
      throw StoreFailure(
        .alreadyThere, "\(file) is a backup of another store than the one in \(StoreFiles.folder(of: path))",
        cause: "its id is \(store), the present store's is \(present)",
        advice: "Give --data the intended directory, or use --other; nothing was touched.")
    }
  }
}
