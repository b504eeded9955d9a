import Foundation
import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

/// A backup is one sound state, even if clients commit while it is made, or there is no backup.
@Suite struct BackupTests {
  private func notes(_ count: Int = 400) throws -> TestStore {
    let store = try TestStore(try Fixtures.stickies())
    let board = try store.insert("Board", ["name": .string("Plans")])
    // Some mebibytes: a copy takes several steps.
    let text = String(repeating: "milk and bread ", count: 500)
    for start in stride(from: 0, to: count, by: 50) {
      try store.must(
        try (start..<start + 50).map {
          try store.insertion("Note", ["text": .string("\($0) \(text)"), "board": .object(board)])
        })
    }
    return store
  }

  private func open(_ file: String, _ model: Model) throws -> TestStore {
    let folder = try TemporaryDirectory()
    try FileManager.default.copyItem(atPath: file, toPath: folder.path + "/graph.sqlite")
    return try TestStore(model, directory: folder)
  }

  @Test func concurrentCommitsAreExcludedFromBackup() throws {
    let store = try notes()
    let head = try store.store.head
    let folder = try TemporaryDirectory()
    let file = folder.path + "/copy.sqlite"
    var steps = [Int]()
    let report = try StoreBackup.run(directory: store.directory.path, model: store.model, file: file) { progress in
      guard case .copying(let bytes, let total) = progress else { return }
      steps.append(bytes)
      #expect(bytes <= total)
      if bytes < total { _ = try store.insert("Tag", ["name": .string("during \(steps.count)")]) }
    }
    #expect(steps.count > 3)
    #expect(steps == steps.sorted())
    #expect(report.head == head)
    #expect(report.objects == 401)
    #expect(report.bytes == (try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy.sqlite"])

    let copy = try open(file, store.model)
    #expect(try copy.store.head == head)
    #expect(try copy.all("Tag").isEmpty)
    #expect(try copy.all("Note").count == 400)
    #expect(try store.all("Tag").count == steps.count - 1)
    #expect(try copy.all("Note", "text CONTAINS \"399 milk\"").count == 1)
  }

  /// A version whose rules are stricter than those of the stored objects does not make the objects unsound.
  @Test func storeViolatingNewLimitIsBackedUp() throws {
    func model(_ version: Int, _ more: String) throws -> Model {
      let attribute = #"{"name": "n", "type": "integer"\#(more)}"#
      return try Model(
        parsing:
          #"{"format": 1, "name": "L", "version": \#(version), "entities": [{"name": "A", "attributes": [\#(attribute)]}]}"#
          .utf8)
    }
    let store = try TestStore(try model(1, ""))
    _ = try store.insert("A", ["n": .integer(2)])
    try store.store.close()
    let tighter = try model(2, #", "minimum": 3"#)
    let folder = try TemporaryDirectory()
    let report = try StoreBackup.run(
      directory: store.directory.path, model: tighter, file: folder.path + "/copy.sqlite"
    ) { _ in }
    #expect(report.objects == 1)
    // A check of the store reports the violation.
    #expect(try StoreCheck.run(directory: store.directory.path, model: tighter).map(\.kind) == [.rule])
  }

  @Test func closedStoreIsBackedUpWithItsWAL() throws {
    let store = try TestStore(try Fixtures.stickies())
    _ = try store.insert("Tag", ["name": .string("kept")])
    // As after a kill: the newest commits are only in the log.
    let killed = try TemporaryDirectory()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(
        atPath: store.directory.path + "/graph.sqlite" + suffix, toPath: killed.path + "/graph.sqlite" + suffix)
    }
    let folder = try TemporaryDirectory()
    let report = try StoreBackup.run(directory: killed.path, model: store.model, file: folder.path + "/copy")
    #expect(report.head == (try store.store.head))
    #expect(report.objects == 1)
    #expect(try open(folder.path + "/copy", store.model).all("Tag").count == 1)
  }

  @Test func existingFileIsRefusedWithoutOption() throws {
    let store = try notes(50)
    let folder = try TemporaryDirectory()
    let file = folder.path + "/copy"
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    func backup(replaces: Bool) throws {
      _ = try StoreBackup.run(
        directory: store.directory.path, model: store.model, file: file, replaces: replaces)
    }
    let refused = failure { try backup(replaces: false) }
    #expect(refused?.sentence == "\(file) already exists")
    #expect(FileManager.default.contents(atPath: file) == Data("mine".utf8))
    try backup(replaces: true)
    #expect(try open(file, store.model).all("Note").count == 50)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
  }

  @Test func linkTargetIsReplaced() throws {
    let (store, folder) = (try notes(50), try TemporaryDirectory())
    let (file, link) = (folder.path + "/disk.sqlite", folder.path + "/newest")
    func backup(replaces: Bool) throws {
      _ = try StoreBackup.run(
        directory: store.directory.path, model: store.model, file: link, replaces: replaces)
    }
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    #expect(failure { try backup(replaces: true) }?.sentence == "\(link) is a link that leads to no file")
    try Data("old".utf8).write(to: URL(fileURLWithPath: file))
    #expect(failure { try backup(replaces: false) }?.sentence == "\(link) already exists")
    try backup(replaces: true)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == file)
    #expect(try open(file, store.model).all("Note").count == 50)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["disk.sqlite", "newest"])
  }

  @Test(arguments: ["graph.sqlite", "graph.sqlite-wal", "graph.sqlite-shm", "graph.sqlite-journal", "lock", "link"])
  func storeItselfIsRefusedAsTarget(_ name: String) throws {
    let store = try notes(50)
    let path = store.directory.path
    try FileManager.default.createSymbolicLink(
      atPath: path + "/link", withDestinationPath: path + "/graph.sqlite")
    for file in [path + "/" + name, path + "/../" + (path as NSString).lastPathComponent + "/" + name] {
      let refused = failure {
        _ = try StoreBackup.run(directory: path, model: store.model, file: file, replaces: true)
      }
      #expect(refused?.sentence == "\(file) is the store itself, or one of its files")
    }
    #expect(try store.all("Note").count == 50)
    try store.store.close()
    #expect(try StoreCheck.run(directory: path, model: store.model).isEmpty)
  }

  /// The file with the name of a draft may be anything, even a link to the store.
  @Test func linkedDraftIsNotWrittenThrough() throws {
    let store = try notes(50)
    let folder = try TemporaryDirectory()
    let (file, path) = (folder.path + "/copy", store.directory.path)
    func refused() -> StoreFailure? {
      failure { _ = try StoreBackup.run(directory: path, model: store.model, file: file) }
    }
    #expect(symlink(path + "/graph.sqlite", file + ".partial") == 0)
    #expect(refused()?.sentence.hasPrefix("\(file).partial is a link") == true)
    #expect(unlink(file + ".partial") == 0 && link(path + "/graph.sqlite", file + ".partial") == 0)
    #expect(refused()?.sentence.hasPrefix("\(file).partial is a link") == true)
    #expect(unlink(file + ".partial") == 0 && mkfifo(file + ".partial", 0o600) == 0)
    #expect(refused()?.sentence.hasPrefix("\(file).partial is a link") == true)
    #expect(try store.all("Note").count == 50)
    try store.store.close()
    #expect(try StoreCheck.run(directory: path, model: store.model).isEmpty)
  }

  @Test func foreignDraftIsNotOverwritten() throws {
    let (store, folder) = (try notes(50), try TemporaryDirectory())
    let draft = URL(fileURLWithPath: folder.path + "/copy.partial")
    try Data("mine, and longer than a header".utf8).write(to: draft)
    func backup() throws {
      _ = try StoreBackup.run(directory: store.directory.path, model: store.model, file: folder.path + "/copy")
    }
    #expect(failure { try backup() }?.sentence.hasPrefix("\(draft.path) is another file, not the draft") == true)
    #expect(try Data(contentsOf: draft).count == 30)
    // The remains of a killed run are a draft.
    try Data(repeating: 0, count: 5_000).write(to: draft)
    try backup()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["copy"])
  }

  /// SQLite would read the log of a store that was opened under the name as the backup's.
  @Test func walBesideTargetIsRefused() throws {
    let store = try notes(50)
    let folder = try TemporaryDirectory()
    let file = folder.path + "/copy"
    for suffix in ["-wal", "-journal"] {
      try Data("another file".utf8).write(to: URL(fileURLWithPath: file + suffix))
      for replaces in [false, true] {
        let refused = failure {
          _ = try StoreBackup.run(directory: store.directory.path, model: store.model, file: file, replaces: replaces)
        }
        #expect(refused?.sentence == "\(file + suffix) is the log of a store that was opened under this name")
      }
      #expect(unlink(file + suffix) == 0)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func servedStoreIsNotReplaced() throws {
    let (store, other) = (try notes(50), try notes(100))
    let refused = failure {
      _ = try StoreBackup.run(
        directory: store.directory.path, model: store.model, file: other.directory.path + "/graph.sqlite",
        replaces: true)
    }
    #expect(refused != nil)
    #expect(try other.all("Note").count == 100)
    try other.store.close()
    #expect(try StoreCheck.run(directory: other.directory.path, model: other.model).isEmpty)
  }

  @Test func pipeIsRefusedWithoutBlocking() throws {
    let (store, folder) = (try notes(1), try TemporaryDirectory())
    try store.store.close()
    #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
    let refused = failure {
      _ = try StoreRestore.run(
        file: folder.path + "/pipe", directory: store.directory.path, model: store.model, stamp: "now")
    }
    #expect(refused?.sentence == "\(folder.path)/pipe is not a backup of a store")
  }

  @Test func cancelledBackupLeavesNothing() throws {
    struct BackupCancelled: Error {}
    let store = try notes()
    let folder = try TemporaryDirectory()
    for moment in 0..<2 {
      #expect(throws: BackupCancelled.self) {
        try StoreBackup.run(directory: store.directory.path, model: store.model, file: folder.path + "/copy") {
          if moment == 0, case .copying = $0 { throw BackupCancelled() }
          if moment == 1, $0 == .checking { throw BackupCancelled() }
        }
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test func damagedStoreIsNotBackedUp() throws {
    let store = try notes(50)
    try store.store.close()
    let path = store.directory.path + "/graph.sqlite"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    while let place = bytes.range(of: Data("17 milk".utf8)) { bytes[place.lowerBound] ^= 1 }
    try bytes.write(to: URL(fileURLWithPath: path))
    let folder = try TemporaryDirectory()
    let unsound = #expect(throws: StoreBackup.VerificationError.self) {
      try StoreBackup.run(directory: store.directory.path, model: store.model, file: folder.path + "/copy")
    }
    #expect(unsound?.findings.contains { $0.kind == .checksum } == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func otherModelIsRefusedBeforeWriting() throws {
    let store = try notes(50)
    let folder = try TemporaryDirectory()
    let company = try Fixtures.company()
    let refused = failure {
      _ = try StoreBackup.run(directory: store.directory.path, model: company, file: folder.path + "/copy")
    }
    #expect(refused?.code == .modelDiffers)
    let nowhere = failure {
      _ = try StoreBackup.run(directory: folder.path, model: store.model, file: folder.path + "/copy")
    }
    #expect(nowhere?.sentence == "there is no store in \(folder.path)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func secondConcurrentBackupToSameFileIsRefused() throws {
    let store = try notes(50)
    let folder = try TemporaryDirectory()
    let file = folder.path + "/copy"
    var second: StoreFailure?
    _ = try StoreBackup.run(directory: store.directory.path, model: store.model, file: file) {
      guard $0 == .checking else { return }
      second = failure {
        _ = try StoreBackup.run(directory: store.directory.path, model: store.model, file: file)
      }
    }
    #expect(second?.sentence == "another program is writing \(file).partial")
    #expect(try open(file, store.model).all("Note").count == 50)
  }

  // MARK: - Pace

  /// A clock that moves only during waits.
  private final class Clock: Sendable {
    let now = Atomic<Int64>(0)
    let slept = Atomic<Int64>(0)

    func pace(_ bytesPerSecond: Int) -> StoreBackup.CopyRate {
      var pace = StoreBackup.CopyRate()
      pace.bytesPerSecond = bytesPerSecond
      pace.monotonicNanoseconds = { self.now.load(ordering: .relaxed) }
      pace.sleepNanoseconds = {
        self.now.add($0, ordering: .relaxed)
        self.slept.add($0, ordering: .relaxed)
      }
      return pace
    }
  }

  @Test func backupKeepsItsRate() throws {
    let store = try notes()
    let folder = try TemporaryDirectory()
    let clock = Clock()
    let report = try StoreBackup.run(
      directory: store.directory.path, model: store.model, file: folder.path + "/copy", pace: clock.pace(1 << 20))
    let seconds = Double(clock.slept.load(ordering: .relaxed)) / 1e9
    let mebibytes = Double(report.bytes) / Double(1 << 20)
    // No wait follows the last step.
    #expect(abs(seconds - mebibytes) <= 1.01, "\(mebibytes) MiB took \(seconds) s")
    #expect(seconds > 2)
  }

  @Test func longWALLiftsTheRateAndIsReported() throws {
    let store = try notes()
    let folder = try TemporaryDirectory()
    let clock = Clock()
    var pace = clock.pace(1 << 20)
    pace.maximumLogGrowth = 100_000
    var lifted = [Int]()
    var waitsBehind = 0
    _ = try StoreBackup.run(
      directory: store.directory.path, model: store.model, file: folder.path + "/copy", pace: pace
    ) {
      switch $0 {
      case .waiting:
        _ = try store.insert("Tag", ["name": .string("\(clock.now.load(ordering: .relaxed))")])
        if !lifted.isEmpty { waitsBehind += 1 }
      case .throttleLifted(let growth): lifted.append(growth)
      default: break
      }
    }
    #expect(lifted.count == 1)
    #expect(lifted.first.map { $0 > 100_000 } == true)
    #expect(waitsBehind == 0)
  }
}
