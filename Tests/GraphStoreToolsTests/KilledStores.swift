import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Killed stores, of which some commits are only in the commit log.
struct KilledStores {
  let model: Model

  init() throws { model = try Fixtures.company() }

  /// A store that commits in SQLite as late as possible.
  func open(
    _ directory: TemporaryDirectory? = nil, _ model: Model? = nil, gathered: Int = 1_000
  ) throws -> TestStore {
    let directory = try directory ?? TemporaryDirectory()
    return try TestStore(model ?? self.model, directory: directory) { options in
      options.commitLog = SQLiteStore.localLog(in: directory.path)
      options.gatheredCommits = gathered
    }
  }

  /// A store that has no log.
  func openWithoutLog(_ directory: TemporaryDirectory) throws -> TestStore {
    try TestStore(model, directory: directory) { $0.commitLog = nil }
  }

  func copy(_ names: [String], of directory: TemporaryDirectory, to target: TemporaryDirectory) throws {
    for name in names where FileManager.default.fileExists(atPath: directory.path + "/" + name) {
      let path = target.path + "/" + name
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
      try FileManager.default.copyItem(atPath: directory.path + "/" + name, toPath: path)
    }
  }

  static let files = ["graph.sqlite", "graph.sqlite-wal", "log"]

  /// The files of an open store, as a kill leaves them.
  func killed(_ store: TestStore) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    try copy(Self.files, of: store.directory, to: directory)
    return directory
  }

  /// A killed store with persons `p0` to `p4`, none of which is in SQLite.
  func filled() throws -> TemporaryDirectory {
    let store = try open()
    for number in 0..<5 { _ = try store.insert("Person", ["name": .string("p\(number)")]) }
    return try killed(store)
  }

  static let everyName = (0..<5).map { "p\($0)" }

  func names(_ store: TestStore) throws -> [String] {
    let name = try store.property("Person.name")
    return try store.all("Person", sort: "name").compactMap { $0[name].stringValue }
  }

  /// The names of the persons in a backup.
  func names(inFile file: String) throws -> [String] {
    let folder = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: file, toPath: folder.path + "/graph.sqlite")
    let store = try openWithoutLog(folder)
    defer { try? store.store.close() }
    return try names(store)
  }

  /// The contents of the database, of SQLite's log, and of the segments. A reader leaves an empty log behind.
  func contents(_ directory: TemporaryDirectory) throws -> [String: Data] {
    var contents = [String: Data]()
    for path in try FileManager.default.subpathsOfDirectory(atPath: directory.path)
    where path != "lock" && !path.hasSuffix("-shm") {
      contents[path] = FileManager.default.contents(atPath: directory.path + "/" + path)
    }
    return contents.filter { !$0.value.isEmpty }
  }

  func isMarked(_ directory: TemporaryDirectory) throws -> Bool {
    try LogMark.isSet(inStoreAt: directory.path + "/graph.sqlite")
  }

  func check(_ directory: TemporaryDirectory) throws -> StoreCheck.Report {
    try StoreCheck.report(directory: directory.path, model: model, heldObjects: 3)
  }

  /// Sets or clears the mark, as a program that ignores the log would.
  func mark(_ isNeeded: Bool, _ directory: TemporaryDirectory) throws {
    let queue = try DatabaseQueue(path: directory.path + "/graph.sqlite")
    try queue.write { try $0.execute(sql: "UPDATE _log SET isNeeded = ?", arguments: [isNeeded]) }
    try queue.close()
  }

  /// The names in a directory, without SQLite's shared memory.
  func names(in directory: TemporaryDirectory) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { !$0.hasSuffix("-shm") }.sorted()
  }

  // MARK: - Damage

  enum LogDamage: String, CaseIterable, Sendable {
    case missing, empty, short, ofAnotherStore, ofAnotherPast, ofALaterPast, newer, flippedInTheMiddle

    /// A part of the finding.
    var words: String {
      switch self {
      case .missing: "is missing"
      case .empty: "has no segment with a log"
      case .short: "is cut short"
      case .ofAnotherStore: "belongs to another store"
      case .ofAnotherPast: "another commit of revision 1"
      case .ofALaterPast: "lacks the commits of revisions 1 to 3"
      case .newer: "was written by a newer stickiesd"
      case .flippedInTheMiddle: "is damaged at byte 4096"
      }
    }
  }

  func damaged(_ damage: LogDamage) throws -> TemporaryDirectory {
    if damage == .ofALaterPast { return try withLogOfLaterPast() }
    let directory = try filled()
    let log = directory.path + "/log"
    func edit(_ body: (inout [UInt8]) -> Void) throws {
      let url = URL(fileURLWithPath: try segment(directory))
      var bytes = [UInt8](try Data(contentsOf: url))
      body(&bytes)
      try Data(bytes).write(to: url)
    }
    switch damage {
    case .missing: try FileManager.default.removeItem(atPath: log)
    case .empty:
      for name in try FileManager.default.contentsOfDirectory(atPath: log) {
        try FileManager.default.removeItem(atPath: log + "/" + name)
      }
    case .short: try edit { $0.removeSubrange(100_000...) }
    case .ofAnotherStore:
      let other = try open()
      _ = try other.insert("Person", ["name": .string("other")])
      try copy(["log"], of: other.directory, to: directory)
    case .ofAnotherPast:
      // Another program has written the same revision without the log.
      try mark(false, directory)
      let other = try openWithoutLog(directory)
      _ = try other.insert("Person", ["name": .string("other")])
      try other.store.close()
      try mark(true, directory)
    case .newer:
      try edit { bytes in
        bytes[16] = 2
        let sum = Checksum.of(Array(bytes[16..<4_096]))
        withUnsafeBytes(of: sum.littleEndian) { bytes.replaceSubrange(8..<16, with: $0) }
      }
    case .flippedInTheMiddle: try edit { $0[4_096 + 60] ^= 4 }
    case .ofALaterPast: break
    }
    return directory
  }

  /// The database is of an earlier moment than the beginning of the log.
  func withLogOfLaterPast() throws -> TemporaryDirectory {
    let store = try open()
    _ = try store.insert("Person", ["name": .string("a")])
    let directory = try killed(store)
    for name in ["b", "c"] { _ = try store.insert("Person", ["name": .string(name)]) }
    try store.reopen()
    _ = try store.insert("Person", ["name": .string("d")])
    try copy(["log"], of: store.directory, to: directory)
    return directory
  }

  /// The segment with the store's commits: the last one with content.
  func segment(_ directory: TemporaryDirectory) throws -> String {
    let folder = directory.path + "/log/"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    return folder
      + (try #require(
        names.last { name in
          FileManager.default.contents(atPath: folder + name)?.starts(with: Data("GraphLog".utf8)) == true
        }))
  }
}
