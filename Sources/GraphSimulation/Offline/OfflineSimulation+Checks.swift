import GraphModel
import GraphReplicaStore
import GraphStore

/// The checks of runs with offline replicas.
extension OfflineSimulation {
  /// Checks that a file still has every edit that was acknowledged and that the server has not committed.
  func checkFile(of device: OfflineDevice) throws {
    let present = try numbers(in: device.unsent, device)
    for (number, edit) in device.open.sorted(by: { $0.key < $1.key }) where !present.contains(number) {
      if let reason = history.failure(ofRemoving: edit) {
        try check("edit \(edit), number \(number) of device \(device.number), is gone: \(reason)")
      }
      device.open[number] = nil
    }
    for number in present.sorted() where device.open[number] == nil {
      try check("device \(device.number) has an unsent edit \(number) that its user did not make or has discarded")
    }
  }

  // MARK: - The end of a run

  /// Sends everything, without faults, and compares each replica with the server.
  func finish() throws {
    trace("everything is sent")
    for device in devices { for process in device.processes { kill(process) } }
    for user in accounts.users where !user.mayConnect { accounts.setRole(.reader, of: user.number, on: nil) }
    try settleServer()
    for device in devices {
      upgrade(device)
      if try device.unsent.replica.state == .off { try device.unsent.setState(.on) }
      try sendEverything(device)
    }
    // The first devices receive the edits that the last ones have sent.
    for device in devices {
      try synchronize(device)
      try compare(device)
    }
    try checkWords()
  }

  private func sendEverything(_ device: OfflineDevice) throws {
    for _ in 0..<5 {
      try synchronize(device)
      if try device.unsent.counts().unsent == 0 { return }
    }
    try check("device \(device.number) does not send everything")
  }

  /// Compares what the user of a device sees with what the server shows to the user.
  private func compare(_ device: OfflineDevice) throws {
    let store = try ReplicaStore(folder: device.folder, model: model.versions[device.version]) { 7 }
    let shown = try Self.objects(of: store)
    try store.close()
    let seen = try objects(seenBy: device.user)
    count(.compared)
    if seen.count < (try servedObjects()).count { count(.comparedPart) }
    if shown == seen { return }
    let lost = seen.keys.filter { shown[$0] == nil }.sorted()
    let extra = shown.keys.filter { seen[$0] == nil }.sorted()
    let stale = seen.values.sorted { $0.id < $1.id }.filter { shown[$0.id] != nil && shown[$0.id] != $0 }.map { image in
      "\(image.id): shows \(String(describing: shown[image.id])), the server has \(image)"
    }
    try check("device \(device.number) differs from the server: \(lost) lost, \(extra) too many, stale \(stale)")
  }

  /// Checks that merges have split no word.
  ///
  /// A splice behind a removed edit, or in a text that a restored server has lost, is placed by the differences of two
  /// texts, which may be in the middle of a word. So may one in a text that has a word twice, because an edit was
  /// committed for a replica and for its copy.
  private func checkWords() throws {
    if history.hasRemovedText || history.hasRepeatedEdit || history.generation > 0 { return }
    for image in try servedObjects().values where served.isA(image.id, "Item") {
      guard let text = served.value(image, "Item", "text").stringValue else { continue }
      for word in text.split(separator: " ") where word.first != "w" || Int(word.dropFirst()) == nil {
        try check("the text \"\(text)\" has a split word")
      }
    }
  }
}
