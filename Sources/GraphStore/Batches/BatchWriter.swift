// Tests: BatchTests.swift, BatchHistoryTests.swift
import GRDB
import GRDBSQLite
import GraphModel

import struct GraphModel.FetchRequest

/// Writes one batch inside the open transaction.
///
/// The batch is planned and written in slices by the rules engine of ordinary transactions; each slice's history is a
/// row of `_part`. Besides one slice, memory holds one bit per object. A batch may be refused after some slices have
/// been written; then the caller rolls back.
final class BatchWriter {
  let writer: StoreWriter
  let job: BatchJob
  let time: Timestamp
  /// Decides what the principal may see and change; nil for everything.
  let judge: AccessJudge?
  /// The revision of the commit.
  let revision: Revision
  var ids: StoreWriter.IDGenerator
  private(set) var parts = CommitPartSummary()
  /// The changes in the parts that the principal may count.
  private var visibleChanges = 0
  private var entities = Set<EntityNumber>()
  /// The violations of refused slices: planning continues to find more, writing stops.
  private(set) var violations = [Violation]()
  private var conflicts = [Conflict]()
  /// The first refusal of a slice by a conflict, which the policy does not decide.
  private var firstConflict: Refusal?
  /// The conflicts with the deletes of objects to which slices refer; the policy has dropped these references.
  private var deletedTargets = [Conflict]()
  private var knownDeletedTargets = Set<ObjectID>()

  init(_ writer: StoreWriter, _ job: BatchJob, time: Timestamp) {
    self.writer = writer
    self.job = job
    self.time = time
    judge = writer.judge(for: job.rights)
    revision = writer.revision + 1
    ids = writer.newIDs(time: time)
  }

  var batch: Batch { job.batch }
  var model: Model { writer.layout.model }
  var connection: Connection { writer.connection }

  func execute(related: PathQueryMatcher) throws -> WriteResult {
    try batch.check(in: model)
    try invariant(!job.author.id.isEmpty, "a batch has an author")
    try checkAccess()
    writer.objects.underway = revision
    defer { writer.objects.underway = nil }
    if case .restore(let rows) = batch.operation {
      try restore(rows)
      return try finish()
    }
    guard let entity = model.entity(batch.entity), let table = writer.layout.table(of: batch.entity) else {
      throw Refusal(.malformed, "there is no entity number \(batch.entity)")
    }
    let whole: Transaction? =
      switch batch.operation {
      case .update(let predicate, let assignments): try update(predicate, assignments, entity, table)
      case .delete(let predicate): try delete(predicate, entity, table)
      case .insert(let properties, let rows): try insert(properties, rows, entity)
      case .restore: nil
      }
    if let whole {
      let result = try writer.commitTransaction(
        .init(transaction: whole, author: job.author, judge: judge, isBatch: true), time: time, related: related)
      // A batch that changes nothing makes no commit.
      let changed = if let record = result.record { visibleCount(of: record.changes) } else { 0 }
      try report(done: whole.changes.count, of: whole.changes.count, changed: changed)
      return result
    }
    try refuseIfViolated()
    return parts.count == 0 ? writer.unchanged([], deletedTargets) : try finish()
  }

  private func finish() throws -> WriteResult {
    try refuseIfViolated()
    try invariant(revision == writer.revision + 1, "no other commit is made during a batch")
    try writer.fullText.endBatch(head: revision)
    parts.entities = entities.map { writer.layout.numbers.stored(entity: $0) }.sorted()
    return try writer.writeBatch(
      batch, author: job.author, time: time, changes: parts, conflicts: deletedTargets, ids: ids)
  }

  // MARK: - Slices

  /// Returns a small batch as an ordinary transaction.
  func transaction(_ changes: [Change]) -> Transaction {
    // By default, a row is refused if its unique key exists or if it refers to a deleted object. No other conflict is
    // possible, because a batch is based on no state.
    Transaction(id: batch.id, policy: batch.policy, changes: changes)
  }

  /// Reads the objects in the given rows, one slice at a time.
  func forEachSlice(of rows: RowSet, in table: EntityTable, _ body: ([ObjectImage]) throws -> Void) throws {
    let select = table.selectWithSum + " WHERE t._row = ?"
    var images = [ObjectImage]()
    var size = 0
    for row in rows {
      let statement = try connection.statement(select)
      statement.bind(1, row)
      guard try connection.step(statement) else { throw RowWriter.missing }
      let image = try writer.objects.verifiedImage(statement, in: table)
      sqlite3_reset(statement.statement)
      writer.objects.remember(image.id, row: row)
      images.append(image)
      size += image.approximateSize
      guard images.count >= writer.sliceObjects || size >= Batch.sliceBytes else { continue }
      try body(images)
      images.removeAll(keepingCapacity: true)
      size = 0
    }
    if !images.isEmpty { try body(images) }
  }

  /// Plans a slice, and writes it unless an earlier slice was refused.
  /// - Parameter recounts: whether derived counts are recomputed without the objects that the batch deletes.
  func write(
    slice changes: [Change], reader: any PlannerReader, deferredKeys: Set<PropertyNumber> = [], recounts: Bool = false
  ) throws {
    let plan: TransactionPlan
    let mark = ids
    writer.objects.beginTrail()
    defer { writer.objects.endTrail() }
    do {
      plan = try TransactionPlanner.plan(
        transaction(changes), reader: reader, revision: revision, now: time, author: job.author.id, judge: judge,
        deferredKeys: deferredKeys, recounts: recounts, isSlice: true
      ) { ids.next($0) }
    } catch let refusal as Refusal where refusal.code == .conflict || !refusal.violations.isEmpty {
      ids = mark
      if refusal.code == .conflict, firstConflict == nil { firstConflict = refusal }
      return try collect(refusal.violations, refusal.conflicts)
    }
    try collect(deletedTargets: plan.conflicts)
    // After a refused slice the rest is only checked, so that one refusal names all violations.
    guard violations.isEmpty, firstConflict == nil, !plan.changes.isEmpty else { return }
    var size = 0
    let sums = try writer.sums(of: plan.changes, &size)
    try RowWriter(
      objects: writer.objects, fullText: writer.fullText, changes: plan.changes, sums: sums, revision: revision,
      updates: writer.updates, hasRevivals: false, deferredKeys: deferredKeys
    ).write()
    try writer.advance(&writer.sequences, plan.sequences)
    try writePart(plan.changes, sums: sums, size: size, deferredKeys: deferredKeys)
  }

  private static let insertPart = SQL(
    "INSERT INTO _part (revision, number, low, high, changes) VALUES (?, ?, ?, ?, ?)")

  /// Writes the row of a part.
  /// - Parameter changes: the encoded changes.
  static func insertPart(
    _ changes: [UInt8], number: Int, of revision: Revision, _ bounds: (low: UniqueID, high: UniqueID),
    _ connection: Connection
  ) throws {
    let row = try connection.statement(insertPart)
    row.bind(1, revision)
    row.bind(2, Int64(number))
    row.bind(3, bounds.low)
    row.bind(4, bounds.high)
    row.bind(5, changes)
    try connection.run(row)
  }

  /// Writes the history of a slice whose rows are written.
  func writePart(
    _ changes: [ObjectChange], sums: [UInt64], size: Int, deferredKeys: Set<PropertyNumber> = []
  ) throws {
    let bounds = try invariant(
      CommitPartSummary.bounds(changes.lazy.map(\.id)), "a part of a batch has at least one change")
    guard parts.changes + changes.count <= Batch.maximumObjects else { throw Self.tooMany }
    let bytes = try HistoryChange.encode(changes, sums: sums, layout: writer.layout, deletions: [:])
    parts.add(bytes, changes: changes.count, bounds: bounds)
    visibleChanges += visibleCount(of: changes)
    for change in changes { entities.insert(change.id.entity) }
    try Self.insertPart(bytes, number: parts.count, of: revision, bounds, connection)
    writer.fullText.recordCommit(changes: changes.count, size: size)
    try writer.fullText.updateInBatch()
    try writer.emit?(
      .part(
        LogEntry.Part(
          revision: revision, time: time, number: parts.count, changes: bytes,
          inserted: writer.insertedImages(of: changes),
          deferredKeys: deferredKeys.map { writer.layout.numbers.stored(property: $0) }.sorted())))
  }

  func report(done: Int, of total: Int, changed: Int? = nil) throws {
    // A delete that will be refused must not have counted objects that the principal does not see.
    if case .delete = batch.operation, done < total, judge?.seesEverything == false {
      return try job.progress(BatchProgress(done: 0, total: 0, changed: 0))
    }
    try job.progress(BatchProgress(done: done, total: total, changed: changed ?? visibleChanges))
  }

  // MARK: - Refusals

  static let tooMany = Refusal(.limit, "the batch touches more than \(Batch.maximumObjects) objects; split it")

  func collect(_ violations: [Violation], _ conflicts: [Conflict] = []) throws {
    self.violations += violations
    // Several slices may refer to the same deleted object.
    for conflict in conflicts where !self.conflicts.contains(conflict) { self.conflicts.append(conflict) }
    if max(self.violations.count, self.conflicts.count) >= Batch.maximumViolations { try refuseIfViolated() }
  }

  /// Keeps the conflicts with deletes for the outcome. Conflicts over unique keys are not kept: an insert of a million
  /// rows may become an update of as many objects.
  private func collect(deletedTargets conflicts: [Conflict]) throws {
    for conflict in conflicts where conflict.kind == .deleted && knownDeletedTargets.insert(conflict.id).inserted {
      deletedTargets.append(conflict)
    }
    if deletedTargets.count > Batch.maximumDeletedTargets {
      throw Refusal(
        .conflict,
        "the batch refers to more than \(Batch.maximumDeletedTargets) deleted objects; remove these references",
        conflicts: Array(deletedTargets.prefix(Batch.maximumViolations)))
    }
  }

  func refuseIfViolated() throws {
    if let firstConflict {
      throw Refusal(
        .conflict, firstConflict.message, conflicts: Array(conflicts.prefix(Batch.maximumViolations)),
        violations: Array(violations.prefix(Batch.maximumViolations)))
    }
    if violations.isEmpty { return }
    let refusal = Refusal(
      violations: Array(violations.prefix(Batch.maximumViolations)),
      conflicts: Array(conflicts.prefix(Batch.maximumViolations)))
    guard let judge else { throw refusal }
    throw try judge.withoutInvisible(refusal, reader: PlanReader(writer: writer))
  }

  // MARK: - Selection

  /// The statement that selects the matching objects, in the first form within SQLite's limits.
  private func selection(
    of predicate: GraphPredicate, _ entity: Entity, _ table: EntityTable, _ texts: UnindexedRows?
  ) throws -> (builder: PredicateSQL, text: String, query: Statement) {
    let isWholeTable = entity.family.count == table.root.family.count
    let families = writer.layout.numbers.family(of: entity)
    for form in PredicateSQL.TranslationLevel.allCases {
      var builder = PredicateSQL(layout: writer.layout, table: table, recentTexts: texts, form: form)
      let condition = builder.condition(predicate)
      let select = builder.isExact ? "SELECT t._row FROM \(quoted(table.name)) AS t" : table.select
      let text = select + " WHERE \(condition)" + (isWholeTable ? "" : " AND t._entity IN (\(families))")
      do {
        return (builder, text, try connection.makeStatement(text))
      } catch let refusal as Refusal where refusal.code == .limit {
        continue
      }
    }
    throw SQLLimit.refusal
  }

  /// Returns the rows of all objects that match before the batch. Other commits wait meanwhile, so the job may end the
  /// selection.
  func select(_ predicate: GraphPredicate, _ entity: Entity, _ table: EntityTable) throws -> RowSet {
    var rows = RowSet()
    var (found, refusal) = (0, Refusal?.none)
    do {
      try connection.run(while: {
        refusal = job.selectionRefusal(found)
        return refusal == nil
      }) {
        try forEachMatch(of: predicate, entity, table) { row in
          rows.insert(row)
          // Some of them may be invisible to the principal, so a refusal must not depend on them.
          if judge?.seesEverything != false { found = rows.count }
          guard rows.count <= Batch.maximumObjects else { throw Self.tooMany }
        }
      }
    } catch {
      // The store's error about an interrupted statement is not the reason.
      throw refusal ?? error
    }
    return rows
  }

  private func forEachMatch(
    of predicate: GraphPredicate, _ entity: Entity, _ table: EntityTable, _ body: (Int64) throws -> Void
  ) throws {
    // A separate reader, because it keeps the failures of the predicate's evaluation.
    let objects = ObjectReader(connection, layout: writer.layout)
    let texts = predicate.searchesText ? try UnindexedRows(HistoryReader(objects: objects)) : nil
    let (builder, text, query) = try selection(of: predicate, entity, table, texts)
    defer { withExtendedLifetime(query) {} }
    let row = Row(statement: query.sqliteStatement)
    for (index, value) in builder.arguments.enumerated() { row.bind(Int32(index + 1), value) }
    defer { sqlite3_reset(row.statement) }
    let evaluator = builder.isExact ? nil : PredicateEvaluator(predicate, model: model)
    while try connection.step(row) {
      if let evaluator {
        let matches = try evaluator.matches(objects.image(row, in: table), in: objects)
        Cancellation.addSteps(FetchExecution.evaluationSteps)
        try connection.checkInterruption()
        guard matches else { continue }
      }
      try body(row.integer(0))
    }
    if let failure = objects.failure { throw failure }
    let steps = Int(sqlite3_stmt_status(row.statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
    writer.reporter.scans.report(.batch, FetchRequest(entity: entity.number, predicate: predicate), steps: steps) {
      [try QueryPlan(text, connection)]
    }
  }
}
