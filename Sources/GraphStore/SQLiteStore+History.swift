// Tests: LargeLogTests.swift, FollowTests.swift, PrincipalTests.swift
import GRDB
import GraphModel

/// Reads of history, each in its own read transaction.
extension SQLiteStore {
  /// The number of commits in a followed part: the default, and the maximum. Then the limits of changes and bytes.
  static let followedCommits = (usual: 256, most: 1_000)
  static let followedChanges = 2_000
  static let followedBytes = 4 << 20
  /// The maximum number of commits examined for one part, whether they match or not.
  static let followedRows = 20_000
  /// The number of commits that are collected before their entries are built.
  private static let gatheredCommits = 256

  /// Whether history has commits of users with accounts. A server whose file of accounts is missing then lets no client
  /// of a network in.
  public var hasCommitsOfAccounts: Bool { names.haveAccounts }

  /// Passes the commits that a log requests to `body`.
  public func log(
    _ request: LogRequest, seenBy visibility: Visibility?, maximumChanges: Int, while isWanted: () -> Bool,
    _ body: (CommitRecord) throws -> Void
  ) throws -> AnswerCompletion {
    try request.filter.check(in: model)
    return try read { objects, history, head in
      // Only an explicit revision can be refused as pruned; otherwise the log covers the commits that exist.
      if request.after > 0, request.after < .max { try history.refusePrunedCommit(request.after + 1) }
      try history.refusePrunedCommit(request.through)
      let through = request.through > 0 ? min(request.through, head.revision) : head.revision
      let changes = if let changes = request.changes { Int(clamping: changes) } else { Int.max }
      // The number of changes that a class does not see must not become known.
      let filter = try LogFilter(
        request.filter, after: request.after, through: through, changes: visibility == nil ? changes : .max,
        omitsDamage: true, names: names, history: history,
        visible: visibility.map { VisibleHistory($0, history) })
      try objects.connection.run(while: isWanted) {
        if let visibility { return try pass(filter, request, seenBy: visibility, changes: changes, history, body) }
        let limit = request.limit == 0 ? Int.max : Int(clamping: request.limit)
        // Refuses before the expensive part of the read begins.
        guard try filter.count(limit, newestFirst: !request.oldestFirst, upTo: maximumChanges) <= maximumChanges else {
          throw Refusal(
            .limit,
            "the log would have more than \(maximumChanges) changes: ask for fewer commits, or for fewer changes of each"
          )
        }
        try pass(filter, request, history, body)
      }
      let damage = objects.damageFound.notice
      return AnswerCompletion(at: head, damage: visibility == nil ? damage : damage.withoutObjects)
    }
  }

  /// The number of commits that are examined together for a class. Some of them are not visible, so more may follow.
  private static let examinedCommits = 64

  private func pass(
    _ filter: LogFilter, _ request: LogRequest, seenBy visibility: Visibility, changes: Int, _ history: HistoryReader,
    _ body: (CommitRecord) throws -> Void
  ) throws {
    var missing = request.limit == 0 ? Int.max : Int(clamping: request.limit)
    var (gathered, size) = ([HistoryReader.Commit](), 0)
    let builder = LogEntryBuilder(history, omitsDamage: true, seenBy: visibility)
    func flush() throws {
      var records = [CommitRecord]()
      if request.oldestFirst {
        records = try self.records(of: gathered, seenBy: visibility, history)
      } else {
        try builder.build(gathered) { records.append($0) }
      }
      for var record in records.prefix(missing) {
        record.more = max(0, record.changes.count - changes)
        record.changes = Array(record.changes.prefix(changes))
        try body(names.shown(record))
      }
      missing -= min(missing, records.count)
      (gathered, size) = ([], 0)
    }
    try filter.forEach(newestFirst: !request.oldestFirst) { commit in
      gathered.append(commit)
      size += commit.changes.count
      if gathered.count == Self.examinedCommits || size >= LogEntryBuilder.gatheredChanges { try flush() }
      return missing > 0
    }
    if missing > 0 { try flush() }
  }

  private func pass(
    _ filter: LogFilter, _ request: LogRequest, _ history: HistoryReader, _ body: (CommitRecord) throws -> Void
  ) throws {
    var missing = request.limit == 0 ? Int.max : Int(clamping: request.limit)
    var (gathered, changes) = ([HistoryReader.Commit](), 0)
    let builder = LogEntryBuilder(history, omitsDamage: true)
    func flush() throws {
      if request.oldestFirst {
        for record in try records(of: gathered, history) { try body(names.shown(record)) }
      } else {
        try builder.build(gathered) { try body(names.shown($0)) }
      }
      (gathered, changes) = ([], 0)
    }
    try filter.forEach(newestFirst: !request.oldestFirst) { commit in
      gathered.append(commit)
      changes += commit.changes.count
      missing -= 1
      if gathered.count == Self.gatheredCommits || changes >= LogEntryBuilder.gatheredChanges { try flush() }
      return missing > 0
    }
    try flush()
  }

  /// - Parameter commits: oldest first, like the returned records.
  private func records(
    of commits: [HistoryReader.Commit], seenBy visibility: Visibility? = nil, _ history: HistoryReader
  ) throws -> [CommitRecord] {
    var records = [CommitRecord]()
    try LogEntryBuilder(history, omitsDamage: true, seenBy: visibility).build(commits.reversed()) { records.append($0) }
    return records.reversed()
  }

  /// Returns the next commits after a token.
  public func follow(_ request: FollowRequest, seenBy visibility: Visibility?) throws -> CommitPage {
    try request.filter.check(in: model)
    var filter = request.filter
    (filter.since, filter.until) = (nil, nil)
    return try read { objects, history, head in
      try check(request.since, head, history)
      let since = request.since.revision
      // Bounds the examined commits, even if few of them match.
      let through = min(head.revision, since + Revision(Self.followedRows))
      let limit = request.limit == 0 ? Self.followedCommits.usual : Int(clamping: request.limit)
      let log = try LogFilter(
        filter, after: since, through: through, omitsDamage: true, names: names, history: history,
        visible: visibility.map { VisibleHistory($0, history) })
      var part = FollowedPart(limit: min(limit, Self.followedCommits.most))
      let together = visibility == nil ? part.limit : Self.examinedCommits
      var (gathered, changes) = ([HistoryReader.Commit](), 0)
      func flush() throws {
        for record in try records(of: gathered, seenBy: visibility, history) where !part.isFull { part.add(record) }
        (gathered, changes) = ([], 0)
      }
      try log.forEach(newestFirst: false) { commit in
        gathered.append(commit)
        changes += commit.changes.count
        if gathered.count == together || changes >= Self.followedChanges { try flush() }
        return !part.isFull
      }
      try flush()
      let kept = part.commits.map { names.shown($0) }
      // Only commits that the class sees fill a part. Otherwise its end would be the revision of an invisible commit,
      // and with a filter the client would learn its author or its entity.
      let end = if part.isFull, let last = kept.last { last.revision } else { through }
      assert(end >= since && end <= head.revision)
      // A change that was read has an image.
      let unknown = kept.flatMap(\.changes).filter { $0.before == nil && $0.after == nil }.map(\.id)
      var damage = objects.damageFound.notice
      damage.formUnion(DamageNotice(objects: unknown))
      if visibility != nil { damage = damage.withoutObjects }
      guard damage.count <= DamageNotice.maximumItems else { throw damage.refusal }
      if end == head.revision { return CommitPage(commits: kept, at: head, head: head, damage: damage) }
      guard let fingerprint = try history.fingerprint(of: end) else { throw history.missingCommit(end) }
      return CommitPage(
        commits: kept, at: Token(store: storeID, revision: end, fingerprint: fingerprint), head: head, damage: damage)
    }
  }

  /// The commits of a part, until it is full.
  private struct FollowedPart {
    let limit: Int
    private(set) var commits = [CommitRecord]()
    private(set) var isFull = false
    private var (changes, size) = (0, 0)

    init(limit: Int) { self.limit = limit }

    mutating func add(_ record: CommitRecord) {
      assert(!isFull, "a full part gets no commit")
      size += record.approximateSize
      if size > SQLiteStore.followedBytes, !commits.isEmpty {
        isFull = true
        return
      }
      commits.append(record)
      changes += record.changes.count
      isFull = commits.count >= limit || changes >= SQLiteStore.followedChanges
    }
  }

  private func check(_ token: Token, _ head: Token, _ history: HistoryReader) throws {
    guard token.store == storeID else {
      throw Refusal(.notFound, "the token is of another store; start again with the present state")
    }
    guard token.revision >= 0, token.revision <= head.revision else {
      throw Refusal(
        .notFound,
        "the token is ahead of the store, whose newest revision is \(head.revision): it was restored from a backup; "
          + "start again with the present state")
    }
    let print = try history.fingerprint(of: token.revision)
    guard print == nil || print == token.fingerprint else {
      throw Refusal(
        .notFound,
        "the store's revision \(token.revision) is not the token's: the store was restored from a backup, or the token "
          + "was damaged; start again with the present state")
    }
    guard print != nil, try token.revision >= history.oldest() else {
      var refusal = Refusal.pruned(token.revision, oldest: try history.oldest())
      refusal.message += "; start again with the present state"
      throw refusal
    }
    try history.check(token.revision)
    try history.checkMigrations(since: token.revision)
  }

  /// Passes the differences between two states to `body`.
  public func differences(
    _ request: DifferenceRequest, seenBy visibility: Visibility?, _ body: (ObjectDifference) throws -> Void
  ) throws -> AnswerCompletion {
    try HistoryFilter(entities: request.entities).check(in: model)
    return try read { objects, history, head in
      let unknown = try DifferenceReader(request, seenBy: visibility, head: head.revision, history: history)
        .forEach(body)
      var damage = objects.damageFound.notice
      damage.formUnion(DamageNotice(objects: unknown))
      if visibility != nil { damage = damage.withoutObjects }
      guard damage.count <= DamageNotice.maximumItems else { throw damage.refusal }
      return AnswerCompletion(at: head, damage: damage)
    }
  }

  /// Returns the origin of a property's value.
  public func origin(
    of property: PropertyNumber, of id: ObjectID, seenBy visibility: Visibility?
  ) throws -> ValueOrigin {
    try read { _, history, _ in
      let origins = ValueOrigins(history: history, visible: visibility.map { VisibleHistory($0, history) })
      return names.shown(try origins.origin(of: property, of: id))
    }
  }

  // MARK: - Names

  /// Forgets the shown names of principals: history shows their ids instead, and its chain stays as it is. Only the
  /// caller of `commit` may call it, between commits. In a store with a commit log, a name may reappear after a power
  /// failure, so a server repeats the erasure at its start.
  /// - Parameter principals: their ids; those without a name have no effect.
  public func forgetNames(of principals: [String]) throws {
    try turn.withLock { _ in
      guard !health.isOutcomeUnknown else {
        throw StoreFailure(.inputOutput, "names can't be erased while the store is in doubt", advice: "Try again.")
      }
      try files.verify()
      do {
        try pool.writeWithoutTransaction { database in
          let writer = try self.writer ?? makeWriter(database)
          self.writer = writer
          try commitGathered(writer)
          if try writer.connection.hasTable("_name") {
            // The file must not keep the bytes.
            try database.execute(sql: "PRAGMA secure_delete = ON")
            defer { try? database.execute(sql: "PRAGMA secure_delete = OFF") }
            try inTransaction(writer) { try names.forget(principals, writer.connection) }
          }
        }
      } catch let error as DatabaseError {
        throw SQLiteFailure.of(error, path: path)
      }
    }
  }
}
