// Tests: BackupTests.swift
import Foundation
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

/// `stickiesd backup`: writes the complete store at one revision into one file, with or without a running daemon.
///
/// The backup reads the store's files directly, like any reader of a WAL: it needs no daemon, does not depend on one,
/// and does not delay one. It contains every commit that was acknowledged before it began, including those that are
/// only in the commit log. The file gets its name only after it has been written, synced and checked; until then its
/// name ends in `.partial`.
public enum StoreBackup {
  /// The progress of a backup.
  public enum Progress: Sendable, Equatable {
    /// Pages are being copied.
    case copying(bytes: Int, of: Int)
    /// The copy pauses to keep its rate.
    case waiting
    /// The rate limit is off.
    ///
    /// The store's WAL has grown by this number of bytes while the copy kept it from restarting.
    case throttleLifted(logGrowth: Int)
    /// All pages are copied, and the checks of `stickiesd check` run.
    case checking
  }

  /// The speed of a backup.
  public struct CopyRate: Sendable {
    /// The maximum rate in bytes per second; nil for no limit.
    public var bytesPerSecond: Int?
    /// The WAL growth, in bytes, past which the rate limit is lifted. The WAL can't restart until the copy is done.
    public var maximumLogGrowth = 256 << 20
    /// A monotonic clock, in nanoseconds.
    public var monotonicNanoseconds = SQLiteStore.Options().monotonicNanoseconds
    /// Waits on the caller's thread.
    public var sleepNanoseconds: @Sendable (Int64) -> Void = { nanoseconds in
      var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
      nanosleep(&time, nil)
    }

    /// Creates a rate without a limit.
    public init() {}
  }

  /// The result of a backup.
  public struct Report: Sendable, Hashable {
    /// The state in the backup.
    public var head: Token
    /// The number of objects.
    public var objects: Int
    /// The file's size in bytes.
    public var bytes: Int
  }

  /// The error for a copy that failed its check and was therefore deleted.
  public struct VerificationError: Error, CustomStringConvertible {
    /// The path of the copied store.
    public let source: String
    /// The findings, as in `stickiesd check`.
    public let findings: [StoreFinding]
    /// The advice for a person, in complete sentences.
    public internal(set) var advice = "Keep a copy of all files, and restore an older backup."

    init(source: String, findings: [StoreFinding]) {
      self.source = source
      self.findings = findings
    }

    public var description: String {
      "\(source) is not sound: \(findings.count) finding\(findings.count == 1 ? "" : "s"). No copy was made. "
        + advice
    }
  }

  /// Writes a backup of the store in `directory` into `file`.
  /// - Parameters:
  ///   - model: the store's model.
  ///   - replaces: whether an existing file of that name may be replaced, once the new one has passed its check.
  ///   - progress: called often; if it throws, the backup ends and leaves nothing behind.
  /// - Throws: `StoreFailure`, or `VerificationError`.
  public static func run(
    directory: String, model: Model, file: String, replaces: Bool = false, pace: CopyRate = CopyRate(),
    progress: (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    try finishRestore(in: directory)
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    try refuse(file, directory: directory, replaces: replaces)
    // For a link, the backup replaces the file that it leads to.
    let file = StoreFiles.real(file)
    try refuseLog(beside: file)
    let target = Target(file)
    // Prevents a daemon from starting to serve the store that is replaced.
    let lock = try lock(storeAt: file)
    defer { withExtendedLifetime(lock) {} }
    try prepareUnlessServed(path, directory: directory)
    return try withoutActuallyEscaping(progress) { progress in
      let copy = StoreCopy(source: path, draft: draft(of: file), model: model, pace: pace, report: progress)
      let contents = try copy.make()
      do {
        try lock?.verify()
        try publish(copy.draft, contents.file, as: target, replaces: replaces)
      } catch {
        StoreCopy.discard(copy.draft, contents.file)
        throw error
      }
      return Report(head: contents.head, objects: contents.objects, bytes: StoreFiles.size(ofFile: file))
    }
  }

  /// The path of an incomplete backup into `file`.
  public static func draft(of file: String) -> String { StoreFiles.real(file) + ".partial" }

  /// The destination of a backup, with its identity at the beginning, because names may change during the copy.
  private struct Target {
    let file: String
    private let present: FileIdentity?
    let folder: String
    private let folderIdentity: FileIdentity?

    init(_ file: String) {
      (self.file, folder) = (file, StoreFiles.folder(of: file))
      (present, folderIdentity) = (FileIdentity(of: file), FileIdentity(of: folder))
    }

    /// Checks that the file and the folder are the same as at the beginning.
    func verify() throws {
      try StoreCopy.refuseMoved(folder, folderIdentity)
      try StoreCopy.refuseMoved(file, present)
    }
  }

  private static func publish(_ draft: String, _ copy: FileIdentity, as target: Target, replaces: Bool) throws {
    let file = target.file
    // Another program may have created the file during the copy.
    try refuseExisting(file, replaces: replaces)
    try refuseLog(beside: file)
    try target.verify()
    try StoreCopy.refuseMoved(draft, copy)
    guard rename(draft, file) == 0 else { throw StoreFiles.failure("\(file) can't be created", errno) }
    try StoreFiles.synchronize(directory: target.folder)
    try StoreCopy.refuseMoved(file, copy)
  }

  private static func refuse(_ file: String, directory: String, replaces: Bool) throws {
    let (folder, name) = (StoreFiles.folder(of: file), StoreFiles.lastName(of: file))
    let isBeside = FileIdentity(of: folder) == FileIdentity(of: directory)
    let isOfTheStore = ["", "-wal", "-shm"].contains { suffix in
      guard let own = FileIdentity(of: directory + "/" + StoreFiles.name + suffix) else { return false }
      return FileIdentity(of: file) == own
    }
    guard !isOfTheStore,
      !isBeside || !(name.hasPrefix(StoreFiles.name) || ["lock", "socket", StoreFiles.logFolder].contains(name))
    else {
      throw StoreFailure(
        .alreadyThere, "\(file) is the store itself, or one of its files",
        advice: "Give the backup another name, preferably on another disk.")
    }
    var status = stat()
    if stat(file, &status) != 0, lstat(file, &status) == 0 {
      throw StoreFailure(
        .alreadyThere, "\(file) is a link that leads to no file",
        advice: "Remove it, or give the backup another name.")
    }
    if stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw StoreFailure(.alreadyThere, "\(file) is a folder", advice: "Give the backup a file name in that folder.")
    }
    if stat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw StoreFailure(
        .alreadyThere, "\(file) is a device, a socket or a pipe, which a backup can't replace",
        advice: "Give the backup another name.")
    }
    try refuseExisting(file, replaces: replaces)
    try refuseLog(beside: file)
  }

  /// Refuses a WAL or journal beside the backup's name, because SQLite would apply it to the backup.
  private static func refuseLog(beside file: String) throws {
    for suffix in ["-wal", "-journal"] where StoreFiles.hasContent(file + suffix) {
      throw StoreFailure(
        .alreadyThere, "\(file + suffix) is the log of a store that was opened under this name",
        advice:
          "Give the backup another name, or move that file away if you do not need it; it was not touched.")
    }
  }

  /// Locks the store that will be replaced; nil if the file is not a daemon's store.
  private static func lock(storeAt file: String) throws -> StoreLock? {
    let folder = StoreFiles.folder(of: file)
    guard StoreFiles.lastName(of: file) == StoreFiles.name, access(folder + "/lock", F_OK) == 0 else { return nil }
    return try StoreLock(directory: folder)
  }

  private static func refuseExisting(_ file: String, replaces: Bool) throws {
    var status = stat()
    guard replaces || lstat(file, &status) != 0 else {
      throw StoreFailure(
        .alreadyThere, "\(file) already exists", advice: "Give another name, or use --replace; it was not touched.")
    }
  }

  /// Completes a pending restore, so that the backup contains the restored store. A daemon does this at its start;
  /// without a running daemon, the backup has to do it.
  private static func finishRestore(in directory: String) throws {
    guard PendingRestore.exists(in: directory) else { return }
    let path = directory + "/" + StoreFiles.name
    guard !ReadOnlyMedium.holds(path) else {
      throw ReadOnlyMedium.refusal(path, cause: "a restore must be finished first")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    try PendingRestore.finish(in: directory)
  }

  /// Brings the store up to date with its commit log, and checks the WAL for lost commits before SQLite opens it,
  /// unless a daemon is running. A daemon does both at its start.
  private static func prepareUnlessServed(_ path: String, directory: String) throws {
    // On a read-only medium no daemon serves the store, and no lock can be acquired.
    if ReadOnlyMedium.holds(path) { return try WriteAheadLogFile.refuseLoss(beside: path) }
    do {
      let lock = try LogRecovery.lock(directory)
      defer { withExtendedLifetime(lock) {} }
      try WriteAheadLogFile.refuseLoss(beside: path)
    } catch let failure as StoreFailure where failure.code == .inUse {
      // SQLite creates the WAL before its index and removes the index first. So a served store with only an index has
      // lost its WAL: the daemon still writes to it, and no program that opens the store by name can read it.
      guard access(path + "-shm", F_OK) == 0, access(path + "-wal", F_OK) != 0 else { return }
      throw StoreFailure(
        .moved, "\(path)-wal was moved away or removed while a daemon serves the store",
        advice: "Stop that stickiesd with SIGTERM, never with SIGKILL, start it again, and run the backup again.")
    }
  }
}
