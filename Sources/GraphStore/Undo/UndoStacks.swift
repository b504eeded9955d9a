// Tests: UndoTests.swift, RandomUndoTests.swift
import GRDBSQLite
import GraphModel

/// The undo and redo stacks of an author, determined from history alone.
///
/// A step is a run of commits of one author and scope with one group, without other commits of that author and scope
/// in between. A commit without a group is a step of its own in the scope zero. The newest commit identifies the
/// step.
///
/// Only the undoing commits record that a step is undone: the `undoes` of an undo refers to the step, that of a redo
/// to the undo. So a step is undone if an undo of it exists and the newest one was not redone; the index on `undoes`
/// finds both. Undos and redos have their step's group, and so belong to its scope.
///
/// History has no index by author, because every commit would pay for it. The walk covers the newest commits of all
/// authors and ends at the first step that is not undone, usually at once. For an author without such a step it
/// continues to its limit: 100,000 rows of one to two hundred bytes, of which it reads the beginning, take about 20
/// ms. An older step can be undone by its revision.
struct UndoStacks {
  let history: HistoryReader

  /// The maximum distance, in revisions, to the steps and between the commits of one step.
  static let reach: Revision = 100_000

  /// A step and its undo state.
  struct Step {
    /// The step's newest commit, which identifies it.
    var revision: Revision
    var group: UndoGroup?
    var isUndone: Bool
    /// The commit that determines its state: the step's own, or the newest undo or redo of it.
    var latest: Revision
  }

  private var connection: Connection { history.objects.connection }

  // MARK: - Next step

  /// Returns the steps that undo and redo would apply to.
  ///
  /// Undo applies to the newest step that is not undone, and redo to the newest undone one unless another commit was
  /// made since.
  /// - Parameters:
  ///   - scope: nil to treat all scopes as one.
  ///   - undo: whether the undo step is requested.
  ///   - redo: whether the redo step is requested.
  ///   - excluded: steps that will be undone, and are passed over.
  func next(
    of author: String, scope: UniqueID?, undo: Bool = true, redo: Bool = true, excluding excluded: Set<Revision> = []
  ) throws -> (undo: Step?, redo: Step?) {
    guard let number = try CommitAuthors(connection).number(of: author) else { return (nil, nil) }
    let (head, oldest) = (try history.head().revision, try history.oldest())
    var found: (undo: Step?, redo: Step?) = (nil, nil)
    var seen = Set<Revision>()
    var runs = [UniqueID: Run]()
    var mayRedo = redo
    // The newest undo or redo of a step determines its state.
    try forEachCommit(of: number, from: head, downTo: max(head - Self.reach, history.objects.layout.since)) { commit in
      if let scope, scope != commit.scope { return true }
      if let undoes = commit.undoes {
        runs[commit.scope] = nil
        let (step, isUndo) = try follow(undoes)
        // The undo state of a pruned step is unknown.
        if step > oldest, seen.insert(step).inserted {
          let step = Step(revision: step, group: commit.group, isUndone: isUndo, latest: commit.revision)
          if !isUndo {
            if !excluded.contains(step.revision) { found.undo = found.undo ?? step }
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
          if !excluded.contains(step.revision) { found.undo = found.undo ?? step }
        }
      }
      return undo && found.undo == nil || mayRedo && found.redo == nil
    }
    return found
  }

  /// Returns the step that a commit belongs to, or that it undoes or redoes; nil if there is no such commit.
  /// - Throws: `Refusal(.pruned)` if the step was pruned.
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
    assert(zip(run, run.dropFirst()).allSatisfy { $0 > $1 })
    return run.reversed()
  }

  /// Returns the commits after `base` that cancel each other, with the newer commit of each pair as the value.
  ///
  /// Steps are cancelled by their undos, and undos by their redos.
  func cancelled(of author: String, after base: Revision) throws -> [Revision: Revision] {
    guard let number = try CommitAuthors(connection).number(of: author) else { return [:] }
    var cancelled = [Revision: Revision]()
    /// The undos whose counterpart was not found yet. The counterpart is the newest redo of the step, or the step
    /// itself.
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
    // The undo of a step that began before `base` also reverses commits not considered here, so it is not cancelled.
    for (scope, run) in runs {
      guard let undo = undos[run.newest], try isContinued(run, of: number, scope) else { continue }
      cancelled = cancelled.filter { $0.value != undo }
    }
    return cancelled
  }

  /// Whether a run continues before its oldest known commit.
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

    init(_ commit: StackCommit) {
      (newest, oldest, group) = (commit.revision, commit.revision, commit.group?.group)
    }

    func extended(by commit: StackCommit) -> Run? {
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
    assert(newest >= revision)
    guard newest == revision else { return newest }
    // A save without changes does not identify a step; the last effective one before it does.
    try forEachCommit(of: start.author, from: revision, downTo: revision - Self.reach) { commit in
      guard commit.scope == group.scope else { return true }
      if commit.undoes == nil, commit.group?.group == group.group { newest = commit.revision }
      return false
    }
    return newest
  }

  // MARK: - Rows

  private struct StackCommit {
    var revision: Revision
    var undoes: Revision?
    var group: UndoGroup?
    var scope: UniqueID {
      if let group { group.scope } else { .zero }
    }
  }

  /// A save without changes is no step. An undo without changes still counts: its step is undone.
  private static let columns = """
    SELECT revision, undoes, undo FROM _commit WHERE author = ? AND revision BETWEEN ? AND ? \
    AND (undoes IS NOT NULL OR length(changes) > 0) ORDER BY revision
    """
  private static let downwards = SQL(columns + " DESC")
  private static let upwards = SQL(columns)

  /// Passes the commits newest first, until `body` returns false.
  private func forEachCommit(
    of author: Int64, from newest: Revision, downTo oldest: Revision, _ body: (StackCommit) throws -> Bool
  ) throws {
    try forEachCommit(Self.downwards, author, oldest, newest, body)
  }

  /// Passes the commits oldest first, until `body` returns false.
  private func forEachCommit(
    of author: Int64, upwardsFrom oldest: Revision, upTo newest: Revision, _ body: (StackCommit) throws -> Bool
  ) throws {
    try forEachCommit(Self.upwards, author, oldest, newest, body)
  }

  private func forEachCommit(
    _ sql: SQL, _ author: Int64, _ oldest: Revision, _ newest: Revision, _ body: (StackCommit) throws -> Bool
  ) throws {
    let row = try connection.statement(sql)
    row.bind(1, author)
    row.bind(2, oldest)
    row.bind(3, newest)
    defer { sqlite3_reset(row.statement) }
    while try connection.step(row) {
      let commit = StackCommit(
        revision: row.integer(0), undoes: row.isNull(1) ? nil : row.integer(1), group: try Self.group(row.blob(2)))
      guard try body(commit) else { break }
    }
  }

  private static func group(_ bytes: [UInt8]) throws -> UndoGroup? {
    bytes.isEmpty ? nil : try UndoGroup(binary: bytes)
  }

  /// Follows `undoes` to the step: an undo refers to the step, a redo to an undo of it.
  private func follow(_ undoes: Revision) throws -> (step: Revision, isUndo: Bool) {
    var (step, isUndo) = (undoes, true)
    while case .some(.some(let next)) = try self.undoes(of: step), next < step {
      step = next
      isUndo.toggle()
    }
    return (step, isUndo)
  }

  /// The outer optional is nil if there is no such commit, the inner one if it is no undo.
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
    try connection.integer("SELECT max(revision) FROM _commit WHERE undoes = ?", .integer(revision))
  }
}
