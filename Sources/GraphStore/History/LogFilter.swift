// Tests: RandomHistoryTests.swift, LargeLogTests.swift
import GRDBSQLite
import GraphModel

/// Finds the commits in history that match a filter.
///
/// Authors and times are read from the rows' first columns. For a single object, only the object's own past is read.
/// For entities, a commit's ids are read, and only matching changes are decoded.
struct LogFilter {
  let history: HistoryReader
  /// The numbers of the authors; nil for all authors.
  private let authors: [Int64]?
  private let family: Set<EntityNumber>?
  private let object: ObjectID?
  private var changes: Int
  /// The time range; the clock may have gone back between revisions of the range below.
  private let since: Timestamp?
  private let until: Timestamp?
  /// The revision range, without the first and including the last.
  private let after: Revision
  private let through: Revision
  /// Whether damaged commits are skipped; otherwise they are refused.
  private let omitsDamage: Bool

  /// The maximum number of commits examined for one answer.
  static let maximumCommits = 5_000_000

  /// - Parameters:
  ///   - changes: the maximum number of decoded changes per commit; the others are only counted.
  ///   - visible: decides whether the object that the filter names may be named; nil for any.
  init(
    _ filter: HistoryFilter, after: Revision, through: Revision, changes: Int = .max, omitsDamage: Bool = false,
    names: ShownNames, history: HistoryReader, visible: VisibleHistory? = nil
  ) throws {
    self.history = history
    self.omitsDamage = omitsDamage
    self.changes = changes
    family = filter.family(in: history.objects.model)
    object =
      filter.object.isEmpty
      ? nil : try history.located(prefix: filter.object) { try visible?.hasSeen($0) != false }
    let table = CommitAuthors(history.connection)
    authors =
      filter.authors.isEmpty
      ? nil : try filter.authors.flatMap { names.ids(named: $0) }.compactMap { try table.number(of: $0) }.sorted()
    var (low, high) = (max(after, 0), through)
    (since, until) = (filter.since, filter.until)
    let (times, first) = (CommitTimes(history: history), try history.oldest() + 1)
    if let since = filter.since {
      low = try times.oldestCommit(from: since, from: first, through: high).map { max(low, $0 - 1) } ?? high
    }
    if let until = filter.until {
      let last = until == .min ? nil : try times.newestCommit(upTo: until - 1, from: first, through: high)
      // If no commit is that old, the range is empty.
      high = if let last { min(high, last) } else { min(high, 0) }
    }
    (self.after, self.through) = (low, high)
  }

  /// Calls `body` with each matching commit and its matching changes until it returns false. A commit in parts has no
  /// changes, except for a filter by object.
  /// - Returns: the last revision examined; nil if there was none.
  @discardableResult
  func forEach(newestFirst: Bool, _ body: (HistoryReader.Commit) throws -> Bool) throws -> Revision? {
    guard after < through, authors?.isEmpty != true else { return nil }
    assert(after >= 0)
    if let object { return try forEach(of: object, newestFirst: newestFirst, body) }
    // One text for all lists of authors, because the connection keeps its statement.
    let authorCondition = authors == nil ? "" : "AND author IN (SELECT value FROM json_each(?3)) "
    let order = newestFirst ? "DESC" : "ASC"
    let row = try history.connection.statement(
      HistoryReader.columns + " WHERE revision > ?1 AND revision <= ?2 \(authorCondition)ORDER BY revision \(order)")
    row.bind(1, after)
    row.bind(2, through)
    if let authors { row.bind(3, "[\(authors.map(String.init).joined(separator: ","))]") }
    defer { sqlite3_reset(row.statement) }
    var (last, count): (Revision?, Int) = (nil, 0)
    while try history.connection.step(row) {
      last = row.integer(0)
      count += 1
      guard count <= Self.maximumCommits else { throw Self.tooMany }
      guard isInTime(row.integer(1)) else { continue }
      guard let commit = try matchingCommit(row) else { continue }
      guard try body(commit) else { return last }
    }
    return last
  }

  /// The number of changes of the first commits, as far as they are decoded. Counting stops soon after `most`.
  func count(_ limit: Int, newestFirst: Bool, upTo most: Int) throws -> Int {
    // Each commit has one change of the object.
    if object != nil { return 0 }
    var counting = self
    counting.changes = 0
    var (count, missing) = (0, limit)
    try counting.forEach(newestFirst: newestFirst) { commit in
      count += min(commit.more, changes)
      missing -= 1
      return missing > 0 && count <= most
    }
    return count
  }

  private func isInTime(_ time: Timestamp) -> Bool {
    if let since, time < since { return false }
    if let until, time >= until { return false }
    return true
  }

  private func isByAuthor(_ name: String) throws -> Bool {
    guard let authors else { return true }
    guard let number = try CommitAuthors(history.connection).number(of: name) else { return false }
    return authors.contains(number)
  }

  private static let tooMany = Refusal(
    .limit, "more than \(maximumCommits) commits would have to be examined; give a smaller range")

  private func matchingCommit(_ row: Row) throws -> HistoryReader.Commit? {
    let (model, numbers) = (history.objects.model, history.objects.layout.numbers)
    let read = try unlessDamaged {
      try history.commit(row, first: changes) { stored in
        let entity = numbers.present(entity: stored.entity)
        return family?.contains(entity) ?? (model.entity(entity) != nil)
      }
    }
    guard let commit = read else { return nil }
    guard let family else { return commit }
    if let parts = commit.parts {
      return family.isDisjoint(with: parts.entities.map { numbers.present(entity: $0) }) ? nil : commit
    }
    return commit.changes.isEmpty && commit.more == 0 ? nil : commit
  }

  private func unlessDamaged<Result>(_ read: () throws -> Result) throws -> Result? {
    try history.objects.unlessDamaged(omitsDamage, read)
  }
}

// MARK: - One object

extension LogFilter {
  /// Walks along the object's own past.
  private func forEach(
    of object: ObjectID, newestFirst: Bool, _ body: (HistoryReader.Commit) throws -> Bool
  ) throws -> Revision? {
    if let family, !family.contains(object.entity) { return nil }
    var (found, steps, last) = ([Revision](), 0, Revision?.none)
    var revisions = try ChangedRevisions(of: object, in: history, after: after, omitsDamage: omitsDamage)
    while let revision = try revisions.next() {
      steps += 1
      guard steps <= Self.maximumCommits else { throw Self.tooMany }
      guard revision <= through else { continue }
      if newestFirst {
        last = revision
        guard try pass(revision, object, body) else { return last }
      } else {
        found.append(revision)
      }
    }
    for revision in found.reversed() {
      last = revision
      guard try pass(revision, object, body) else { return last }
    }
    return last
  }

  /// - Returns: whether `body` wants more commits.
  private func pass(
    _ revision: Revision, _ object: ObjectID, _ body: (HistoryReader.Commit) throws -> Bool
  ) throws -> Bool {
    guard var commit = try unlessDamaged({ try history.row(of: revision) }) ?? nil, isInTime(commit.time),
      let change = try history.event(of: object, in: revision)?.change, try isByAuthor(commit.author)
    else { return true }
    (commit.changes, commit.more) = changes > 0 ? ([change], 0) : ([], 1)
    commit.parts = nil
    return try body(commit)
  }
}
