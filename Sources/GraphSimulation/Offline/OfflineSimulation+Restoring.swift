import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphStoreTools

/// Backups and restores of the server.
extension OfflineSimulation {
  func backUpOrRestore() throws {
    guard let backup else {
      try settleServer()
      let file = directory + "/backup.sqlite"
      _ = try StoreBackup.run(directory: serverDirectory, model: served, file: file, replaces: true)
      self.backup = Backup(file: file, version: version, present: history.present)
      return trace("the server is backed up at revision \(history.present.revision)")
    }
    if random.chance(40) { return }
    self.backup = nil
    let isOfEarlierModel = backup.version != version
    if isOfEarlierModel { return }
    let folder = random.chance(70) ? try editLostRank(among: backup.present.folders) : nil
    let hasEverything = backup.present.revision >= history.present.revision
    if hasEverything { return }
    trace("the server is restored to revision \(backup.present.revision) from \(history.present.revision)")
    count(.serverRestored)
    try withStoppedServer {
      let report = try StoreRestore.run(
        file: backup.file, directory: serverDirectory, model: served, stamp: "step\(step)")
      if let previous = report.previous {
        for suffix in ["", "-wal"] { try? FileManager.default.removeItem(atPath: previous + suffix) }
      }
      history.revert(to: backup.present)
    }
    if let folder { try setRankAsOther(of: folder) }
  }

  /// A user without the server replaces a rank that the restore takes back. The revision in which another user sets it
  /// afterwards may be below the one that the first user has seen.
  /// - Parameter known: the folders that the backup has.
  /// - Returns: the folder.
  private func editLostRank(among known: Set<UniqueID>) throws -> ObjectID? {
    let folders = try servedObjects().keys.filter { served.isA($0, "Folder") && known.contains($0.key) }.sorted()
    guard let folder = random.pick(folders) else { return nil }
    try setRankAsOther(of: folder)
    let device = random.element(of: devices)
    try synchronize(device)
    let process = device.processes[0]
    process.closeStore()
    guard let store = try openStore(device, process) else { return nil }
    process.view = try Self.objects(of: store)
    let model = model.versions[device.version]
    guard let image = process.view[folder], let (change, place) = setRank(of: image, model) else { return nil }
    try save([change], place, .error, device, process, store)
    return folder
  }

  private func setRankAsOther(of folder: ObjectID) throws {
    if let image = try servedObjects()[folder], let (change, _) = setRank(of: image, served) {
      try commitAsOther(change)
    }
  }
}
