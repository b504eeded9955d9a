// Tests: SynchronizerTests.swift
import GraphModel
import GraphReplicaStore
import GraphStore

/// The edits that were not sent, and those that the server has refused.
extension OfflineReplica {
  /// The folder of the replica; that of all replicas of the server without one.
  package var path: String { if let current = folder.current { current } else { folder.path } }

  /// The file of unsent edits.
  /// - Throws: `Refusal(.notFound)` without a replica.
  package func openUnsent() throws -> UnsentFile {
    guard let unsent = try unsentFile() else { throw Self.none }
    return unsent
  }

  /// Runs `body` with the file of unsent edits.
  private func withUnsent<Result>(_ body: (UnsentFile) throws -> Result) throws -> Result {
    let unsent = try openUnsent()
    defer { unsent.close() }
    return try body(unsent)
  }

  /// The numbers of queued and of parked edits.
  package func counts() throws -> (unsent: Int, parked: Int) { try withUnsent { try $0.counts() } }

  /// The number of the newest edit that was made here; numbers are never used again.
  func newestEdit() throws -> Int64 { try withUnsent { try $0.replica.number } }

  /// Queues a parked edit again.
  /// - Parameter policy: nil for the edit's own.
  /// - Throws: `Refusal(.notFound)` without such an edit, `Refusal(.conflict)` if it is not parked.
  public func retry(_ number: Int64, policy: MergePolicy?, model: Model) throws {
    let base = try seenRevision(model)
    _ = try withUnsent { try $0.retry(number, policy: policy, base: base, form: IntentForm(model)) }
  }

  /// The ids that the server has assigned to objects which were made here, by their provisional ids.
  func assignedIDs(_ model: Model) throws -> [ObjectID: ObjectID] {
    try withUnsent { try $0.madeObjects(model).ids }
  }

  /// The server's revision that the copy has; 0 without one, so that edits keep their bases.
  private func seenRevision(_ model: Model) throws -> Revision {
    do {
      let mirror = try MirrorStore(path: path + "/" + ReplicaStore.mirrorName, model: model)
      defer { mirror.close() }
      return try mirror.head.revision
    } catch let failure as StoreFailure where failure.isMissingMirror {
      return 0
    }
  }

  /// Objects as the copy has them, without unsent edits; none that it does not have, or if it can't be read.
  package func copiedImages(of ids: Set<ObjectID>, model: Model) -> [ObjectID: ObjectImage] {
    guard !ids.isEmpty,
      let mirror = try? MirrorStore(path: path + "/" + ReplicaStore.mirrorName, model: model)
    else { return [:] }
    defer { mirror.close() }
    let found = try? mirror.read { mirror in try ids.compactMap { try mirror.image(of: $0) } }
    return if let found { Dictionary(found.map { ($0.id, $0) }) { first, _ in first } } else { [:] }
  }

  /// Removes an edit that has not left or is parked, and the edits of objects that only it makes.
  /// - Returns: the JSON forms of the removed edits.
  /// - Throws: `Refusal(.notFound)` without such an edit, `Refusal(.conflict)` if it is on its way.
  public func discard(_ number: Int64, model: Model) throws -> [String] {
    try withUnsent { try $0.discard(number, form: IntentForm(model)) }
  }

  /// The later edits that `discard` removes with an edit.
  public func dependents(of number: Int64, model: Model) throws -> [Int64] {
    try withUnsent { try $0.dependents(of: number, form: IntentForm(model)) }.filter { $0 != number }
  }

  /// Turns sync on without the server: the edits are sent when it answers.
  package func setOn() throws {
    // Any other state is on, and may have a reset to complete.
    try withUnsent { if try $0.replica.state == .off { try $0.setState(.on) } }
  }

  /// The JSON form of an edit, for an editor.
  package func form(of number: Int64, model: Model) throws -> String {
    let entry = try withUnsent { try $0.entry(number, form: IntentForm(model)) }
    guard let entry else { throw Refusal(.notFound, "there is no unsent edit \(number)") }
    return entry.form
  }

  /// Replaces a parked edit by another form of it, and queues it again.
  package func replace(_ number: Int64, by text: String, model: Model) throws {
    let form = IntentForm(model)
    let intent = try form.intent(parsing: text)
    guard intent.number == number else {
      throw Refusal(.malformed, "the form is that of edit \(intent.number), not of \(number)")
    }
    // The user has seen the server's values in the list of conflicts.
    let base = try seenRevision(model)
    try withUnsent { try $0.replace(number, by: intent, base: base, form: form) }
  }

  /// Takes edits of a file in one step, each with a number of its own here.
  package func take(_ lines: [String], model: Model) throws -> ReplicaStore.Taken {
    guard let current = folder.current else { throw Self.none }
    let form = IntentForm(model)
    let intents = try lines.enumerated().map { index, line in
      do throws(Refusal) {
        return try form.intent(parsing: line)
      } catch {
        throw Refusal(error.code, "line \(index + 1): \(error.message)")
      }
    }
    var generator = SystemRandomNumberGenerator()
    let store = try ReplicaStore(folder: current, model: model) { generator.next() }
    defer { try? store.close() }
    return try store.take(intents, now: now())
  }
}
