import GRDBSQLite
import GraphModel

/// Which step an author would undo and redo next, read from history alone.
///
/// A step is a run of commits of one author and scope with one group: nothing else of that author stands between them
/// in that scope. A commit without a group is a step of its own in the scope zero. The newest commit names the step.
///
/// Nothing says that a step is undone but the commits that did it: an undo's `undoes` names the step, a redo's the undo.
/// So a step is undone when an undo of it exists, and no redo of the newest one; the index on `undoes` finds both. Undos
/// and redos carry their step's group, and thereby stand in its scope.
///
/// History has no index by author, and none is made: every commit would pay for it. The walk goes over the newest
/// commits, whoever made them, and ends at the first step that stands, most often at once. An author who has nothing
/// there makes it go on to its end: 100,000 rows of a hundred to two hundred bytes, of which it reads the beginning, take
/// some 20 ms. An older step is undone by its revision.
struct UndoStacks {
  let history: HistoryReader

  /// How far back steps are looked for, and how far apart the commits of one may lie, in revisions.
  static let reach: Revision = 100_000

  /// A step, and what has become of it.
  struct Step {
    /// Names it: its newest commit.
    var revision: Revision
    var group: UndoGroup?
    var isUndone: Bool
    /// The commit that made it what it is: the step's own, or the newest undo or redo of it.
    var latest: Revision
  }

  private var connection: Connection { history.objects.connection }

  // MARK: - The next step

  /// What undo and redo would take: the newest step that is not undone, and the newest that is, unless another commit has
  /// been made since.
  /// - Parameters:
  ///   - scope: nil for all scopes as if they were one.
  ///   - undo: whether undo is asked for.
  ///   - redo: whether redo is asked for.
  func next(
    of author: String, scope: UniqueID?, undo: Bool = true, redo: Bool = true
  ) throws -> (undo: Step?, redo: Step?) {
    guard let number = try number(of: author) else { return (nil, nil) }
    let (head, oldest) = (try history.head().revision, try history.oldest())
    var found: (undo: Step?, redo: Step?) = (nil, nil)
    var seen = Set<Revision>()
    var runs = [UniqueID: Run]()
    var mayRedo = redo
    // The newest that is said of a step counts.
    try forEachCommit(of: number, from: head, downTo: max(head - Self.reach, history.objects.layout.since)) { commit in
      if let scope, scope != commit.scope { return true }
      if let undoes = commit.undoes {
        runs[commit.scope] = nil
        let (step, isUndo) = try follow(undoes)
        // Of a step that was pruned nobody knows whether it stands.
        if step > oldest, seen.insert(step).inserted {
          let step = Step(revision: step, group: commit.group, isUndone: isUndo, latest: commit.revision)
          if !isUndo {
            found.undo = found.undo ?? step
          } else if mayRedo {
            found.redo = found.redo ?? step
          }
        }
      } else {
        mayRedo = false
        let run = runs[commit.scope]?.extended(by: commit) ?? Run(commit)
        runs[commit.scope] = run
        if seen.insert(run.newest).inserted {
          let step = Step(revision: run.newest, group: commit.group, isUndone: false, latest: run.newest)
          found.undo = found.undo ?? step
        }
      }
      return undo && found.undo == nil || mayRedo && found.redo == nil
    }
    return found
  }

  /// The step that a commit belongs to, or that it undoes or redoes; nil when there is no such commit.
  /// - Throws: `Refusal(.pruned)` for one of which the step was pruned.
  func step(of revision: Revision) throws -> (step: Step, isUndo: Bool)? {
    guard let undoes = try undoes(of: revision) else { return nil }
    var (newest, isUndo) = (revision, false)
    if let undoes {
      (newest, isUndo) = try follow(undoes)
    } else {
      newest = try newestOfRun(from: revision)
    }
    guard let label = try label(of: newest) else {
      try history.refusePrunedCommit(newest)
      return nil
    }
    var step = Step(revision: newest, group: label.group, isUndone: false, latest: newest)
    while let next = try newestUndo(of: step.latest) {
      step.latest = next
      step.isUndone.toggle()
    }
    return (step, isUndo)
  }

  /// The step's own commits, oldest first.
  func revisions(of step: Step) throws -> [Revision] {
    guard let group = step.group, let author = try label(of: step.revision)?.author else { return [step.revision] }
    var run = [step.revision]
    var isOpen = true
    while isOpen {
      let lowest = run[run.count - 1]
      try forEachCommit(of: author, from: lowest - 1, downTo: lowest - Self.reach) { commit in
        guard commit.scope == group.scope else { return true }
        isOpen = commit.undoes == nil && commit.group?.group == group.group
        if isOpen { run.append(commit.revision) }
        return isOpen
      }
      if run[run.count - 1] == lowest { isOpen = false }
    }
    return run.reversed()
  }

  /// The commits after `base` that came to nothing, because one of them took the other back: steps with their undos, undos
  /// with their redos. Each with the newer one of the two.
  func cancelled(of author: String, after base: Revision) throws -> [Revision: Revision] {
    guard let number = try number(of: author) else { return [:] }
    var cancelled = [Revision: Revision]()
    /// Undos that have not met what they took back: the newest redo of the step, or the step itself.
    var undos = [Revision: Revision]()
    var runs = [UniqueID: Run]()
    let head = try history.head().revision
    try forEachCommit(of: number, from: head, downTo: max(base + 1, head - Self.reach)) { commit in
      if let undoes = commit.undoes {
        runs[commit.scope] = nil
        if cancelled[commit.revision] != nil { return true }
        let (step, isUndo) = try follow(undoes)
        if let undo = undos.removeValue(forKey: step) {
          (cancelled[undo], cancelled[commit.revision]) = (undo, undo)
        } else if isUndo {
          undos[step] = commit.revision
        } else if undoes > base {
          (cancelled[undoes], cancelled[commit.revision]) = (commit.revision, commit.revision)
        }
      } else {
        let run = runs[commit.scope]?.extended(by: commit) ?? Run(commit)
        runs[commit.scope] = run
        guard let undo = undos[run.newest] else { return true }
        (cancelled[undo], cancelled[commit.revision]) = (undo, undo)
      }
      return true
    }
    // The undo of a step that began before `base` is not nothing: it took back what is not seen here.
    for (scope, run) in runs {
      guard let undo = undos[run.newest], try isContinued(run, of: number, scope) else { continue }
      cancelled = cancelled.filter { $0.value != undo }
    }
    return cancelled
  }

  /// Whether a run goes on behind its oldest known commit.
  private func isContinued(_ run: Run, of author: Int64, _ scope: UniqueID) throws -> Bool {
    var isContinued = false
    try forEachCommit(of: author, from: run.oldest - 1, downTo: run.oldest - Self.reach) { commit in
      guard commit.scope == scope else { return true }
      isContinued = commit.undoes == nil && run.extended(by: commit) != nil
      return false
    }
    return isContinued
  }

  // MARK: - Runs

  private struct Run {
    let newest: Revision
    var oldest: Revision
    let group: UInt64?

    init(_ commit: OwnCommit) {
      (newest, oldest, group) = (commit.revision, commit.revision, commit.group?.group)
    }

    func extended(by commit: OwnCommit) -> Run? {
      guard let group, group == commit.group?.group, oldest - commit.revision <= UndoStacks.reach else { return nil }
      var run = self
      run.oldest = commit.revision
      return run
    }
  }

  private func newestOfRun(from revision: Revision) throws -> Revision {
    guard let start = try label(of: revision), let group = start.group else { return revision }
    var newest = revision
    var isOpen = true
    while isOpen {
      let from = newest
      try forEachCommit(of: start.author, upwardsFrom: from + 1, upTo: from + Self.reach) { commit in
        guard commit.scope == group.scope else { return true }
        isOpen = commit.undoes == nil && commit.group?.group == group.group
        if isOpen { newest = commit.revision }
        return isOpen
      }
      if newest == from { isOpen = false }
    }
    guard newest == revision else { return newest }
    // A save that changed nothing names no step: the last one before it that did something names theirs.
    try forEachCommit(of: start.author, from: revision, downTo: revision - Self.reach) { commit in
      guard commit.scope == group.scope else { return true }
      if commit.undoes == nil, commit.group?.group == group.group { newest = commit.revision }
      return false
    }
    return newest
  }

  // MARK: - Rows

  private struct OwnCommit {
    var revision: Revision
    var undoes: Revision?
    var group: UndoGroup?
    var scope: UniqueID { group?.scope ?? .zero }
  }

  /// A save that changed nothing is no step; an undo that could take nothing back is one that was undone.
  private static let columns = """
    SELECT revision, undoes, undo FROM _commit WHERE author = ? AND revision BETWEEN ? AND ? \
    AND (undoes IS NOT NULL OR length(changes) > 0) ORDER BY revision
    """
  private static let downwards = SQL(columns + " DESC")
  private static let upwards = SQL(columns)

  /// Newest first, until `body` returns false.
  private func forEachCommit(
    of author: Int64, from newest: Revision, downTo oldest: Revision, _ body: (OwnCommit) throws -> Bool
  ) throws {
    try forEachCommit(Self.downwards, author, oldest, newest, body)
  }

  /// Oldest first, until `body` returns false.
  private func forEachCommit(
    of author: Int64, upwardsFrom oldest: Revision, upTo newest: Revision, _ body: (OwnCommit) throws -> Bool
  ) throws {
    try forEachCommit(Self.upwards, author, oldest, newest, body)
  }

  private func forEachCommit(
    _ sql: SQL, _ author: Int64, _ oldest: Revision, _ newest: Revision, _ body: (OwnCommit) throws -> Bool
  ) throws {
    let row = try connection.statement(sql)
    row.bind(1, author)
    row.bind(2, oldest)
    row.bind(3, newest)
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) {
      let commit = OwnCommit(
        revision: row.integer(0), undoes: row.isNull(1) ? nil : row.integer(1), group: try Self.group(row.blob(2)))
      guard try body(commit) else { return }
    }
  }

  private static func group(_ bytes: [UInt8]) throws -> UndoGroup? {
    bytes.isEmpty ? nil : try UndoGroup(binary: bytes)
  }

  /// From an undo's or a redo's `undoes` down to the step: an undo names the step, a redo an undo of it.
  private func follow(_ undoes: Revision) throws -> (step: Revision, isUndo: Bool) {
    var (step, isUndo) = (undoes, true)
    while let next = try self.undoes(of: step) ?? nil, next < step {
      step = next
      isUndo.toggle()
    }
    return (step, isUndo)
  }

  private func number(of author: String) throws -> Int64? {
    let row = try connection.statement("SELECT number FROM _author WHERE name = ?")
    row.bind(1, author)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? row.integer(0) : nil
  }

  /// The outer nil: there is no such commit; the inner: it is no undo.
  private func undoes(of revision: Revision) throws -> Revision?? {
    let row = try connection.statement("SELECT undoes FROM _commit WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    guard try connection.step(row) else { return nil }
    return .some(row.isNull(0) ? nil : row.integer(0))
  }

  private func label(of revision: Revision) throws -> (author: Int64, group: UndoGroup?)? {
    let row = try connection.statement("SELECT author, undo FROM _commit WHERE revision = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) ? (row.integer(0), try Self.group(row.blob(1))) : nil
  }

  private func newestUndo(of revision: Revision) throws -> Revision? {
    let row = try connection.statement("SELECT max(revision) FROM _commit WHERE undoes = ?")
    row.bind(1, revision)
    defer { sqlite3_reset(row.statement) }
    return try connection.step(row) && !row.isNull(0) ? row.integer(0) : nil
  }
}
