// Tests: MirrorOverlayTests.swift, LongQueueTests.swift
import GRDB
import GraphModel

import struct GraphModel.FetchRequest

/// Reads a mirror with unsent edits over it: the future over the present, as `PastReader` reads the past over it.
///
/// The rules engine plans the edits, in order, over the mirror and the edits before them, so inverses, delete rules and
/// validation hold without the server. The plans are in a file beside the mirror, which all processes of the replica
/// share, so that a program with a long queue plans only what is new (`OverlayPlanner`). The file is disposable: it
/// follows from the mirror and the queue.
///
/// `@unchecked Sendable`: all properties that change are accessed inside the queue only.
package final class MirrorOverlay: @unchecked Sendable {
  private let queue: DatabaseQueue
  private let layout: StoreLayout
  private let source: any UnsentEditSource
  /// The load of the mirror.
  private let load: Int64
  private var statements = StatementCache()
  private let views = OverlayTables.ShownViews()
  private var plans = 0
  /// The refusals of plans that this instance has made, by edit.
  private var refusals = [Int64: Refusal]()

  /// For each revision that was shown, and was not planned before this overlay was opened, the mirror's below it.
  private var bases = [Revision: Revision]()
  /// The mirror's revision when this overlay was opened. Plans of that time are those of all later states up to it.
  private let opened: Revision

  /// The most refusals that are kept.
  private static let maximumRefusals = 1_000
  private static let lockSeconds = 5.0
  /// How often a read begins again because another process has changed the copy.
  private static let attempts = 20

  /// - Parameters:
  ///   - path: the mirror.
  ///   - source: the queue of unsent edits.
  ///   - file: the file of the plans; nil for one in memory.
  init(path: String, layout: StoreLayout, source: any UnsentEditSource, file: String?) throws {
    (self.layout, self.source) = (layout, source)
    queue = try Self.open(path, file)
    (load, opened) = try queue.inDatabase { database in
      let objects = ObjectReader(Connection(database), layout: layout)
      return (try MirrorStore.load(of: database), try HistoryReader(objects: objects).head().revision)
    }
  }

  /// The server's revision that a reader has seen with a revision of this overlay: the mirror's below an unsent edit,
  /// or the revision itself.
  package func base(of revision: Revision) -> Revision {
    if revision < ProvisionalRevision.base || revision == .max { return revision }
    return queue.inDatabase { _ in bases[revision, default: opened] }
  }

  /// Records that a revision above a state of the mirror was shown.
  package func record(_ revision: Revision, over base: Revision) {
    queue.inDatabase { _ in bases[revision] = min(base, bases[revision, default: base]) }
  }

  /// Opens the mirror with the plans, which are begun again if their file can't be used.
  private static func open(_ path: String, _ file: String?) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyMode = .timeout(lockSeconds)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -8192")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      SQLFunctions.register(on: database)
      try OverlayStamp.attach(file, to: database)
      ShortLog.keep(database, busySeconds: lockSeconds)
    }
    if let file { StoreFiles.createPrivateFile(at: file) }
    do {
      return try DatabaseQueue(path: path, configuration: configuration)
    } catch {
      guard let file, Self.isUnusable(error) else { throw error }
      MirrorStore.remove(file)
      StoreFiles.createPrivateFile(at: file)
      return try DatabaseQueue(path: path, configuration: configuration)
    }
  }

  private static func isUnusable(_ error: any Error) -> Bool {
    if let error = error as? DatabaseError { return [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode) }
    return (error as? StoreFailure)?.code == .newerVersion
  }

  /// The number of plans that were made so far.
  package var countOfPlans: Int { queue.inDatabase { _ in plans } }

  // MARK: - Edits

  /// Adds an edit behind the others, in one step with the queue.
  /// - Parameters:
  ///   - floor: a revision that was shown already; the edit's objects have a higher one.
  ///   - body: receives the newest change of the queue that is planned, and a function that plans the edit; makes the
  ///     edit durable and returns the queue's new change. If it throws, nothing is added; with `QueueChanged`, it is
  ///     called again when the queue's other changes are planned.
  package func append<Result>(
    above floor: Revision = 0,
    _ body: (_ change: Int64, _ plan: (UnsentEdit) throws -> PlannedEdit) throws -> (result: Result, change: Int64)
  ) throws -> Result {
    var durable: Result?
    for _ in 0..<Self.attempts {
      do {
        let result: Result? = try transaction(writes: true) { connection in
          var planner = try planner(connection)
          guard try planner.isCurrent() else { return nil }
          try planner.tables.show()
          let (result, change) = try body(planner.stamp.change) { edit in try planner.plan(edit, above: floor) }
          durable = result
          try planner.save(change: change)
          note(planner)
          return result
        }
        if let result { return result }
      } catch is QueueChanged {
        // Another process has appended.
      } catch {
        // The edit is durable, and is planned by the next read.
        if let durable { return durable }
        throw error
      }
      try refresh()
    }
    throw Self.busy
  }

  /// The queue has changed since it was planned.
  package struct QueueChanged: Error {
    package init() {}
  }

  /// Plans what has changed since the last plans.
  package func refresh() throws {
    try transaction(writes: true) { connection in
      var planner = try planner(connection)
      if try planner.isCurrent() { return }
      try planner.refresh()
      note(planner)
    }
  }

  private static let busy = Refusal(
    .unavailable, "other programs change this computer's copy all the time; try again later")

  private func planner(_ connection: Connection) throws -> OverlayPlanner {
    try OverlayPlanner(connection, layout: layout, source: source, load: load, views: views)
  }

  /// Keeps the results of plans, inside the queue.
  private func note(_ planner: OverlayPlanner) {
    plans += planner.plans
    bases.merge(planner.bases) { min($0, $1) }
    for (number, refusal) in planner.outcomes {
      if refusal != nil, refusals.count >= Self.maximumRefusals { continue }
      refusals[number] = refusal
    }
  }

  /// Why the rules do not allow an edit over what the mirror has now; nil if they do, or if another process has planned
  /// it.
  package func refusal(of number: Int64) throws -> Refusal? {
    try refresh()
    return queue.inDatabase { _ in refusals[number] }
  }

  /// The revision of the newest state.
  package func newestRevision() throws -> Revision {
    try read { _, _, planner in planner.stamp.revision }
  }

  /// The revision that an edit has here; nil for one that is not in the queue.
  package func revision(of number: Int64) throws -> Revision? {
    try read { _, _, planner in try planner.index.revision(of: number) }
  }

  /// Whether an edit of the queue is shown as a commit that the mirror has, and not as an unsent edit.
  package func isInMirror(_ edit: UnsentEdit) throws -> Bool {
    try read { _, _, planner in try planner.isInMirror(edit) }
  }

  /// The objects that the edits change, and those that are planned again without them.
  package func objects(concernedBy numbers: Set<Int64>) throws -> [ObjectID] {
    try read { _, _, planner in
      var ids = Set<ObjectID>()
      for number in try planner.index.closure(of: numbers) {
        for key in try planner.index.writes(of: number) {
          let place = try planner.tables.place(of: ObjectID(key: key, entity: 0))
          if let place { ids.insert(ObjectID(key: key, entity: place.entity)) }
        }
      }
      return ids.sorted()
    }
  }

  /// The edits that change objects, as they are shown.
  package func edits(changing ids: Set<ObjectID>) throws -> [ObjectID: Set<Int64>] {
    try read { _, _, planner in
      var edits = [ObjectID: Set<Int64>]()
      for id in ids {
        let key = OverlayKey.object(try planner.index.shown(id))
        edits[id] = Set(try planner.index.edits(on: key, onlyWrites: true))
      }
      return edits
    }
  }

  /// Whether an unsent edit changes a text of an object.
  package func editsText(_ id: ObjectID, _ property: PropertyNumber) throws -> Bool {
    try read { _, _, planner in try planner.index.editsText(planner.index.shown(id), property) }
  }

  // MARK: - Reading

  /// Performs a fetch over the visible graph.
  /// - Parameter token: the state that the result names.
  package func answer(
    _ request: FetchRequest, at token: Token, while isWanted: () -> Bool,
    _ body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion {
    try request.check(in: layout.model)
    return try read { objects, history, planner in
      let shadowed = try planner.tables.shadowed(listsObjects: FetchExecution.searchesText(request))
      let run = try FetchExecution(request, objects, history, past: shadowed)
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _, _ in } : run.run(body) }
      guard request.explains else { return try run.completion(at: token) }
      return FetchCompletion(at: token, count: 0, explanation: try run.explanation(nanoseconds: 0))
    }
  }

  /// Passes all visible objects to `body`, by entity number and id.
  package func export(begin: (Int) throws -> Void, body: (ObjectImage) throws -> Void) throws {
    try read { objects, _, _ in try GraphExporter(objects: objects).export(begin: begin, body: body) }
  }

  /// The effects of the newest edit on live queries over key paths.
  package func effects(of changes: [ObjectChange], on related: PathQueryMatcher) throws -> PathQueryEffects {
    try read { objects, _, _ in
      let effects = related.effects(of: changes, in: objects)
      if let failure = objects.takeFailure() { throw failure }
      return effects
    }
  }

  /// An object as the user sees it; nil if there is none.
  package func image(of id: ObjectID) throws -> ObjectImage? {
    try read { objects, _, planner in try objects.readImage(of: planner.index.shown(id)) }
  }

  /// The steps that an undo and a redo would apply to among the server's newest commits.
  /// - Parameters:
  ///   - author: the shown name of the user.
  ///   - reach: the number of commits that are looked through.
  ///   - excluded: steps whose undo is waiting.
  package func committedSteps(
    of author: String, scope: UniqueID?, reach: Int64, excluding excluded: Set<Revision>
  ) throws -> UndoState {
    try read { _, history, _ in
      let oldest = try history.objects.connection.integer(
        "SELECT revision FROM _commit ORDER BY revision DESC LIMIT 1 OFFSET ?", .integer(reach))
      var floor: Revision = if let oldest { oldest } else { 0 }
      // An earlier step is not the newest one of the user.
      if let reduced = try KeptScopes.newestReduced(of: author, history.objects.connection) {
        floor = max(floor, reduced)
      }
      let stacks = UndoStacks(history: history)
      let next = try stacks.next(of: author, scope: scope, excluding: excluded)
      func described(_ step: UndoStacks.Step?) throws -> UndoStep? {
        guard let step, step.latest > floor else { return nil }
        let revisions = try stacks.revisions(of: step)
        let first = try invariant(revisions.first, "a step has a commit")
        return UndoStep(group: step.group, oldest: first, newest: step.revision, count: revisions.count)
      }
      return UndoState(undo: try described(next.undo), redo: try described(next.redo))
    }
  }

  /// Runs a read over the visible graph. Plans are brought up to date first, in a transaction of their own.
  private func read<Result>(
    _ body: (ObjectReader, HistoryReader, OverlayPlanner) throws -> Result
  ) throws -> Result {
    for _ in 0..<Self.attempts {
      let result: Result? = try transaction(writes: false) { connection in
        let planner = try planner(connection)
        guard try planner.isCurrent() else { return nil }
        try planner.tables.show()
        let objects = ObjectReader(connection, layout: layout)
        return try body(objects, HistoryReader(objects: objects), planner)
      }
      if let result { return result }
      try refresh()
    }
    throw Self.busy
  }

  /// Runs `body` in a transaction. If it throws, a writing one is rolled back, with its views.
  private func transaction<Result>(writes: Bool, _ body: (Connection) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    do {
      try queue.inDatabase { database in
        let before = (views.names, views.isUnknown)
        try database.inTransaction(.deferred) {
          let connection = Connection(database, statements: statements)
          result = Swift.Result {
            // The lock on the plans comes first, so that their newest state is read. The mirror is only read.
            if writes { try connection.run("UPDATE overlay._stamp SET writes = writes + 1 WHERE id = 1") }
            return try body(connection)
          }
          guard case .failure(let error) = result else { return .commit }
          if writes { (views.names, views.isUnknown) = before } else if !(error is Refusal) { views.isUnknown = true }
          return writes ? .rollback : .commit
        }
      }
    } catch let error as DatabaseError {
      queue.inDatabase { _ in views.isUnknown = true }
      throw MirrorStore.failure(error, queue.path)
    }
    return try invariant(result, "a transaction has a result or an error").get()
  }

  /// Closes the connection. Call it when no read is running.
  package func close() {
    queue.inDatabase { _ in statements = StatementCache() }
    try? queue.close()
  }
}

extension Transaction {
  /// The transaction with other ids for some objects.
  package func renaming(_ ids: [ObjectID: ObjectID]) -> Transaction {
    if ids.isEmpty { return self }
    var transaction = self
    for index in transaction.changes.indices { transaction.changes[index].rename(ids) }
    return transaction
  }
}

extension Change {
  /// Replaces ids of objects.
  mutating func rename(_ ids: [ObjectID: ObjectID]) {
    func renamed(_ id: ObjectID) -> ObjectID { ids[id] ?? id }
    id = renamed(id)
    for index in edits.indices {
      switch edits[index].action {
      case .set(.object(let id)): edits[index].action = .set(.object(renamed(id)))
      case .set(.objects(let ids)): edits[index].action = .set(.objects(ids.map(renamed)))
      case .members(let added, let removed):
        edits[index].action = .members(added: added.map(renamed), removed: removed.map(renamed))
      case .place(let objects, let anchor):
        edits[index].action = .place(objects.map(renamed), after: anchor.map(renamed))
      case .set, .splice: break
      }
    }
  }
}
