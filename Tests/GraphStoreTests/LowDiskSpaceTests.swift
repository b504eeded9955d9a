import Foundation
import GRDB
import GraphModel
import GraphStoreTools
import GraphTesting
import Synchronization
import Testing

@testable import GraphStore

/// A disk that is smaller than the usual maximum of the log.
@Suite struct LowDiskSpaceTests {
  private static let diskBytes = 8 << 20

  private func size(_ store: TestStore, _ suffix: String) -> Int {
    StoreFiles.size(ofFile: store.directory.path + "/graph.sqlite" + suffix)
  }

  @Test func walIsLimitedToQuarterOfSmallDisk() throws {
    let store = try TestStore(try Fixtures.stickies(), wordLimit: 512) { options in
      options.freeBytes = { directory in
        let path = directory + "/graph.sqlite"
        return max(0, Self.diskBytes - StoreFiles.size(of: path))
      }
    }
    var largest = 0
    for number in 0..<150 {
      _ = try store.insert("Board", ["name": .string("board \(number)")])
      largest = max(largest, size(store, "-wal"))
    }
    #expect(largest <= Self.diskBytes / 4 + (512 << 10), "\(largest) bytes")
    // The space for the checkpoint is reserved before the space for the log.
    let pages = try store.store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
    #expect(size(store, "") >= pages * 4_096)
    try store.reopen()
    #expect(try store.all("Board").count == 150)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func walHasUsualSizeWithEnoughSpace() {
    var monitor = DiskSpaceMonitor(checkpointPages: 4_000)
    monitor.updateFreeSpace(now: 1) { 1 << 40 }
    #expect(!monitor.isLow)
    #expect(monitor.newThreshold(log: 1 << 20, pageSize: 4_096, usual: 4_000) == nil)
    // The free space shrinks and grows again.
    monitor.updateFreeSpace(now: 1_000_000_000) { 8 << 20 }
    #expect(monitor.isLow)
    #expect(monitor.newThreshold(log: 0, pageSize: 4_096, usual: 4_000) == 512)
    #expect(monitor.newThreshold(log: 1 << 10, pageSize: 4_096, usual: 4_000) == nil)
    monitor.updateFreeSpace(now: 1_000_000_001) { 0 }
    #expect(monitor.newThreshold(log: 0, pageSize: 4_096, usual: 4_000) == DiskSpaceMonitor.minimumPages)
    monitor.updateFreeSpace(now: 1_000_000_002) { 1 << 40 }
    #expect(monitor.newThreshold(log: 0, pageSize: 4_096, usual: 4_000) == 4_000)
  }

  /// A real one, where this user may mount one.
  @Test func smallDiskIsFilledByDatabaseNotByWAL() throws {
    guard let folder = try MountedDisk(mebibytes: 8) else { return }
    let store = try SQLiteStore(directory: folder.path, model: try Fixtures.stickies())
    let scene = try TestStore(try Fixtures.stickies())
    var (committed, number) = (0, UInt64(0))
    func commit() throws {
      number += 1
      let board = try scene.insertion("Board", ["name": .string("board \(number)")])
      let text = Value.string(String(repeating: "a note on a small disk ", count: 100))
      let note = try scene.insertion("Note", ["board": .object(board.id), "text": text])
      let id = TransactionID(replica: UniqueID(high: 5, low: 5), sequence: number)
      let result = try store.commit([.transaction(Transaction(id: id, changes: [board, note]), author: "ann")], now: 1)
      if case .committed? = result.first?.outcome { committed += 1 }
      if case .refused(let refusal)? = result.first?.outcome { throw refusal }
    }
    let refused = failure { while number < 20_000 { try commit() } }
    #expect(refused?.code == .full)
    #expect(StoreFiles.size(ofFile: folder.path + "/graph.sqlite") > 4 << 20)
    let before = committed
    try store.close()
    // A start finds all commits, and the log releases its space.
    let again = try SQLiteStore(directory: folder.path, model: try Fixtures.stickies())
    #expect(try again.head.revision == Int64(before))
    try again.close()
    #expect(try StoreCheck.run(directory: folder.path, model: try Fixtures.stickies()).isEmpty)
  }
}
