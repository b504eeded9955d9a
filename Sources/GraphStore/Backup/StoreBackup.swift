import Foundation
import GraphModel

#if canImport(Glibc)
  import Glibc
#endif

/// `stickiesd backup`: one file that holds the whole store as of one revision, made while a daemon serves it or while none
/// does.
///
/// It reads the store's files by itself, as any reader that WAL allows: no daemon has to be asked, none has to be trusted,
/// and none is held up. A file carries its name only after it has been written, synchronized and proven sound; until then
/// it is called like it with `.partial` behind.
public enum StoreBackup {
  /// How far it is.
  public enum Progress: Sendable, Equatable {
    /// Pages are being copied.
    case copying(bytes: Int, of: Int)
    /// It waits, to keep its rate.
    case waiting
    /// The rate is given up: the store's log has grown by so many bytes while the copy held it.
    case throttleLifted(logGrowth: Int)
    /// All pages are copied, and what `stickiesd check` looks at is looked at.
    case checking
  }

  /// How fast it may go.
  public struct Pace: Sendable {
    /// At most so many bytes a second; nil for as fast as the disk is.
    public var bytesPerSecond: Int?
    /// Past it, the copy is finished as fast as the disk is: as long as it lasts the log can't be begun anew.
    public var maximumLogGrowth = 256 << 20
    /// A clock that only goes forward.
    public var monotonicNanoseconds = SQLiteStore.Options().monotonicNanoseconds
    /// Waits on the caller's thread.
    public var sleepNanoseconds: @Sendable (Int64) -> Void = { nanoseconds in
      var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
      nanosleep(&time, nil)
    }

    /// As fast as the disk is.
    public init() {}
  }

  /// What was written.
  public struct Report: Sendable, Hashable {
    /// The state that it holds.
    public var head: Token
    /// How many objects.
    public var objects: Int
    /// The file's size.
    public var bytes: Int
  }

  /// A copy that is not sound, and therefore is not there.
  public struct Unsound: Error, CustomStringConvertible {
    /// What was copied.
    public let source: String
    /// What is wrong with it, as `stickiesd check` says it.
    public let findings: [StoreCheck.Finding]
    /// What a person can do about it, in whole sentences.
    public internal(set) var advice = "Keep a copy of all files, and restore an older backup."

    init(source: String, findings: [StoreCheck.Finding]) {
      self.source = source
      self.findings = findings
    }

    public var description: String {
      "\(source) is not sound: \(findings.count) finding\(findings.count == 1 ? "" : "s"). Nothing was made of it. "
        + advice
    }
  }

  /// Writes the store in `directory` into `file`.
  /// - Parameters:
  ///   - model: the store's.
  ///   - replaces: a file of that name may be replaced, once the new one is sound.
  ///   - progress: called often; what it throws ends the backup, and nothing is left behind.
  /// - Throws: `StoreFailure`, or `Unsound`.
  public static func run(
    directory: String, model: Model, file: String, replaces: Bool = false, pace: Pace = Pace(),
    progress: (Progress) throws -> Void = { _ in }
  ) throws -> Report {
    let path = directory + "/" + StoreFiles.name
    try finishRestore(in: directory)
    guard try StoreFiles.kind(of: path, isOnlyRead: true) != .absent else {
      throw StoreFailure(.notAStore, "there is no store in \(directory)", advice: "Give --data the daemon's directory.")
    }
    try refuse(file, directory: directory, replaces: replaces)
    // Through a link it is the file behind it.
    let file = StoreFiles.real(file)
    try refuseLog(beside: file)
    let target = Target(file)
    // Nobody begins to serve what is replaced.
    let lock = try lock(storeAt: file)
    defer { withExtendedLifetime(lock) {} }
    try refuseLossUnlessServed(path, directory: directory)
    return try withoutActuallyEscaping(progress) { progress in
      let copy = StoreCopy(source: path, draft: draft(of: file), model: model, pace: pace, tell: progress)
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

  /// Where a backup into `file` lies until it is whole.
  public static func draft(of file: String) -> String { StoreFiles.real(file) + ".partial" }

  /// Where a backup goes, as it was when the backup began: the copy takes long enough for names to change.
  private struct Target {
    let file: String
    private let present: FileIdentity?
    let folder: String
    private let folderIdentity: FileIdentity?

    init(_ file: String) {
      (self.file, folder) = (file, StoreFiles.folder(of: file))
      (present, folderIdentity) = (FileIdentity(of: file), FileIdentity(of: folder))
    }

    /// What is replaced is the file that was looked at, in the folder that was looked at.
    func verify() throws {
      try StoreCopy.refuseMoved(folder, folderIdentity)
      try StoreCopy.refuseMoved(file, present)
    }
  }

  private static func publish(_ draft: String, _ copy: FileIdentity, as target: Target, replaces: Bool) throws {
    let file = target.file
    // Another program may have made one meanwhile.
    try refuseExisting(file, replaces: replaces)
    try refuseLog(beside: file)
    try target.verify()
    try StoreCopy.refuseMoved(draft, copy)
    guard rename(draft, file) == 0 else { throw StoreFiles.failure("\(file) can't be made", errno) }
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
    guard !isOfTheStore, !isBeside || !(name.hasPrefix(StoreFiles.name) || ["lock", "socket"].contains(name)) else {
      throw StoreFailure(
        .alreadyThere, "\(file) is the store itself, or one of its files",
        advice: "Give the backup another name, best on another disk.")
    }
    var status = stat()
    if stat(file, &status) != 0, lstat(file, &status) == 0 {
      throw StoreFailure(
        .alreadyThere, "\(file) is a link that leads to no file",
        advice: "Remove it, or give the backup another name.")
    }
    if stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw StoreFailure(.alreadyThere, "\(file) is a folder", advice: "Give the backup a file's name in it.")
    }
    if stat(file, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      throw StoreFailure(
        .alreadyThere, "\(file) is no file that a backup could replace: it is a device, a socket or a pipe",
        advice: "Give the backup a name of its own.")
    }
    try refuseExisting(file, replaces: replaces)
    try refuseLog(beside: file)
  }

  /// A log that lies beside the name would be read with the backup: SQLite takes both for one store.
  private static func refuseLog(beside file: String) throws {
    for suffix in ["-wal", "-journal"] where StoreFiles.hasContent(file + suffix) {
      throw StoreFailure(
        .alreadyThere, "\(file + suffix) is the log of a store that was opened under this name",
        advice:
          "Give the backup another name, or put that file aside if nobody needs what is in it; it was not touched.")
    }
  }

  /// The lock of a store that is to be replaced; nil where no store of a daemon lies.
  private static func lock(storeAt file: String) throws -> StoreLock? {
    let folder = StoreFiles.folder(of: file)
    guard StoreFiles.lastName(of: file) == StoreFiles.name, access(folder + "/lock", F_OK) == 0 else { return nil }
    return try StoreLock(directory: folder)
  }

  private static func refuseExisting(_ file: String, replaces: Bool) throws {
    var status = stat()
    guard replaces || lstat(file, &status) != 0 else {
      throw StoreFailure(
        .alreadyThere, "\(file) is there already", advice: "Give another name, or --replace; it was not touched.")
    }
  }

  /// A backup is one of the store that a restore was decided for. A daemon has finished it when it started; without one,
  /// this is who does.
  private static func finishRestore(in directory: String) throws {
    guard StoreRestore.isUnfinished(in: directory) else { return }
    let path = directory + "/" + StoreFiles.name
    guard !ReadOnlyMedium.holds(path) else {
      throw ReadOnlyMedium.refusal(path, cause: "a restore has to be finished first")
    }
    let lock = try StoreLock(directory: directory)
    defer { withExtendedLifetime(lock) {} }
    try StoreRestore.finish(in: directory)
  }

  /// A daemon has looked at its log when it started, and is writing it now. Without one, this is who looks before SQLite.
  private static func refuseLossUnlessServed(_ path: String, directory: String) throws {
    // No daemon serves it there, and no lock can be taken.
    if ReadOnlyMedium.holds(path) { return try WriteAheadLogFile.refuseLoss(beside: path) }
    do {
      let lock = try StoreLock(directory: directory)
      defer { withExtendedLifetime(lock) {} }
      try WriteAheadLogFile.refuseLoss(beside: path)
    } catch let failure as StoreFailure where failure.code == .inUse {
      // SQLite makes the log before its index and removes the index first. A served store with an index alone has lost
      // its log: the daemon still writes into it, and nothing that opens the store by name can read it.
      guard access(path + "-shm", F_OK) == 0, access(path + "-wal", F_OK) != 0 else { return }
      throw StoreFailure(
        .moved, "\(path)-wal was moved away or removed while a daemon serves the store",
        advice: "Stop that stickiesd with SIGTERM, never with SIGKILL, start it again, and run the backup again.")
    }
  }
}
