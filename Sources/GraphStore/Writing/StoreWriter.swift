// Tests: CommitTests.swift, StoreInvariantTests.swift
import GRDBSQLite
import GraphModel
import Logging

/// The single writer: plans each transaction against the present graph, then writes rows and history. Used only
/// inside the pool's writer queue.
final class StoreWriter {
  let connection: Connection
  let objects: ObjectReader
  let history: HistoryReader
  let fullText: FullTextIndexer
  let layout: StoreLayout
  /// The number of objects in a slice of a batch.
  let sliceObjects: Int
  let keyframes: KeyframePolicy
  private let undoLimits: UndoLimits
  let reporter: StoreReporter
  let names: ShownNames
  /// Returns the random half of a new id.
  private let random: () -> UInt64

  private(set) var revision: Revision
  private(set) var fingerprint: UInt64
  private var lastTime: Timestamp
  var lastIDHigh: UInt64
  /// A batch changes this in progress; `reload` restores the committed values.
  var sequences: [PropertyNumber: Int64]
  let modelNumber: Int64
  private var interned = InternTable()
  let lastWriters = LastWriterTracker()
  /// The buffer for encoding images for their checksums.
  var scratch = BinaryWriter(capacity: 1_024)
  let updates = UpdateTexts()
  /// The judges of recent requests, by the rights of their principals.
  var judges = [Rights: AccessJudge]()
  /// Whether history has a floor, so that a transaction that is not found may have been pruned.
  var isPruned: Bool
  /// Receives the entry of each commit, and of each part of a batch, after its rows are written. Nil for a store
  /// without a log and without followers.
  var emit: ((LogEntry) throws -> Void)?
  /// Test only.
  var hooks = StoreHooks()

  init(
    _ connection: Connection, layout: StoreLayout, wordLimit: Int, sliceObjects: Int, keyframeInterval: Int,
    undoLimits: UndoLimits, reporter: StoreReporter, names: ShownNames, random: @escaping () -> UInt64
  ) throws {
    self.connection = connection
    self.layout = layout
    self.sliceObjects = sliceObjects
    keyframes = KeyframePolicy(interval: keyframeInterval)
    self.undoLimits = undoLimits
    self.reporter = reporter
    self.names = names
    self.random = random
    objects = ObjectReader(
      connection, layout: layout, damage: reporter.damage, older: UnmigratedRows(connection, EarlierVersions(layout)))
    history = HistoryReader(objects: objects)
    fullText = FullTextIndexer(connection, layout: layout, limit: wordLimit)
    isPruned = try HistoryFloor.tableExists(connection)
    let head = try StoredHead(connection, layout)
    (revision, fingerprint, lastTime, sequences) = (head.revision, head.fingerprint, head.time, head.sequences)
    // Ids must rise even if the clock went back. A commit's first id has the time in microseconds, shifted by 8 bits,
    // as its high half, or follows the last id if that is higher. As long as the clock does not go back, the present
    // time is above all ids. After a setback ids rise above the times of all commits, so the highest one is read from
    // the tables.
    lastIDHigh = UInt64(max(0, lastTime)) << 8
    if let latest = try ClockSetbacks.latest(connection) {
      lastIDHigh = max(lastIDHigh, UInt64(max(0, latest)) << 8, try Self.highestID(layout, connection))
    }
    modelNumber = try invariant(
      connection.integer("SELECT number FROM _model WHERE hash = ?", .data(layout.model.hash.bytes)),
      "the store that was opened has the model that it serves")
    try names.load(connection)
    try fullText.reload(unverified)
  }

  // MARK: - Requests

  /// Performs one request inside the open transaction. A refused request has written nothing, except for a batch.
  /// - Parameter related: the live queries whose effects the record includes.
  func execute(
    _ request: WriteRequest, now: Timestamp, related: PathQueryMatcher
  ) throws -> WriteResult {
    var known = try knownOutcome(of: request)
    if let replace = hooks.earlierOutcome { known = replace(known) }
    if let known { return WriteResult(outcome: known, record: nil) }
    // The clock's time, even if it is before that of the last commit: revisions determine the order.
    let time = now
    do {
      switch request {
      case .transaction(let transaction, let author, let rights):
        return try commitTransaction(
          CommitJob(transaction: transaction, author: author, judge: judge(for: rights)), time: time, related: related)
      case .undo(let request, let author, let rights):
        let judge = judge(for: rights)
        let undo = try visible(to: judge) {
          try UndoPlanner(history: history, names: names, limits: undoLimits, judge: judge)
            .plan(request, author: author)
        }
        let job = CommitJob(
          transaction: undo.transaction, author: author, judge: judge, undoes: undo.undoes, redoes: undo.redoes,
          skipped: try visible(undo.skipped, to: judge))
        return try commitTransaction(job, time: time, related: related)
      case .restore(let request, let author, let rights):
        let judge = judge(for: rights)
        try refuseInvisible(request, judge)
        let restore = try visible(to: judge) { try RestorePlanner(history: history, judge: judge).plan(request) }
        let job = CommitJob(
          transaction: restore.transaction, author: author, judge: judge, isRestore: true,
          skipped: try visible(restore.skipped, to: judge))
        return try commitTransaction(job, time: time, related: related)
      case .batch(let job):
        let batch = BatchWriter(self, job, time: time)
        return try batch.execute(related: related)
      }
    } catch let refusal as Refusal {
      return WriteResult(outcome: .refused(refusal), record: nil)
    }
  }

  /// Plans and writes a complete transaction.
  func commitTransaction(
    _ job: CommitJob, time: Timestamp, related: PathQueryMatcher
  ) throws -> WriteResult {
    try invariant(!job.author.id.isEmpty, "a commit has an author")
    try invariant(job.undoes == nil || !job.isRestore, "a restore undoes no commit")
    try invariant(job.redoes == nil || job.undoes != nil, "a redo undoes an undo")
    var ids = newIDs(time: time)
    objects.beginTrail()
    defer { objects.endTrail() }
    var plan = try TransactionPlanner.plan(
      job.transaction, reader: PlanReader(writer: self), revision: revision + 1, now: time, author: job.author.id,
      judge: job.judge, isUndo: job.undoes != nil || job.isRestore
    ) { ids.next($0) }
    // All differences may be values that can't be restored.
    if job.isRestore, plan.changes.isEmpty { throw RestorePlanner.nothing(besides: job.skipped) }
    if let undoes = job.undoes, plan.changes.isEmpty, !(plan.conflicts + job.skipped).isEmpty {
      throw UndoPlanner.nothing(
        of: job.redoes ?? undoes, isRedo: job.redoes != nil, plan.conflicts + job.skipped)
    }
    if job.isBatch, plan.changes.isEmpty { return unchanged(plan.identities, plan.conflicts) }
    if plan.changes.isEmpty, let judge = job.judge { try judge.refuseEmptyCommit() }
    try hooks.alterPlan?(&plan, layout.model)
    var result = try writeTransaction(plan, job, time: time)
    lastIDHigh = ids.high
    if !related.isEmpty, var record = result.record {
      record.related = try effects(of: plan.changes, on: related)
      result.record = record
    }
    if related.recordsReferences, var record = result.record {
      record.referenced = try referenced(by: plan.changes)
      result.record = record
    }
    return result
  }

  /// The unchanged objects to which changed ones refer, before or after the commit, without those that each class
  /// judges by their ids.
  private func referenced(by changes: [ObjectChange]) throws -> [ObjectImage] {
    var seen = Set(changes.map(\.id))
    var images = [ObjectImage]()
    for image in changes.flatMap({ [$0.before, $0.after] }).compactMap({ $0 }) {
      for id in image.values.flatMap(\.objectIDs)
      where layout.model.decidesSightByValues(id.entity) && seen.insert(id).inserted {
        // A damaged object is judged as it is: it must not refuse the commit.
        if let found = try objects.withoutVerification({ try objects.readImage(of: id) }) { images.append(found) }
      }
    }
    return images
  }

  /// Computes the effects after the rows are written, so it reads the state that this commit creates.
  private func effects(of changes: [ObjectChange], on related: PathQueryMatcher) throws -> PathQueryEffects {
    // This commit's rows are written, so damage of another object must not refuse it.
    var effects = objects.withoutVerification { related.effects(of: changes, in: objects) }
    if let failure = objects.takeFailure() { throw failure }
    // A damaged object that only now matches is omitted, as a fetch omits it.
    let written = Set(changes.map(\.id))
    for index in effects.effects.indices {
      try effects.effects[index].changes.removeAll { change in
        guard case .inserted(let image) = change, !written.contains(image.id) else { return false }
        return try objects.unlessDamaged { try objects.readImage(of: image.id) } == nil
      }
    }
    return effects
  }

  /// A transaction to commit, with its author and the commit that it undoes.
  struct CommitJob {
    var transaction: Transaction
    var author: Principal
    /// Decides what the author may see and change; nil for everything.
    var judge: AccessJudge?
    var undoes: Revision?
    var redoes: Revision?
    /// Whether the write restores a past state, which is not an undo.
    var isRestore = false
    /// Whether the write is a batch, selected by a predicate or given as rows. A batch without changes makes no commit.
    var isBatch = false
    /// The conflicts of an undo or a restore.
    var skipped = [Conflict]()
  }

  /// New ids, which rise with time and are never reused.
  struct IDGenerator {
    fileprivate(set) var high: UInt64
    fileprivate let random: () -> UInt64

    mutating func next(_ entity: EntityNumber) -> ObjectID {
      defer { high += 1 }
      return ObjectID(key: UniqueID(high: high, low: random()), entity: entity)
    }
  }

  func newIDs(time: Timestamp) -> IDGenerator { IDGenerator(high: firstIDHigh(time: time), random: random) }

  func firstIDHigh(time: Timestamp) -> UInt64 { max(lastIDHigh + 1, UInt64(max(0, time)) << 8) }

  /// The maximum size of a commit's changes in bytes, slightly below SQLite's limit for one value.
  static let maximumCommitSize = 512 << 20

  private func writeTransaction(_ plan: TransactionPlan, _ job: CommitJob, time: Timestamp) throws -> WriteResult {
    let (transaction, author) = (job.transaction, job.author)
    let next = revision + 1
    var counters = sequences
    try advance(&counters, plan.sequences)
    var size = 0
    var keyframeIndices = Set<Int>()
    // Encoded once, for the checksum and for the entry.
    var inserted = InsertedObjects()
    let sums = try sums(of: plan.changes, &size) { index, form in
      switch plan.changes[index].kind {
      case .inserted:
        if emit != nil, let image = plan.changes[index].after {
          inserted.append(layout.numbers.stored(image), form: form)
        }
      case .updated:
        if keyframes.isDue(plan.changes[index].id, in: next, bytes: form.count) { keyframeIndices.insert(index) }
      case .deleted: break
      }
    }
    var deletions = [ObjectID: Revision]()
    let revived = transaction.changes.indices.filter { transaction.changes[$0].kind == .revive }
    for id in revived.map({ transaction.changes[$0].id }) { deletions[id] = try history.deletion(of: id)?.revision }
    let changes = try HistoryChange.encode(
      plan.changes, sums: sums, layout: layout, deletions: deletions, keyframes: keyframeIndices,
      lastWrites: lastWriters.lastWrites(of: plan.changes, at: next))
    guard changes.count <= Self.maximumCommitSize else {
      throw Refusal(
        .limit, "the commit has \(changes.count) bytes; at most \(Self.maximumCommitSize) are allowed: split it")
    }
    let outcome = CommitResult(
      revision: next, fingerprint: 0, identities: plan.identities, conflicts: plan.conflicts + job.skipped)
    try RowWriter(
      objects: objects, fullText: fullText, changes: plan.changes, sums: sums, revision: next, updates: updates,
      hasRevivals: !revived.isEmpty
    ).write()
    var commit = try writeCommit(
      next, transaction, author: author, undoes: job.undoes, time: time, changes: changes, counters: counters,
      outcome: outcome)
    for place in keyframeIndices.sorted() { try keyframes.write(plan.changes[place].id, in: next, connection) }
    try OverwrittenValues(connection: connection, numbers: layout.numbers).record(outcome.conflicts, of: next)
    fullText.recordCommit(changes: plan.changes.count, size: size)
    lastWriters.remember()
    advanceHead(to: next, commit.fingerprint, time: time)
    sequences = counters
    if let emit {
      commit.inserted = inserted
      try emit(.commit(commit))
    }
    var committed = outcome
    committed.fingerprint = commit.fingerprint
    let record = CommitRecord(
      revision: next, time: time, author: author.id, transaction: transaction.id, fingerprint: commit.fingerprint,
      undo: transaction.undo, undoes: job.undoes, redoes: job.redoes, changes: plan.changes)
    return WriteResult(outcome: .committed(committed), record: record)
  }

  /// Sets the next numbers of the sequences that a plan has used. A sequence never gives a number again.
  func advance(
    _ counters: inout [PropertyNumber: Int64], _ sequences: [(property: PropertyNumber, next: Int64)]
  ) throws {
    for (property, next) in sequences {
      try invariant(next > counters[property, default: 1], "the next number of a sequence rises")
      counters[property] = next
    }
  }

  /// Advances the state after the commit's row is written.
  func advanceHead(to next: Revision, _ print: UInt64, time: Timestamp) {
    assert(next == revision + 1)
    revision = next
    fingerprint = print
    lastTime = time
  }

  /// Advances the state of a mirror, which does not have every revision of its server.
  func skipHead(to next: Revision, _ print: UInt64, time: Timestamp) {
    assert(next > revision)
    (revision, fingerprint, lastTime) = (next, print, time)
  }

  /// The result of a batch without changes, which makes no commit: the present state of the store. Like a refusal it
  /// is not recorded, so a repeated request is processed again.
  func unchanged(_ identities: [CommitResult.IDAssignment] = [], _ conflicts: [Conflict] = []) -> WriteResult {
    let committed = CommitResult(
      revision: revision, fingerprint: fingerprint, identities: identities, conflicts: conflicts)
    return WriteResult(outcome: .committed(committed), record: nil)
  }

  /// Writes the commit row of a batch after its rows and parts.
  /// - Parameters:
  ///   - changes: the summary of the parts; empty for an imported graph without objects.
  ///   - conflicts: the conflicts that the policy decided.
  func writeBatch(
    _ batch: Batch, author: Principal, time: Timestamp, changes: CommitPartSummary, conflicts: [Conflict],
    ids: IDGenerator
  ) throws -> WriteResult {
    let next = revision + 1
    var outcome = CommitResult(revision: next, fingerprint: 0, identities: [], conflicts: conflicts)
    let transaction = Transaction(id: batch.id, policy: batch.policy, changes: [])
    let commit = try writeCommit(
      next, transaction, author: author, undoes: nil, time: time, changes: changes.count == 0 ? [] : changes.bytes,
      counters: sequences, outcome: outcome)
    outcome.fingerprint = commit.fingerprint
    try emit?(.commit(commit))
    advanceHead(to: next, outcome.fingerprint, time: time)
    lastIDHigh = ids.high
    let record = CommitRecord(
      revision: next, time: time, author: author.id, transaction: batch.id, fingerprint: outcome.fingerprint,
      changes: [],
      summary: changes.count == 0 ? nil : changes.summary(layout.numbers))
    return WriteResult(outcome: .committed(outcome), record: record)
  }

  private static let insertCommit = SQL(
    """
    INSERT INTO _commit (revision, time, author, replica, sequence, model, fingerprint, undoes, undo, outcome, \
    counters, changes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """)

  private func writeCommit(
    _ next: Revision, _ transaction: Transaction, author: Principal, undoes: Revision?, time: Timestamp,
    changes: [UInt8], counters: [PropertyNumber: Int64], outcome: CommitResult
  ) throws -> LogEntry.Commit {
    try invariant(next == revision + 1, "a commit follows the newest one")
    try invariant(outcome.revision == next, "the outcome of a commit has its revision")
    if let undoes { try invariant(undoes >= 1 && undoes < next, "a commit undoes an earlier one") }
    try invariant(
      outcome.identities.allSatisfy { $0.temporary.isTemporary && !$0.permanent.isTemporary },
      "an insert turns a temporary id into a permanent one")
    let isPlain = outcome.identities.isEmpty && outcome.conflicts.isEmpty
    var row = CommitRow(
      revision: next, time: time, author: author.id, transaction: transaction.id, model: modelNumber, undoes: undoes,
      outcome: isPlain ? [] : layout.numbers.stored(outcome).binary,
      counters: SequenceCounters.encode(counters, layout.numbers), changes: changes)
    if let undo = transaction.undo { row.undo = undo.binary }
    var commit = LogEntry.Commit(row: row, fingerprint: row.fingerprint(after: fingerprint))
    if author.name != author.id { commit.authorName = author.name }
    try insert(commit)
    return commit
  }

  /// Writes the row of a commit, and its consequences: new names, and whether the clock went back.
  func insert(_ entry: LogEntry.Commit) throws {
    let (commit, fingerprint) = (entry.row, entry.fingerprint)
    let author = try interned.number(ofAuthor: commit.author, name: entry.authorName, names, connection)
    let replica = try interned.number(of: commit.transaction, isPruned: isPruned, connection)
    let row = try connection.statement(Self.insertCommit)
    row.bind(1, commit.revision)
    row.bind(2, commit.time)
    row.bind(3, author)
    row.bind(4, replica)
    row.bind(5, Int64(bitPattern: commit.transaction.sequence))
    row.bind(6, commit.model)
    row.bind(7, Int64(bitPattern: fingerprint))
    if let undoes = commit.undoes { row.bind(8, undoes) } else { row.bindNull(8) }
    if commit.undo.isEmpty { row.bindNull(9) } else { row.bind(9, commit.undo) }
    if commit.outcome.isEmpty { row.bindNull(10) } else { row.bind(10, commit.outcome) }
    row.bind(11, commit.counters)
    try row.bind(12, inPlace: commit.changes) { try connection.run(row) }
    if revision > 0, commit.time < lastTime {
      try ClockSetbacks.record(commit.revision, time: commit.time, previous: lastTime, connection)
      reporter.log.warning(
        "the clock went back: this commit has an earlier time than the one before it",
        metadata: [
          "revision": "\(commit.revision)", "time": "\(RFC3339.text(commit.time))",
          "before": "\(RFC3339.text(lastTime))",
        ])
    }
  }

  /// The images of the inserted objects, for the entry of a part.
  func insertedImages(of changes: [ObjectChange]) -> [ObjectImage] {
    changes.compactMap { $0.kind == .inserted ? $0.after : nil }.map { layout.numbers.stored($0) }
  }

  // MARK: - Outcomes

  /// Returns the outcome of a transaction that was committed before; nil for a new one.
  func earlierOutcome(of id: TransactionID) throws -> Outcome? {
    if interned.isNew(id) { return nil }
    // An unknown replica has committed nothing.
    let row = try connection.statement(
      """
      SELECT revision, fingerprint, outcome FROM _commit
      WHERE replica = (SELECT number FROM _replica WHERE id = ?) AND sequence = ?
      """)
    row.bind(1, id.replica)
    row.bind(2, Int64(bitPattern: id.sequence))
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return try prunedOutcome(of: id) }
    var committed = CommitResult(revision: row.integer(0), fingerprint: 0, identities: [], conflicts: [])
    if !row.isNull(2) { committed = layout.numbers.present(try CommitResult(binary: row.blob(2))) }
    committed.fingerprint = UInt64(bitPattern: row.integer(1))
    return .committed(committed)
  }

  /// A reader without verification for the reload of the full-text indexes. Damage must not make a start fail.
  private var unverified: HistoryReader { HistoryReader(objects: ObjectReader(connection, layout: layout)) }

  /// Reloads the writer's state after a rollback, which invalidates everything cached from the transaction.
  func reload() throws {
    objects.forgetAll()
    history.forgetRecent()
    lastWriters.forgetAll()
    interned = InternTable()
    isPruned = try HistoryFloor.tableExists(connection)
    let head = try StoredHead(connection, layout)
    (revision, fingerprint, lastTime, sequences) = (head.revision, head.fingerprint, head.time, head.sequences)
    try names.load(connection)
    try fullText.reload(unverified)
  }
}
