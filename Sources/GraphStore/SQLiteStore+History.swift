import GRDB
import GraphModel

/// Questions to history, each answered in a read transaction of its own.
extension SQLiteStore {
  /// So many commits are followed at a time where the reader does not say, and at most; about so many changes and bytes.
  static let followedCommits = (usual: 256, most: 1_000)
  static let followedChanges = 2_000
  static let followedBytes = 4 << 20
  /// Commits that are looked at for one part, whether they fit or not.
  static let followedRows = 20_000
  /// Commits that are gathered before they are told.
  private static let gatheredCommits = 256

  /// Hands out the commits that a log asks for.
  public func log(
    _ request: LogRequest, maximumChanges: Int, while isWanted: () -> Bool, _ body: (CommitRecord) throws -> Void
  ) throws -> Token {
    try request.filter.check(in: model)
    return try read { objects, history, head in
      // Who names no revision gets what there is.
      if request.after > 0, request.after < .max { try history.refusePrunedCommit(request.after + 1) }
      try history.refusePrunedCommit(request.through)
      let through = request.through > 0 ? min(request.through, head.revision) : head.revision
      let fitting = try FittingCommits(
        request.filter, after: request.after, through: through,
        changes: request.changes.map { Int(clamping: $0) } ?? .max, history: history)
      try objects.connection.run(while: isWanted) {
        let limit = request.limit == 0 ? Int.max : Int(clamping: request.limit)
        // Said before anything is read that takes long.
        guard try fitting.count(limit, newestFirst: !request.oldestFirst, upTo: maximumChanges) <= maximumChanges else {
          throw Refusal(
            .limit,
            "the log would have more than \(maximumChanges) changes: ask for fewer commits, or for fewer changes of each"
          )
        }
        try tell(fitting, request, history, body)
      }
      return head
    }
  }

  private func tell(
    _ fitting: FittingCommits, _ request: LogRequest, _ history: HistoryReader, _ body: (CommitRecord) throws -> Void
  ) throws {
    var missing = request.limit == 0 ? Int.max : Int(clamping: request.limit)
    var (gathered, changes) = ([HistoryReader.Commit](), 0)
    let teller = CommitTeller(history)
    func turn() throws {
      if request.oldestFirst {
        for record in try records(of: gathered, history) { try body(record) }
      } else {
        try teller.tell(gathered, body)
      }
      (gathered, changes) = ([], 0)
    }
    try fitting.forEach(newestFirst: !request.oldestFirst) { commit in
      gathered.append(commit)
      changes += commit.changes.count
      missing -= 1
      if gathered.count == Self.gatheredCommits || changes >= CommitTeller.gatheredChanges { try turn() }
      return missing > 0
    }
    try turn()
  }

  /// - Parameter commits: oldest first, as the records are.
  private func records(of commits: [HistoryReader.Commit], _ history: HistoryReader) throws -> [CommitRecord] {
    var records = [CommitRecord]()
    try CommitTeller(history).tell(commits.reversed()) { records.append($0) }
    return records.reversed()
  }

  /// The next commits behind a token.
  public func follow(_ request: FollowRequest) throws -> FollowedPart {
    try request.filter.check(in: model)
    var filter = request.filter
    (filter.since, filter.until) = (nil, nil)
    return try read { _, history, head in
      try check(request.since, head, history)
      let since = request.since.revision
      // What is looked at in one go has a bound, however little of it fits.
      let through = min(head.revision, since + Revision(Self.followedRows))
      let limit = request.limit == 0 ? Self.followedCommits.usual : Int(clamping: request.limit)
      var (found, changes, isFull) = ([HistoryReader.Commit](), 0, false)
      let fitting = try FittingCommits(filter, after: since, through: through, history: history)
      try fitting.forEach(newestFirst: false) { commit in
        found.append(commit)
        changes += commit.changes.count
        isFull = found.count >= min(limit, Self.followedCommits.most) || changes >= Self.followedChanges
        return !isFull
      }
      var (kept, size) = ([CommitRecord](), 0)
      for record in try records(of: found, history) {
        size += record.approximateSize
        if size > Self.followedBytes, !kept.isEmpty {
          isFull = true
          break
        }
        kept.append(record)
      }
      let end = isFull ? kept.last?.revision ?? through : through
      let print = end == head.revision ? head.fingerprint : try history.fingerprint(of: end) ?? 0
      return FollowedPart(
        commits: kept, at: Token(store: storeID, revision: end, fingerprint: print), head: head)
    }
  }

  private func check(_ token: Token, _ head: Token, _ history: HistoryReader) throws {
    guard token.store == storeID else {
      throw Refusal(.notFound, "the token is of another store; begin anew with what there is now")
    }
    guard token.revision >= 0, token.revision <= head.revision else {
      throw Refusal(
        .notFound,
        "the token is ahead of the store, which stands at revision \(head.revision): it was restored from a backup; "
          + "begin anew with what there is now")
    }
    let print = try history.fingerprint(of: token.revision)
    guard print == nil || print == token.fingerprint else {
      throw Refusal(
        .notFound,
        "the store's revision \(token.revision) is not the token's: the store was restored from a backup, or the token "
          + "was damaged; begin anew with what there is now")
    }
    guard print != nil, try token.revision >= history.oldest() else {
      var refusal = Refusal.pruned(token.revision, oldest: try history.oldest())
      refusal.message += "; begin anew with what there is now"
      throw refusal
    }
    try history.check(token.revision)
    try history.checkWay(from: token.revision)
  }

  /// Hands out what two states differ in.
  public func differences(
    _ request: DifferenceRequest, _ body: (ObjectDifference) throws -> Void
  ) throws -> Token {
    try HistoryFilter(entities: request.entities).check(in: model)
    return try read { _, history, head in
      try DifferenceReader(request, head: head.revision, history: history).forEach(body)
      return head
    }
  }

  /// Where the value of a property comes from.
  public func origin(of property: PropertyNumber, of id: ObjectID) throws -> ValueOrigin {
    try read { _, history, _ in try ValueOrigins(history: history).origin(of: property, of: id) }
  }
}
