// Tests: MirrorOverlayTests.swift
import GRDB
import GraphModel

import struct GraphModel.FetchRequest

/// Reads a mirror with unsent edits over it: the future over the present, as `PastReader` reads the past over it.
///
/// The rules engine plans the edits, in order, over the mirror and the edits before them, so inverses, delete rules and
/// validation hold without the server. The plans stay until a commit of the server changes an object that one of them
/// depends on.
///
/// `@unchecked Sendable`: all properties that change are accessed inside the queue only.
package final class MirrorOverlay: @unchecked Sendable {
  private let queue: DatabaseQueue
  private let layout: StoreLayout
  private let storeID: UniqueID
  private var statements = StatementCache()
  private var edits = [UnsentEdit]()
  private var shown: Shown?
  private var plans: Int = 0
  /// For each revision of an unsent edit that was shown, the oldest state of the mirror below it.
  private var bases = [Revision: Revision]()

  /// The state that the TEMP tables show.
  private struct Shown {
    var tables: OverlayTables
    /// The state of the mirror.
    var head: Revision
    var planned = [PlannedEdit]()
  }

  init(path: String, layout: StoreLayout, storeID: UniqueID) throws {
    (self.layout, self.storeID) = (layout, storeID)
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -8192")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      SQLFunctions.register(on: database)
    }
    queue = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// The number of plans that were made so far.
  package var countOfPlans: Int { queue.inDatabase { _ in plans } }

  /// The server's revision that a reader has seen with a revision of this overlay: the mirror's below an unsent edit, or
  /// the revision itself.
  package func base(of revision: Revision) -> Revision {
    queue.inDatabase { _ in bases[revision] ?? revision }
  }

  /// Records that a revision above a state of the mirror was shown.
  package func record(_ revision: Revision, over base: Revision) {
    queue.inDatabase { _ in bases[revision] = min(base, bases[revision, default: base]) }
  }

  // MARK: - Edits

  /// Replaces the unsent edits.
  /// - Returns: what each does to the graph.
  @discardableResult
  package func show(_ edits: [UnsentEdit]) throws -> [PlannedEdit] {
    queue.inDatabase { _ in
      self.edits = edits
      shown = nil
    }
    return try planned()
  }

  /// Adds an edit behind the others, unless the rules do not allow it.
  /// - Parameter floor: a revision that was shown already; its objects have a higher one.
  /// - Returns: what it does to the graph, or why it was not added.
  package func append(_ edit: UnsentEdit, above floor: Revision = 0) throws -> PlannedEdit {
    try inTransaction { connection in
      try refresh(connection)
      var shown = try invariant(self.shown, "an overlay that was refreshed is shown")
      let planned = try plan(edit, &shown, connection, above: floor)
      if case .failure = planned.result { return planned }
      edits.append(edit)
      self.shown = shown
      return planned
    }
  }

  /// Removes the newest edit, which was not made durable.
  package func removeLast() {
    queue.inDatabase { _ in
      _ = edits.popLast()
      shown = nil
    }
  }

  /// The plan of each edit over the mirror's present state.
  package func planned() throws -> [PlannedEdit] {
    try inTransaction { connection in
      try refresh(connection)
      return try invariant(shown, "an overlay that was refreshed is shown").planned
    }
  }

  /// Plans the edits, unless the plans are those of the mirror's present state.
  private func refresh(_ connection: Connection) throws {
    let objects = ObjectReader(connection, layout: layout)
    let history = HistoryReader(objects: objects)
    let head = try history.head().revision
    if var current = shown {
      if current.head == head { return }
      if try !isTouched(current, history) {
        current.head = head
        shown = current
        return
      }
    }
    shown = nil
    var fresh = Shown(tables: try OverlayTables(connection, layout: layout), head: head)
    for edit in edits { _ = try plan(edit, &fresh, connection) }
    shown = fresh
  }

  /// Whether a commit since has changed an object that a plan depends on.
  private func isTouched(_ shown: Shown, _ history: HistoryReader) throws -> Bool {
    if shown.planned.isEmpty { return false }
    if try history.oldest() > shown.head { return true }
    let depended = shown.planned.reduce(into: Set<ObjectID>()) { $0.formUnion($1.dependencies) }
    var isTouched = false
    try history.forEachCommitNewestFirst(after: shown.head) { commit in
      if commit.changes.contains(where: { depended.contains($0.id) }) { isTouched = true }
    }
    return isTouched
  }

  private func plan(
    _ edit: UnsentEdit, _ shown: inout Shown, _ connection: Connection, above floor: Revision = 0
  ) throws -> PlannedEdit {
    plans += 1
    let objects = ObjectReader(connection, layout: layout)
    let reader = OverlayPlanReader(
      objects, HistoryReader(objects: objects), shown.tables, usedNumbers: edit.usedNumbers)
    // Each edit makes a state of its own.
    let revision = max(shown.head + Int64(shown.planned.count), floor) + 1
    bases[revision] = min(shown.head, bases[revision, default: shown.head])
    var planned = PlannedEdit(
      number: edit.number, revision: revision, result: .failure(Self.notPlanned), dependencies: [])
    do {
      let moved = try edit.transaction(onto: revision - 1) { id, property in
        let text = try objects.readImage(of: shown.tables.merged[id] ?? id).flatMap { image in
          layout.model.property(property).flatMap { image[$0].stringValue }
        }
        return if let text { text } else { "" }
      }
      let transaction = moved.renaming(shown.tables.merged)
      let plan = try TransactionPlanner.plan(
        transaction, reader: reader, revision: revision, now: edit.time, author: edit.author,
        identify: { edit.provisionalID(of: $0) })
      try shown.tables.add(plan.changes, objects)
      for identity in plan.identities {
        let provisional = edit.provisionalID(of: identity.temporary)
        if provisional != identity.permanent { shown.tables.merged[provisional] = identity.permanent }
      }
      planned.result = .success(plan)
      planned.dependencies = Set(plan.changes.map(\.id))
    } catch let refusal as Refusal {
      planned.result = .failure(refusal)
    }
    planned.dependencies.formUnion(reader.dependencies)
    shown.planned.append(planned)
    return planned
  }

  private static let notPlanned = Refusal(.unavailable, "the edit has not been planned")

  // MARK: - Reading

  /// Performs a fetch over the visible graph.
  /// - Parameter token: the state that the result names.
  package func answer(
    _ request: FetchRequest, at token: Token, while isWanted: () -> Bool, _ body: (FetchElement) throws -> Void
  ) throws -> FetchCompletion {
    try request.check(in: layout.model)
    return try read { objects, history, shadowed in
      let run = try FetchExecution(request, objects, history, past: shadowed)
      try objects.connection.run(while: isWanted) { try request.explains ? run.run { _ in } : run.run(body) }
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
    try read { objects, _, _ in try objects.readImage(of: self.shown?.tables.merged[id] ?? id) }
  }

  /// Runs a read over the visible graph.
  private func read<Result>(
    _ body: (ObjectReader, HistoryReader, ShadowedTables?) throws -> Result
  ) throws -> Result {
    try inTransaction { connection in
      try refresh(connection)
      let objects = ObjectReader(connection, layout: layout)
      return try body(objects, HistoryReader(objects: objects), shown?.tables.shadowed)
    }
  }

  /// Runs `body` in a read transaction. The TEMP tables stay valid even if the read fails, unless SQLite itself does.
  private func inTransaction<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    do {
      try queue.inDatabase { database in
        try database.inTransaction(.deferred) {
          let connection = Connection(database, statements: statements)
          result = Swift.Result { try body(connection) }
          if case .failure(let error) = result, !(error is Refusal) { shown = nil }
          return .commit
        }
      }
    } catch let error as DatabaseError {
      queue.inDatabase { _ in shown = nil }
      throw SQLiteFailure.of(error, path: queue.path)
    }
    return try invariant(result, "a read has a result or an error").get()
  }

  /// Closes the connection. Call it when no read is running.
  package func close() {
    queue.inDatabase { _ in
      shown = nil
      statements = StatementCache()
    }
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
