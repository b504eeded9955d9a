import Foundation
import GraphModel
import GraphStore

/// A real store in a folder of its own, with words for what tests do to it.
public final class TestStore {
  /// Where its files are.
  public let directory: TemporaryDirectory
  /// The store itself; another one after `reopen()`.
  public private(set) var store: SQLiteStore
  /// What its objects are.
  public let model: Model
  private var lastSequence: UInt64 = 0
  private var lastTemporary: UInt64 = 0
  /// Whose transactions are committed; each replica counts its own.
  public var replica = UniqueID(high: 1, low: 1)
  /// Who commits them.
  public var author = "ann"
  /// The time of the last commit; a second goes by before each. `now()` means it in predicates.
  public var now: Timestamp = 1_700_000_000_000_000

  private let options: SQLiteStore.Options

  /// - Parameters:
  ///   - wordLimit: the changes that may wait for the full-text indexes: few, so that tests meet both sides.
  ///   - sliceObjects: the objects in a slice of a batch, as few.
  ///   - wholeInterval: about every so many changes of an object one holds it whole.
  ///   - undoLimits: what the undo of one step may take.
  ///   - configure: what else is to be different.
  public init(
    _ model: Model, directory: TemporaryDirectory? = nil, wordLimit: Int = 3, sliceObjects: Int = 3,
    wholeInterval: Int = 4, undoLimits: UndoLimits = UndoLimits(),
    configure: (inout SQLiteStore.Options) -> Void = { _ in }
  ) throws {
    self.model = model
    self.directory = try directory ?? TemporaryDirectory()
    var options = SQLiteStore.Options()
    options.wordLimit = wordLimit
    options.sliceObjects = sliceObjects
    options.wholeInterval = wholeInterval
    options.undoLimits = undoLimits
    configure(&options)
    self.options = options
    store = try SQLiteStore(directory: self.directory.path, model: model, options: options)
  }

  /// Closes and opens again.
  public func reopen() throws {
    try store.close()
    store = try SQLiteStore(directory: directory.path, model: model, options: options)
  }

  /// Another store with the same past, whose objects have the same ids.
  public func twin() throws -> TestStore {
    let folder = try TemporaryDirectory()
    try store.close()
    try Data(contentsOf: URL(fileURLWithPath: directory.path + "/graph.sqlite"))
      .write(to: URL(fileURLWithPath: folder.path + "/graph.sqlite"))
    store = try SQLiteStore(directory: directory.path, model: model, options: options)
    let twin = try TestStore(
      model, directory: folder, wordLimit: options.wordLimit, sliceObjects: options.sliceObjects,
      wholeInterval: options.wholeInterval)
    twin.now = now
    twin.author = author
    // Its own transactions are new ones.
    twin.replica = UniqueID(high: replica.high, low: replica.low + 1)
    return twin
  }

  /// Commits many objects at once.
  public func batch(
    _ entity: String, _ operation: Batch.Operation, policy: MergePolicy = .error, id: TransactionID? = nil,
    rows: [[Value]] = [], progress: @escaping @Sendable (BatchProgress) throws -> Void = { _ in }
  ) throws -> WriteResult {
    now += 1_000_000
    let batch = Batch(
      id: id ?? nextID(), policy: policy, entity: try self.entity(entity).number, operation: operation)
    let run = BatchRun(batch, author: author, rows: ListedRows(rows: rows), progress: progress)
    return try store.commit([.batch(run)], now: now)[0]
  }

  /// Rows in memory, in chunks of odd sizes.
  private struct ListedRows: BatchRowSource {
    let rows: [[Value]]

    var count: Int { rows.count }

    func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
      for start in stride(from: 0, to: rows.count, by: 7) { try body(Array(rows[start..<min(start + 7, rows.count)])) }
    }
  }

  /// A property by its path, `Person.age`.
  public func property(_ path: String) throws -> Property {
    // The place among the members of an ordered relationship has a dot of its own.
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

  /// An id for an object that is to be inserted.
  public func temporary(_ entity: String) throws -> ObjectID {
    lastTemporary += 1
    return .temporary(lastTemporary, entity: try self.entity(entity).number)
  }

  /// Sets a property to a value.
  public func edit(_ path: String, _ value: Value) throws -> Edit { Edit(try property(path).number, .set(value)) }

  /// The change that inserts an object with these values, by property.
  public func insertion(_ entity: String, _ values: [String: Value] = [:]) throws -> Change {
    Change(
      .insert, try temporary(entity),
      edits: try values.sorted { $0.key < $1.key }.map { try edit("\(entity).\($0.key)", $0.value) })
  }

  /// The id of a transaction that there was not yet.
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
    return try store.commit([.transaction(transaction, author: author)], now: now)[0]
  }

  /// Commits what must be accepted; returns the permanent ids of its inserts, in order.
  @discardableResult
  public func must(
    _ changes: [Change], policy: MergePolicy = .error, undo: UndoGroup? = nil
  ) throws -> [ObjectID] {
    switch try commit(changes, policy: policy, undo: undo).outcome {
    case .committed(let committed): return committed.identities.map(\.permanent)
    case .refused(let refusal): throw refusal
    }
  }

  /// Commits what must be refused.
  public func refusal(_ changes: [Change], policy: MergePolicy = .error) throws -> Refusal? {
    if case .refused(let refusal) = try commit(changes, policy: policy).outcome { refusal } else { nil }
  }

  /// Commits one object, which must be accepted; returns its permanent id.
  public func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ObjectID {
    try must([insertion(entity, values)])[0]
  }

  /// The change that sets one property of an object, read at `base`: by default as it is at the commit.
  public func update(_ id: ObjectID, _ path: String, _ value: Value, base: Revision = .max) throws -> Change {
    Change(.update, id, base: base, edits: [try edit(path, value)])
  }

  /// Commits the undo, or redo, of the author's last step, or of the one of a revision.
  public func undo(_ revision: Revision? = nil, scope: UniqueID? = nil, redo: Bool = false) throws -> WriteResult {
    now += 1_000_000
    let request = UndoRequest(nextID(), revision: revision, scope: scope, redo: redo)
    return try store.commit([.undo(request, author: author)], now: now)[0]
  }

  /// Commits the redo of what was undone last, or of the step of a revision.
  public func redo(_ revision: Revision? = nil, scope: UniqueID? = nil) throws -> WriteResult {
    try undo(revision, scope: scope, redo: true)
  }

  /// The objects of an entity and its heirs that satisfy a predicate's text, in the order of a sort's.
  public func all(_ entity: String, _ predicate: String = "", sort: String = "") throws -> [ObjectImage] {
    let entity = try self.entity(entity)
    let condition = predicate.isEmpty ? .always : try GraphPredicate(parsing: predicate, entity: entity, model: model)
    return try all(entity, where: condition.bound(now: now), sort: sort)
  }

  /// What satisfies a predicate that has been read and, where it asks for `now()`, bound.
  public func all(_ entity: Entity, where condition: GraphPredicate, sort: String = "") throws -> [ObjectImage] {
    let order = sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: model)
    var images = [ObjectImage]()
    _ = try store.fetch(FetchRequest(entity: entity.number, predicate: condition, sort: order)) { images.append($0) }
    return images
  }

  /// All that a request brings, of the present or of a revision.
  public func answer(
    _ request: FetchRequest, at revision: Revision? = nil
  ) throws -> (parts: [FetchedPart], end: FetchEnd) {
    var request = request
    request.at = revision
    var parts = [FetchedPart]()
    let end = try store.answer(request) { parts.append($0) }
    return (parts, end)
  }

  /// An object as it is stored; nil when it is not there.
  public func image(_ id: ObjectID) throws -> ObjectImage? {
    var found: ObjectImage?
    _ = try store.fetch(FetchRequest(entity: id.entity, predicate: .identifiers([id]))) { found = $0 }
    return found
  }

  /// The value of one property of an object, by its path; null when the object is not there.
  public func value(_ id: ObjectID, _ path: String) throws -> Value {
    try image(id)?[try property(path)] ?? .null
  }
}
