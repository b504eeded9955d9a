// Tests: LogFailureTests.swift, LogDamageTests.swift
import GraphModel

/// The failures of a log that can't be read, or whose files were moved. No file was changed when one of them is thrown.
enum LogFailure {
  private static let keepCopy =
    "Nothing was touched: keep a copy of all files, run stickiesd check, and restore a backup."

  static func missing(_ folder: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the log folder \(folder) is missing",
      cause: "the newest commits of the store may be only there",
      advice: "Put the folder back, or restore a backup; the store was not touched.")
  }

  static func neverBegun(_ folder: String) -> StoreFailure {
    StoreFailure(
      .corrupt, "the log folder \(folder) has no segment with a log",
      cause: "its files were removed, replaced or damaged",
      advice: "Put the files back, or restore a backup; the store was not touched.")
  }

  static func otherStore(_ path: String, _ found: UniqueID, expected: UniqueID) -> StoreFailure {
    StoreFailure(
      .notAStore, "the log segment \(path) belongs to another store",
      cause: "it is of store \(hexadecimal(found)), this store is \(hexadecimal(expected))",
      advice: "Put each store's log back beside it; nothing was touched.")
  }

  static func newer(_ path: String, _ version: UInt32) -> StoreFailure {
    StoreFailure(
      .newerVersion, "the log segment \(path) was written by a newer stickiesd",
      cause: "its version is \(version), this program knows up to 1",
      advice: "Use the newer program; the log was not touched.")
  }

  static func renamed(_ path: String, _ number: UInt64) -> StoreFailure {
    StoreFailure(
      .corrupt, "the log segment \(path) has the name of another one", cause: "it is number \(number)",
      advice: "Give it its name back; nothing was touched.")
  }

  static func truncated(_ path: String, _ bytes: Int, of expected: Int) -> StoreFailure {
    StoreFailure(
      .corrupt, "the log segment \(path) is cut short", cause: "it has \(bytes) of its \(expected) bytes",
      advice: keepCopy)
  }

  /// - Parameter evidence: the evidence that the bytes had been synced.
  static func damaged(_ path: String, at offset: Int, _ evidence: String) -> StoreFailure {
    StoreFailure(.corrupt, "the log segment \(path) is damaged at byte \(offset)", cause: evidence, advice: keepCopy)
  }

  static func wrongRevision(_ path: String, _ record: StoredRecord, expected: Revision) -> StoreFailure {
    damaged(path, at: record.offset, "its record has revision \(record.revision) instead of \(expected)")
  }

  /// - Parameter missing: the path of the segment before the first one; nil if the log began with that one.
  static func gap(_ folder: String, after revision: Revision, through start: Revision, missing: String?) -> StoreFailure
  {
    let cause =
      if let missing { "the log segment \(missing) is missing or was reused" } else {
        "the log began after revision \(start)"
      }
    return StoreFailure(
      .corrupt,
      start == revision + 1
        ? "the log \(folder) lacks the commit of revision \(start)"
        : "the log \(folder) lacks the commits of revisions \(revision + 1) to \(start)",
      cause: cause,
      advice: "Put missing segments back, or restore a backup with its log; nothing was touched.")
  }

  static func moved(folder: String, isThere: Bool) -> StoreFailure {
    StoreFailure(
      .moved,
      "the log folder \(folder) "
        + (isThere ? "is another one than the one that was opened" : "was moved away or removed"),
      advice: movedAdvice)
  }

  static func moved(segment path: String, isThere: Bool) -> StoreFailure {
    StoreFailure(
      .moved,
      "the log segment \(path) was \(isThere ? "replaced" : "moved away or removed") while stickiesd had it open",
      advice: movedAdvice)
  }

  private static let movedAdvice =
    "Nothing is lost: the commits are synced in the store, and a new log begins. Keep other programs out of the log's "
    + "folder."

  private static func hexadecimal(_ id: UniqueID) -> String {
    id.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}
