// Tests: MirrorOverlayTests.swift, LongQueueTests.swift
import GRDBSQLite
import GraphModel

/// Keeps the plans of an overlay those of the mirror and the queue, inside one transaction of the overlay's file.
///
/// A commit of the server and a change of the queue concern the edits whose plans have read or changed the same objects
/// (`OverlayIndex`). Their objects are shown as the mirror has them, and these edits are planned again, in order; all
/// others commute with them and keep their plans.
struct OverlayPlanner {
  let connection: Connection
  let layout: StoreLayout
  let source: any UnsentEditSource
  /// The load of the mirror.
  let load: Int64
  let tables: OverlayTables
  let index: OverlayIndex
  private(set) var stamp: OverlayStamp
  /// The number of plans that were made.
  private(set) var plans = 0
  /// The refusals of the newest plans, by edit; nil for an allowed one.
  private(set) var outcomes = [Int64: Refusal?]()
  /// The revision of the mirror below each revision of these plans.
  private(set) var bases = [Revision: Revision]()

  /// The numbers that are read at once.
  private static let page = 500
  /// The objects of commits up to which it is worth while to look for the concerned edits.
  private static let maximumTouched = 20_000
  /// The edits up to which those are planned one by one that a change concerns, even if they are most of them.
  private static let alwaysSelective = 200

  init(
    _ connection: Connection, layout: StoreLayout, source: any UnsentEditSource, load: Int64,
    views: OverlayTables.ShownViews
  ) throws {
    (self.connection, self.layout, self.source, self.load) = (connection, layout, source, load)
    stamp = try OverlayStamp.read(connection)
    tables = OverlayTables(connection, layout: layout, views: views, lowestRow: stamp.lowestRow)
    index = OverlayIndex(connection: connection)
  }

  private var history: HistoryReader { HistoryReader(objects: ObjectReader(connection, layout: layout)) }

  /// Whether the plans are those of the present mirror and queue.
  func isCurrent() throws -> Bool {
    try isSameSource() && stamp.head == history.head().revision && stamp.change == source.newestChange()
  }

  private func isSameSource() throws -> Bool {
    try stamp.load == load && UTF8Comparison.equal(stamp.source, source.identity)
  }

  // MARK: - Following

  /// Plans what has changed, and what that concerns.
  mutating func refresh() throws {
    let head = try history.head().revision
    let newest = try source.newestChange()
    if try isSameSource(), stamp.head <= head, stamp.change <= newest,
      let changes = try source.changes(after: stamp.change), try follow(changes.map(\.number), head)
    {
      if let last = changes.last { stamp.change = last.change }
    } else {
      try rebuild()
      stamp.change = newest
    }
    (stamp.head, stamp.load, stamp.source) = (head, load, try source.identity)
    try save()
  }

  /// Writes the counters.
  /// - Parameter change: the newest change of the queue, if it was planned just now.
  mutating func save(change: Int64? = nil) throws {
    if let change { stamp.change = change }
    stamp.lowestRow = tables.lowestRow
    try stamp.write(connection)
  }

  /// Plans the changed edits of the queue, and those that they or the commits since concern.
  /// - Returns: whether it did; false if all must be planned again.
  private mutating func follow(_ changed: [Int64], _ head: Revision) throws -> Bool {
    let count = try index.count()
    guard var concerned = try touched(head, count) else { return false }
    let last = try index.last()
    let changed = Set(changed)
    for number in changed {
      if try index.revision(of: number) != nil {
        concerned.insert(number)
      } else if number < last, let edit = try source.edit(number) {
        // It comes before edits that are planned already.
        for id in edit.transaction.changes.flatMap(\.namedObjects) {
          let shown = id.isTemporary ? edit.provisionalID(of: id) : try index.shown(id)
          concerned.formUnion(try index.edits(on: OverlayKey.object(shown)))
        }
      }
    }
    let again = try index.closure(of: concerned)
    if again.count > Self.alwaysSelective, again.count > Int(count) / 2 { return false }
    for number in again {
      for key in try index.writes(of: number) { try tables.restore(key) }
    }
    for number in again { try index.remove(number) }
    try tables.show()
    for number in again.union(changed).sorted() { try planShown(number) }
    return true
  }

  /// The planned edits that commits of the server since the stamp concern; nil if that can't be known.
  private func touched(_ head: Revision, _ count: Int64) throws -> Set<Int64>? {
    if count == 0 || head == stamp.head { return [] }
    // Rows of the mirror are read without the plans over it.
    try tables.hide()
    let history = history
    if try history.oldest() > stamp.head { return nil }
    var ids = Set<ObjectID>()
    try history.forEachCommitNewestFirst(after: stamp.head) { commit in
      for change in commit.changes { ids.insert(change.id) }
    }
    if ids.count > Self.maximumTouched { return nil }
    var concerned = Set<Int64>()
    for id in ids {
      concerned.formUnion(try index.edits(on: OverlayKey.object(id)))
      guard let image = try history.objects.readImage(of: id) else { continue }
      for key in OverlayKey.keys(of: image, layout.model) { concerned.formUnion(try index.edits(on: key)) }
    }
    return concerned
  }

  /// Plans the whole queue, a page at a time.
  private mutating func rebuild() throws {
    try tables.clear()
    try index.removeAll()
    var last: Int64 = 0
    var numbers = try source.numbers(after: last, limit: Self.page)
    while let newest = numbers.last {
      for number in numbers { try planShown(number) }
      last = newest
      numbers = try source.numbers(after: last, limit: Self.page)
    }
  }

  // MARK: - Planning

  /// Plans an edit of the queue if it is shown.
  private mutating func planShown(_ number: Int64) throws {
    if let edit = try source.edit(number), try !isInMirror(edit) { _ = try plan(edit) }
  }

  /// Whether the mirror has the commit of an edit that the queue still has. Both are shown for a moment, and until the
  /// next run if this one is killed: its splices would be applied twice.
  ///
  /// An edit that makes objects is shown nevertheless, because later edits name them by their provisional ids until it
  /// leaves the queue.
  func isInMirror(_ edit: UnsentEdit) throws -> Bool {
    if edit.transaction.changes.contains(where: { $0.kind == .insert }) { return false }
    let row = try connection.statement(
      "SELECT 1 FROM _commit WHERE replica = (SELECT number FROM _replica WHERE id = ?) AND sequence = ?")
    defer { sqlite3_reset(row.statement) }
    row.bind(1, edit.transaction.id.replica)
    row.bind(2, Int64(bitPattern: edit.transaction.id.sequence))
    return try connection.step(row)
  }

  /// Plans an edit over the mirror and the plans that there are.
  /// - Parameter floor: a revision that was shown already; its objects have a higher one.
  mutating func plan(_ edit: UnsentEdit, above floor: Revision = 0) throws -> PlannedEdit {
    plans += 1
    // Each edit makes a state of its own.
    stamp.revision = max(stamp.revision, floor) + 1
    var planned = PlannedEdit(
      number: edit.number, revision: stamp.revision, result: .failure(Self.notPlanned))
    bases[stamp.revision] = try history.head().revision
    let objects = ObjectReader(connection, layout: layout)
    let reader = OverlayPlanReader(
      objects, HistoryReader(objects: objects), tables, usedNumbers: edit.usedNumbers)
    do {
      let transaction = try self.transaction(of: edit, objects)
      let plan = try TransactionPlanner.plan(
        transaction, reader: reader, revision: planned.revision, now: edit.time, author: edit.planningAuthor,
        isUndo: edit.step != nil, identify: { edit.provisionalID(of: $0) })
      if edit.step != nil { try refuseEdited(plan.changes) }
      try tables.add(plan.changes, objects)
      for identity in plan.identities {
        let provisional = edit.provisionalID(of: identity.temporary)
        if provisional != identity.permanent { try index.merge(provisional, into: identity.permanent, edit.number) }
      }
      planned.result = .success(plan)
      outcomes[edit.number] = .some(nil)
    } catch let refusal as Refusal {
      planned.result = .failure(refusal)
      outcomes[edit.number] = refusal
    }
    let index = index
    try index.record(planned, reads: reader.reads, edit, layout.model) { id in
      try index.shown(id.isTemporary ? edit.provisionalID(of: id) : id)
    }
    return planned
  }

  private static let notPlanned = Refusal(.unavailable, "the edit has not been planned")

  /// The save in the ids that are shown.
  private func transaction(of edit: UnsentEdit, _ objects: ObjectReader) throws -> Transaction {
    if let step = edit.step { return try reversal(of: step, edit) }
    let moved = try edit.transaction(onto: stamp.revision - 1) { id, property in
      let text = try objects.readImage(of: index.shown(id)).flatMap { image in
        layout.model.property(property).flatMap { image[$0].stringValue }
      }
      return if let text { text } else { "" }
    }
    var merged = [ObjectID: ObjectID]()
    for id in moved.changes.flatMap(\.namedObjects) {
      let shown = try index.shown(id)
      if shown != id { merged[id] = shown }
    }
    return moved.renaming(merged)
  }

  /// The server reverses a step over the unsent edits, which it then has, and keeps their values.
  private func refuseEdited(_ changes: [ObjectChange]) throws {
    for change in changes where try tables.place(of: change.id) != nil {
      throw Refusal(
        .unavailable, "the undo needs the server, which can't be reached: an unsent edit has changed the same object")
    }
  }

  /// The reversal of a step that the server has committed, from the images that the mirror's history has.
  private func reversal(of step: UnsentEdit.CommittedStep, _ edit: UnsentEdit) throws -> Transaction {
    try tables.hide()
    let request = UndoRequest(edit.transaction.id, revision: step.revision, redo: step.redo)
    let planner = UndoPlanner(history: history, names: ShownNames())
    let reversal = Result { try planner.plan(request, author: Principal(id: edit.author, name: edit.author)) }
    try tables.show()
    return try reversal.get().transaction
  }
}
