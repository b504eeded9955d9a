import Foundation
import GraphModel
import GraphReplicaStore
import GraphStore
import GraphTesting

/// A server's store and a replica of it in a folder, without a network: commits are passed on by the test.
final class MirrorFixture {
  let server: TestStore
  let folder: TemporaryDirectory
  let mirror: MirrorStore
  var path: String { folder.path + "/" + ReplicaStore.mirrorName }

  /// Loads a mirror of what the store has.
  init(_ server: TestStore) throws {
    self.server = server
    folder = try TemporaryDirectory()
    try Self.load(server, folder.path + "/" + ReplicaStore.mirrorName)
    mirror = try MirrorStore(path: folder.path + "/" + ReplicaStore.mirrorName, model: server.model)
  }

  static func load(_ server: TestStore, _ path: String, kept: KeptScopes? = nil) throws {
    var objects = [ObjectImage]()
    var token: Token?
    try server.store.export({ at, _ in token = at }, { objects.append($0) })
    let at = try invariant(token, "an export begins with its state")
    let loader = try MirrorLoader(path: path, model: server.model, store: at.store, kept: kept)
    for object in objects { try loader.add([object]) }
    try loader.finish(at: at, time: server.now)
  }

  /// Passes the server's commits since the mirror's state on.
  @discardableResult
  func receive() throws -> Set<ObjectID> { try mirror.apply(Self.commits(of: server, since: mirror.head)) }

  /// The server's commits since a state.
  static func commits(of server: TestStore, since head: Token) throws -> [MirroredCommit] {
    let records = try server.store.commits(after: head.revision, through: nil, maximumChanges: .max)
    return records.map { record in
      MirroredCommit(
        token: Token(store: head.store, revision: record.revision, fingerprint: record.fingerprint),
        time: record.time, author: record.author, transaction: record.transaction, undo: record.undo,
        undoes: record.undoes,
        changes: record.changes.map { change in
          guard let after = change.after else { return .deleted(change.id) }
          return change.kind == .inserted ? .inserted(after) : .updated(after, edits: change.edits)
        })
    }
  }

  /// An overlay over the mirror, of a queue in memory.
  func makeOverlay() throws -> (queue: ListedQueue, overlay: MirrorOverlay) {
    let edits = ListedEdits()
    let overlay = try mirror.makeOverlay(of: edits)
    return (ListedQueue(edits: edits, overlay: overlay), overlay)
  }

  /// All objects of the overlay, by id.
  func visible(_ overlay: MirrorOverlay) throws -> [ObjectID: ObjectImage] {
    var images = [ObjectID: ObjectImage]()
    try overlay.export(begin: { _ in }, body: { images[$0.id] = $0 })
    return images
  }

  /// All objects of the server, by id.
  func served() throws -> [ObjectID: ObjectImage] {
    var images = [ObjectID: ObjectImage]()
    try server.store.export { images[$0.id] = $0 }
    return images
  }

  /// The ids that a predicate finds over the mirror, ascending.
  func find(_ overlay: MirrorOverlay, _ entity: String, _ predicate: String) throws -> [ObjectID] {
    let entity = try server.entity(entity)
    let request = FetchRequest(
      entity: entity.number, predicate: try GraphPredicate(parsing: predicate, entity: entity, model: server.model))
    var ids = [ObjectID]()
    _ = try overlay.answer(request, at: try mirror.head, while: { true }) { part, _ in
      if case .object(let image) = part { ids.append(image.id) }
    }
    return ids.sorted()
  }

  /// An unsent edit with the next number.
  func edit(
    _ number: Int64, _ changes: [Change], policy: MergePolicy = .error, used: Int64 = 0,
    texts: [ObjectID: [PropertyNumber: String]] = [:]
  ) -> UnsentEdit {
    UnsentEdit(
      number: number,
      transaction: Transaction(
        id: TransactionID(replica: UniqueID(high: 9, low: 9), sequence: UInt64(number)), policy: policy,
        changes: changes),
      author: "ann", time: server.now, usedNumbers: used, texts: texts)
  }
}

/// A queue in memory and the overlay that plans it.
struct ListedQueue {
  let edits: ListedEdits
  let overlay: MirrorOverlay

  private struct NotAllowed: Error {
    let planned: PlannedEdit
  }

  /// Adds an edit behind the others, unless the rules do not allow it.
  func append(_ edit: UnsentEdit) throws -> PlannedEdit {
    do {
      let added: PlannedEdit = try overlay.append { _, plan in
        let planned = try plan(edit)
        guard case .success = planned.result else { throw NotAllowed(planned: planned) }
        return (planned, edits.put(edit))
      }
      return added
    } catch let refused as NotAllowed {
      return refused.planned
    }
  }
}
