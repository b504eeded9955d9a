import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphStoreTools

/// Events of devices and of the server other than edits and runs.
extension OfflineSimulation {
  // MARK: - Devices

  /// Adds a device of a user, and makes its replica.
  func addDevice(user: Int) throws {
    let device = OfflineDevice(
      number: devices.count, lineage: devices.count, user: user, folder: directory + "/device-\(devices.count)",
      version: version)
    try StoreFiles.prepare(directory: device.folder)
    guard let store = try server?.store.head.store else { preconditionFailure("the server runs") }
    let principal = accounts.users[user].principal
    let replica = UnsentFile.Replica(id: newID(), store: store, principal: principal.id, author: principal.name)
    try UnsentFile.create(folder: device.folder, replica: replica).close()
    try device.openFile()
    devices.append(device)
    try synchronize(device)
  }

  /// Copies the folder of a device to another one of the same user.
  func cloneDevice() throws {
    if devices.count >= Self.deviceCount { return }
    let original = random.element(of: devices)
    let clone = OfflineDevice(
      number: devices.count, lineage: original.lineage, user: original.user,
      folder: directory + "/device-\(devices.count)", version: original.version)
    try OfflineDevice.copyFiles(from: original.folder, to: clone.folder)
    try clone.openFile()
    (clone.open, clone.generation) = (original.open, original.generation)
    try allowCopies(of: clone)
    devices.append(clone)
    trace("device \(clone.number) is a copy of device \(original.number)")
    count(.cloned)
  }

  /// Edits that have not left are committed under another id, once more.
  private func allowCopies(of device: OfflineDevice) throws {
    for entry in try device.unsent.entries(IntentForm(model.versions[device.version])) where !entry.isParked {
      if entry.intent?.hasLeft != true, let edit = device.open[entry.number] { history.allowAnother(edit) }
    }
  }

  /// Keeps a copy of a device's files, or restores the one that there is.
  func keepOrRestoreCopy(_ device: OfflineDevice) throws {
    guard let copy = device.copy else {
      let folder = device.folder + "-copy"
      try OfflineDevice.copyFiles(from: device.folder, to: folder)
      device.copy = OfflineDevice.OldCopy(folder: folder, open: device.open, generation: device.generation)
      return
    }
    if random.chance(50) { return }
    for process in device.processes { kill(process) }
    device.closeFiles()
    // A message that is on its way could use a number that the restored file uses again (decision 52).
    for (session, _) in lostConnections { close(session) }
    lostConnections = []
    try settleServer()
    let inPlace = random.chance(40)
    try OfflineDevice.copyFiles(from: copy.folder, to: device.folder, inPlace: inPlace)
    try device.openFile()
    (device.open, device.generation, device.copy) = (copy.open, copy.generation, nil)
    try allowCopies(of: device)
    trace("device \(device.number) is restored from an old copy\(inPlace ? " in place" : "")")
    count(.restoredOldCopy)
  }

  /// Gives a device's programs the newest version of the model.
  func upgrade(_ device: OfflineDevice) {
    if device.version < version {
      for process in device.processes { kill(process) }
      device.version = version
      trace("device \(device.number) is upgraded")
      count(.upgraded)
    }
  }

  // MARK: - Roles

  func changeGrants() throws {
    let user = random.element(of: accounts.users)
    let places: [UniqueID?] = [nil] + history.present.folders.sorted().map { Optional($0) }
    let place = random.chance(50) ? nil : random.element(of: places)
    let old = user.grants[place]
    let role = random.chance(35) ? nil : random.element(of: [Role.reader, .editor, .editor, .owner, .owner])
    if role == old { return }
    trace("user \(user.number) becomes \(role?.rawValue ?? "nothing") on \(place?.description ?? "the store")")
    accounts.setRole(role, of: user.number, on: place)
    count(role == nil ? .roleTaken : .roleGiven)
    if let tokens = server?.hub.tokensInUse, !tokens.isEmpty { accountJobs.append(.checkTokens(tokens)) }
  }

  // MARK: - The server's store

  /// Ends the server, does something with its files, and starts it again.
  func withStoppedServer(_ body: () throws -> Void) throws {
    try settleServer()
    try server?.store.close()
    stopServer()
    try body()
    try startServer()
  }

  func migrate() throws {
    if version + 1 < model.versions.count {
      trace("the server's model is migrated")
      count(.migrated)
      try withStoppedServer {
        var options = StoreMigration.Options()
        (options.makesBackup, options.isChecked) = (false, true)
        let ids = newID()
        options.random = { ids.low }
        try StoreMigration(directory: serverDirectory, models: model.versions, now: now, options: options).run()
        version += 1
      }
    }
  }

  func prune() throws {
    try settleServer()
    guard let store = server?.store else { preconditionFailure("a settled server runs") }
    let target = history.present.revision - Revision(1 + random.below(20))
    if target <= 0 { return }
    while try store.prune(through: target) {}
    trace("history is pruned up to \(target)")
    count(.pruned)
  }
}
