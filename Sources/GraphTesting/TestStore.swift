import Foundation
import GraphModel
import GraphStore

/// A real store in a temporary directory, with helpers for tests.
public final class TestStore {
  /// The directory of the store's files.
  public let directory: TemporaryDirectory
  /// The store; a different instance after `reopen()`.
  public private(set) var store: SQLiteStore
  /// The model of the store.
  public let model: Model
  private var lastSequence: UInt64 = 0
  private var lastTemporary: UInt64 = 0
  /// The replica of the transactions; transaction ids are numbered per replica.
  public var replica = UniqueID(high: 1, low: 1)
  /// The author of the transactions.
  public var author = "ann"
  /// The principal of the transactions; nil for one without an account, with the author's name.
  public var account: Principal?
  /// The rights of the principal; nil permits everything.
  public var rights: Rights?
  private var principal: Principal { account ?? Principal(author: author) }
  /// The time of the last commit, and the value of `now()` in predicates; each commit advances it by one second.
  public var now: Timestamp = 1_700_000_000_000_000

  /// The entries of the store's commits.
  public let recorder = EntryRecorder()
  /// A copy of the files that the store was opened with; nil if it was created, or if they can't be read.
  let initialFiles: TemporaryDirectory?
  private let options: SQLiteStore.Options

  /// Opens a store.
  /// - Parameters:
  ///   - wordLimit: the number of changes that may wait for the full-text indexes; small, so that tests cover both
  ///     sides of the limit.
  ///   - sliceObjects: the number of objects in a slice of a batch; small for the same reason.
  ///   - keyframeInterval: the approximate number of changes of an object between two that contain it completely.
  ///   - undoLimits: the limits of the undo of one step.
  ///   - configure: sets further options.
  public init(
    _ model: Model, directory: TemporaryDirectory? = nil, wordLimit: Int = 3, sliceObjects: Int = 3,
    keyframeInterval: Int = 4, undoLimits: UndoLimits = UndoLimits(),
    configure: (inout SQLiteStore.Options) -> Void = { _ in }
  ) throws {
    self.model = model
    self.directory = try directory ?? TemporaryDirectory()
    var options = SQLiteStore.Options()
    options.wordLimit = wordLimit
    options.sliceObjects = sliceObjects
    options.keyframeInterval = keyframeInterval
    options.undoLimits = undoLimits
    options.comparedNanoseconds = 0
    options.didCommit = { [recorder] in recorder.append($0) }
    if ProcessInfo.processInfo.environment["STICKIES_TEST_LOG"] != nil {
      options.commitLog = SQLiteStore.localLog(in: self.directory.path)
      options.gatheredCommits = 3
    }
    configure(&options)
    self.options = options
    initialFiles = TemporaryDirectory(copyOfStoreIn: self.directory.path)
    store = try SQLiteStore(directory: self.directory.path, model: model, options: options)
  }

  /// Closes the store and opens it again.
  public func reopen() throws {
    try store.close()
    store = try SQLiteStore(directory: directory.path, model: model, options: options)
  }

  /// Returns a copy of the store, with the same history and object ids.
  public func twin() throws -> TestStore {
    let folder = try TemporaryDirectory()
    try store.close()
    try Data(contentsOf: URL(fileURLWithPath: directory.path + "/graph.sqlite"))
      .write(to: URL(fileURLWithPath: folder.path + "/graph.sqlite"))
    store = try SQLiteStore(directory: directory.path, model: model, options: options)
    let twin = try TestStore(
      model, directory: folder, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      keyframeInterval: options.keyframeInterval)
    twin.now = now
    twin.author = author
    // Another replica, so that the twin's transactions have new ids.
    twin.replica = UniqueID(high: replica.high, low: replica.low + 1)
    return twin
  }

  /// Commits a batch.
  public func batch(
    _ entity: String, _ operation: Batch.Operation, policy: MergePolicy = .error, id: TransactionID? = nil,
    rows: [[Value]] = [], progress: @escaping @Sendable (BatchProgress) throws -> Void = { _ in }
  ) throws -> WriteResult {
    now += 1_000_000
    let batch = Batch(
      id: id ?? nextID(), policy: policy, entity: try self.entity(entity).number, operation: operation)
    let run = BatchJob(batch, author: principal, rights: rights, rows: ListedRows(rows: rows), progress: progress)
    return try store.commit([.batch(run)], now: now)[0]
  }

  /// Rows in memory, in chunks of seven.
  private struct ListedRows: BatchRowSource {
    let rows: [[Value]]

    var count: Int { rows.count }

    func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
      for start in stride(from: 0, to: rows.count, by: 7) { try body(Array(rows[start..<min(start + 7, rows.count)])) }
    }
  }

  /// A property by its path, such as `Person.age`.
  public func property(_ path: String) throws -> Property {
    // The name of an order property contains a dot itself.
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let property = model.entity(named: parts[0])?.property(named: parts[1]) else {
      throw Refusal(.malformed, "no property \(path)")
    }
    return property
  }

  /// An entity by its name.
  public func entity(_ name: String) throws -> Entity {
    guard let entity = model.entity(named: name) else { throw Refusal(.malformed, "no entity \(name)") }
    return entity
  }

  /// A new temporary id for an object to insert.
  public func temporary(_ entity: String) throws -> ObjectID {
    lastTemporary += 1
    return .temporary(lastTemporary, entity: try self.entity(entity).number)
  }

  /// An edit that sets a property to a value.
  public func edit(_ path: String, _ value: Value) throws -> Edit { Edit(try property(path).number, .set(value)) }

  /// A change that inserts an object with these values, by property name.
  public func insertion(_ entity: String, _ values: [String: Value] = [:]) throws -> Change {
    Change(
      .insert, try temporary(entity),
      edits: try values.sorted { $0.key < $1.key }.map { try edit("\(entity).\($0.key)", $0.value) })
  }

  /// A new transaction id.
  public func nextID() -> TransactionID {
    lastSequence += 1
    return TransactionID(replica: replica, sequence: lastSequence)
  }

  /// Commits changes as one transaction.
  @discardableResult
  public func commit(
    _ changes: [Change], policy: MergePolicy = .error, undo: UndoGroup? = nil
  ) throws -> WriteResult {
    now += 1_000_000
    let transaction = Transaction(id: nextID(), policy: policy, undo: undo, changes: changes)
    return try store.commit([.transaction(transaction, author: principal, rights: rights)], now: now)[0]
  }

  /// Commits changes that must be accepted; returns the permanent ids of the inserts, in order.
  @discardableResult
  public func must(
    _ changes: [Change], policy: MergePolicy = .error, undo: UndoGroup? = nil
  ) throws -> [ObjectID] {
    switch try commit(changes, policy: policy, undo: undo).outcome {
    case .committed(let committed): return committed.identities.map(\.permanent)
    case .refused(let refusal): throw refusal
    }
  }

  /// Commits changes and returns the refusal; nil if they were accepted.
  public func refusal(_ changes: [Change], policy: MergePolicy = .error) throws -> Refusal? {
    if case .refused(let refusal) = try commit(changes, policy: policy).outcome { refusal } else { nil }
  }

  /// Commits the insertion of one object, which must be accepted; returns its permanent id.
  public func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ObjectID {
    try must([insertion(entity, values)])[0]
  }

  /// A change that sets one property of an object, read at `base`; by default, at the time of the commit.
  public func update(_ id: ObjectID, _ path: String, _ value: Value, base: Revision = .max) throws -> Change {
    Change(.update, id, base: base, edits: [try edit(path, value)])
  }

  /// Commits the undo or redo of the author's last step, or of the step of a revision.
  public func undo(_ revision: Revision? = nil, scope: UniqueID? = nil, redo: Bool = false) throws -> WriteResult {
    now += 1_000_000
    let request = UndoRequest(nextID(), revision: revision, scope: scope, redo: redo)
    return try store.commit([.undo(request, author: principal, rights: rights)], now: now)[0]
  }

  /// Commits the redo of the last undone step, or of the step of a revision.
  public func redo(_ revision: Revision? = nil, scope: UniqueID? = nil) throws -> WriteResult {
    try undo(revision, scope: scope, redo: true)
  }

  /// The sorted objects of an entity and its subentities that satisfy a predicate in text form.
  public func all(_ entity: String, _ predicate: String = "", sort: String = "") throws -> [ObjectImage] {
    let entity = try self.entity(entity)
    let condition = predicate.isEmpty ? .always : try GraphPredicate(parsing: predicate, entity: entity, model: model)
    return try all(entity, where: condition.bound(now: now), sort: sort)
  }

  /// The sorted objects of an entity that satisfy a predicate in which `now()` is bound.
  public func all(_ entity: Entity, where condition: GraphPredicate, sort: String = "") throws -> [ObjectImage] {
    let order = sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: model)
    var images = [ObjectImage]()
    _ = try store.fetch(FetchRequest(entity: entity.number, predicate: condition, sort: order)) { images.append($0) }
    return images
  }

  /// The complete answer to a fetch, in the present or at a revision.
  public func answer(
    _ request: FetchRequest, at revision: Revision? = nil
  ) throws -> (parts: [FetchElement], end: FetchCompletion) {
    var request = request
    request.at = revision
    var parts = [FetchElement]()
    let end = try store.answer(request) { parts.append($0) }
    return (parts, end)
  }

  /// The stored object; nil when it does not exist.
  public func image(_ id: ObjectID) throws -> ObjectImage? {
    var found: ObjectImage?
    _ = try store.fetch(FetchRequest(entity: id.entity, predicate: .identifiers([id]))) { found = $0 }
    return found
  }

  /// The value of a property, by its path; null when the object does not exist.
  public func value(_ id: ObjectID, _ path: String) throws -> Value {
    try image(id)?[try property(path)] ?? .null
  }
}
