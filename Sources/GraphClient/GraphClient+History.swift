// Tests: FetchingTests.swift, HistoryCommandTests.swift
import GraphModel
import GraphReplica
import GraphWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads of history (commits, earlier states, the origin of a value, the differences of two states) and of the server's
/// status. The server answers from the store, so unsaved changes in the context are not included.
extension GraphClient {
  // MARK: - Commits and status

  /// The newest commits after a revision and up to another (0: the newest), newest first.
  /// - Parameter changes: the maximum number of changes of each commit, 0 for author and time only; nil for all of
  ///   them.
  public func log(
    after: Revision = 0, through: Revision = 0, limit: Int, changes: UInt64? = nil
  ) async throws -> [CommitEntry] {
    try await log(LogRequest(after: after, limit: UInt64(limit), through: through, changes: changes))
  }

  /// The commits of a log request, in its order.
  /// - Throws: `Refusal`, `unavailable` if a commit is damaged, or an object that they changed.
  public func log(_ request: LogRequest) async throws -> [CommitEntry] {
    let stream = openReply(to: .log(request))
    var commits = [CommitEntry]()
    while let part = try await stream.nextCommits() { commits += part }
    return commits
  }

  /// The commits of a log request that can be read, and the damage: the commits that are missing, and the objects whose
  /// changes have no values.
  public func readableLog(_ request: LogRequest) async throws -> (commits: [CommitEntry], damage: DamageNotice) {
    let stream = openReply(to: .log(request))
    stream.omitsDamage = true
    var commits = [CommitEntry]()
    while let part = try await stream.nextCommits() { commits += part }
    return (commits, stream.damage)
  }

  /// The server's status.
  /// - Throws: `Refusal` when there is no connection.
  public func status() async throws -> ServerStatus {
    try await reply(to: .status) { if case .status(let status) = $0 { status } else { nil } }
  }

  /// A code with which a browser logs in as the user of this client.
  /// - Parameter user: the name of another user, which only the machine's owner may give; empty for this client's own
  ///   user.
  /// - Throws: `Refusal` if the server has no web board, or if the client has no account with which a browser could log
  ///   in.
  public func browserCode(user: String = "") async throws -> BrowserCode {
    try await reply(to: .browserLogin(user: user)) { if case .browserCode(let code) = $0 { code } else { nil } }
  }

  // MARK: - Restore

  /// Restores an object, or its earlier values, as a new commit. `committed.conflicts` of the answer lists the values
  /// that could not be restored: the other end of a relationship is deleted (`deleted`) or taken (`changed`).
  /// - Parameters:
  ///   - revision: the state to go back to; nil, for a deleted object, is the state just before its delete.
  ///   - contents: also restore everything that its delete would have cascaded to.
  /// - Throws: `Refusal`: `notFound` for an object that did not exist, `conflict` when there is nothing to restore, or
  ///   any refusal of a commit.
  @discardableResult
  public func restore(_ id: ObjectID, at revision: Revision? = nil, contents: Bool = true) async throws -> SaveResult {
    try await restore(contents ? .contents(id) : .object(id), at: revision)
  }

  /// Restores the entire graph to an earlier state, as a new commit: objects inserted since are deleted. Revision 0
  /// is the empty graph.
  @discardableResult
  public func restoreEverything(at revision: Revision) async throws -> SaveResult {
    try await restore(.everything, at: revision)
  }

  private func restore(_ scope: RestoreRequest.Scope, at revision: Revision?) async throws -> SaveResult {
    guard revision != 0 || scope == .everything else {
      throw Refusal(.notFound, "nothing existed at revision 0")
    }
    let id = context.newTransactionID()
    context.restore(RestoreRequest(id, scope, at: revision))
    return try await outcome(of: id)
  }

  // MARK: - Why

  /// The origin of a property's value: author, time, transaction, the replaced value, and the values that lost a
  /// conflict with it.
  /// - Parameter id: the id of an object that exists or existed.
  /// - Throws: `Refusal`: `notFound` for an object that never existed, `malformed` for a property that is stored at
  ///   its other end.
  public func why(_ property: Property, of id: ObjectID) async throws -> ValueOrigin {
    try await reply(to: .why(id, property.number)) { if case .why(let origin) = $0 { origin } else { nil } }
  }

  // MARK: - Differences

  /// The differences of two states, object by object, ordered by entity and id. Each part is read when it is
  /// consumed.
  /// - Parameter omitsDamage: whether damaged objects and commits are omitted; `damage` of the sequence names them.
  ///   Otherwise the last part throws `unavailable`.
  public func differences(_ request: DifferenceRequest, omitsDamage: Bool = false) -> DifferenceSequence {
    let stream = openReply(to: .changes(.differences(request)))
    stream.omitsDamage = omitsDamage
    return DifferenceSequence(stream: stream)
  }

  /// The differences of two states, in parts. It can be iterated once.
  public struct DifferenceSequence: AsyncSequence {
    let stream: ReplyStream

    /// The objects of which one state is unknown, and the damaged commits, whose changes are missing; known when the
    /// last part has been consumed.
    public var damage: DamageNotice { stream.damage }

    /// Reads one part after another.
    public struct Iterator: AsyncIteratorProtocol {
      let stream: ReplyStream

      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws -> [ObjectDifference]? {
        try await stream.nextDifferences()
      }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(stream: stream) }
  }

  // MARK: - Past revisions

  /// The graph as it was at a revision, read-only. It sends nothing before the first read.
  public func graph(at revision: Revision) -> PastGraph { PastGraph(client: self, revision: revision) }

  /// The newest commit at or before a date, and the head. Before the first commit it is revision 0, the empty graph.
  /// - Throws: `Refusal`, `pruned` if history no longer reaches back that far.
  public func revision(at date: Date) async throws -> RevisionAtTime { try await revision(at: date.microseconds) }

  /// The newest commit at or before a time in microseconds since 1970; `.max` for the newest of all.
  package func revision(at time: Timestamp) async throws -> RevisionAtTime {
    try await reply(to: .revisionAt(time)) { if case .revisionAt(let found) = $0 { found } else { nil } }
  }

  /// The token of a state in history, to follow commits or watch queries from.
  /// - Throws: `Refusal`, `pruned` if history no longer reaches back that far.
  public func token(of revision: Revision) async throws -> Token {
    guard let entity = context.model.entities.first(where: { $0.root == $0.number }) else {
      throw Refusal(.malformed, "the model has no entity")
    }
    // A fetch of an object that never exists returns nothing but the token of the state that was read.
    let unused = ObjectID(key: UniqueID(high: 1, low: 1), entity: entity.number)
    let stream = stream(wireFetch(entity, .identifiers([unused]), at: revision))
    while try await stream.nextWholeChunk() != nil {}
    guard let token = stream.token else { throw ReplyStream.incomplete }
    return token
  }

  // MARK: - Following commits

  /// A commit, and the token of a reader that has processed it.
  public struct FollowedCommit: Sendable {
    /// Nil if nothing matched the filter, or if commits are damaged: only the token has advanced.
    public var commit: CommitEntry?
    /// The token of the commit. A program that stores it can continue from there after a restart.
    public var token: Token
    /// The damaged commits, which are not delivered, and the objects whose changes had no values. Empty unless the
    /// sequence omits damage.
    public var damage = DamageNotice()
  }

  /// The commits after a token, the oldest first, each once, across reconnects. A part is requested when the previous
  /// one has been consumed: a slow reader delays nothing else.
  /// - Parameters:
  ///   - since: the token at which an earlier reader stopped.
  ///   - filter: authors, entities, an object; a commit contains only the changes that match.
  ///   - untilNow: end at the state of the store at the first request, instead of waiting for further commits.
  ///   - omitsDamage: whether damaged commits and the values of damaged objects are omitted; `damage` names them.
  ///     Otherwise the sequence throws `unavailable` before the first commit that is damaged or has changed a damaged
  ///     object, so that no copy of the graph misses changes.
  /// - Returns: commits; the server's `Refusal` is thrown with the first of them: `notFound` for a token of another
  ///   store, or of one that was restored from a backup since, `pruned` for one whose commits history no longer has.
  public func commits(
    since: Token, filter: HistoryFilter = HistoryFilter(), untilNow: Bool = false, omitsDamage: Bool = false
  ) -> CommitSequence {
    CommitSequence(client: self, since: since, filter: filter, untilNow: untilNow, omitsDamage: omitsDamage)
  }

  /// The commits after a token. Each of its iterators begins at the token.
  public struct CommitSequence: AsyncSequence {
    let client: GraphClient
    let since: Token
    let filter: HistoryFilter
    let untilNow: Bool
    let omitsDamage: Bool

    public func makeAsyncIterator() -> Iterator {
      Iterator(client: client, position: since, filter: filter, untilNow: untilNow, omitsDamage: omitsDamage)
    }

    /// Requests one part after another.
    public struct Iterator: AsyncIteratorProtocol {
      let client: GraphClient
      var position: Token
      let filter: HistoryFilter
      let untilNow: Bool
      let omitsDamage: Bool
      private var waiting = [FollowedCommit]()[...]
      /// The refusal because of damage. It is thrown after the commits that were already received.
      private var refusal: Refusal?
      private var end: Revision?
      /// The number of consecutive failed requests, to end if the server can't read its store.
      private var failures = 0
      private static let maximumFailures = 10

      init(client: GraphClient, position: Token, filter: HistoryFilter, untilNow: Bool, omitsDamage: Bool) {
        self.client = client
        self.position = position
        self.filter = filter
        self.untilNow = untilNow
        self.omitsDamage = omitsDamage
      }

      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws -> FollowedCommit? {
        while waiting.isEmpty {
          try Task.checkCancellation()
          if let refusal { throw refusal }
          if let end, position.revision >= end { return nil }
          try await requestPart()
        }
        return waiting.popFirst()
      }

      private mutating func requestPart() async throws {
        let request = FollowRequest(since: position, filter: filter, waits: !untilNow)
        let page: FollowedPage
        do {
          page = try await client.followedPage(request)
          failures = 0
        } catch let refusal as Refusal where refusal.code == .unavailable && failures < Self.maximumFailures {
          // The request was lost with its connection, so it is repeated on the next one.
          failures += 1
          guard try await client.waitForConnection() else { throw refusal }
          return
        }
        if untilNow, end == nil { end = page.head.revision }
        if !page.damage.isEmpty, !omitsDamage {
          refusal = page.damage.refusal
          waiting = page.soundCommits(upTo: end)
        } else {
          waiting = page.commits(upTo: end, after: position)
        }
        position = page.at
      }
    }
  }

  /// The next commits after a token; cancelling the task ends the wait.
  private func followedPage(_ request: FollowRequest) async throws -> FollowedPage {
    try await reply(to: .changes(.follow(request))) { part in
      if case .followed(let commits, let at, let head, let damage) = part {
        FollowedPage(entries: commits, at: at, head: head, damage: damage)
      } else {
        nil
      }
    }
  }

  /// Waits until there is a connection.
  /// - Returns: false if there will be none.
  /// - Throws: `CancellationError`.
  private func waitForConnection() async throws -> Bool {
    try await waitForReconnection()
    return state == .connected
  }
}

/// Undo and redo, which the server computes from history.
extension GraphClient {
  /// Makes the saves of a body one undo step, and saves the edits that the body leaves unsaved: `client.undoable("Weigh
  /// in") { … }`.
  ///
  /// Earlier edits that are still unsaved also belong to the step. While another `undoable` runs, around this one or in
  /// another task, the saves belong to its step. The step is on the stack of `context.undoScope`, or else on the
  /// author's.
  /// - Parameter name: for a menu, "Undo NAME".
  /// - Throws: errors of the body, whose unsaved edits then stay in the context; the `Refusal` of the save.
  @discardableResult
  public func undoable<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
    let authorScope = undoStack.authorScope
    let scope = context.undoScope ?? authorScope
    context.undoScope = scope
    scope.beginGroup(named: name)
    defer {
      scope.endGroup()
      // The context has the author's scope while a group of it is open. Calls in several tasks end in any order.
      if context.undoScope === authorScope, !authorScope.isGrouping { context.undoScope = nil }
    }
    let result = try await body()
    try await save()
    return result
  }

  /// The next steps to undo and redo, for the items of a menu; observable.
  public var undoStack: UndoStack {
    if let usedUndoStack { return usedUndoStack }
    let stack = UndoStack(self)
    usedUndoStack = stack
    stack.refresh()
    return stack
  }

  /// Whether `undo` has a step to revert, as far as the client knows; observable.
  public var canUndo: Bool { undoStack.canUndo }

  /// Whether `redo` has a step to restore, as far as the client knows; observable.
  public var canRedo: Bool { undoStack.canRedo }

  /// The name of the step that `undo` reverts, for "Undo NAME"; observable. Empty for a step without a name, and
  /// without a step.
  public var undoName: String { undoStack.undoName }

  /// The name of the step that `redo` restores, for "Redo NAME"; observable. Empty for a step without a name, and
  /// without a step.
  public var redoName: String { undoStack.redoName }

  /// An undo stack for `context.undoScope`.
  /// - Parameter id: the id of an existing stack; nil makes a new one.
  public func undoScope(_ id: UniqueID? = nil) -> UndoScope {
    UndoScope(
      id: id ?? UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)),
      after: .random(in: 0 ..< .max >> 1))
  }

  /// Undoes the newest step that is not undone. `committed.conflicts` of the answer lists the values that other authors
  /// have changed since. Those are not reverted.
  ///
  /// The step is the newest one of `context.undoScope`; without a scope, the author's newest one.
  /// - Throws: as `undo(scope:)`.
  @discardableResult
  public func undo() async throws -> SaveResult { try await undo(scope: ownScope) }

  /// Undoes the newest step of a scope that is not undone.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to undo, `conflict` with all conflicts when they prevent
  ///   the entire step; the next undo attempts that step again.
  @discardableResult
  public func undo(scope: UniqueID?) async throws -> SaveResult {
    try await undo { UndoRequest($0, scope: scope) }
  }

  private var ownScope: UniqueID? { stack(of: context.undoScope) }

  /// The id of the stack that a scope of the context selects; nil for all stacks of the author. The scope that
  /// `undoable` sets while its body runs selects no stack.
  private func stack(of scope: UndoScope?) -> UniqueID? {
    scope === usedUndoStack?.authorScope ? nil : scope?.id
  }

  /// Asks for the state of the new scope's stack.
  package func undoScopeDidChange(from old: UndoScope?) {
    if stack(of: old) != ownScope { usedUndoStack?.refresh() }
  }

  /// Undoes the step that a commit of this author belongs to; undoing an undo is a redo.
  /// - Throws: `Refusal`, `conflict` when it is already undone or nothing of it can be reverted.
  @discardableResult
  public func undo(revision: Revision) async throws -> SaveResult {
    try await undo { UndoRequest($0, revision: revision) }
  }

  /// Redoes what the newest undo reverted, unless something else was saved since.
  ///
  /// The step is one of `context.undoScope`; without a scope, of the author.
  /// - Throws: as `redo(scope:)`.
  @discardableResult
  public func redo() async throws -> SaveResult { try await redo(scope: ownScope) }

  /// Redoes what the newest undo of a scope reverted, unless something else was saved since.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal`, `notFound` when there is nothing to redo, `conflict` with all conflicts when they prevent
  ///   the entire step.
  @discardableResult
  public func redo(scope: UniqueID?) async throws -> SaveResult {
    try await undo { UndoRequest($0, scope: scope, redo: true) }
  }

  private func undo(_ request: (TransactionID) -> UndoRequest) async throws -> SaveResult {
    let id = context.newTransactionID()
    context.undo(request(id))
    return try await outcome(of: id)
  }

  /// The next undo and redo steps, for a menu.
  ///
  /// They are those of `context.undoScope`; without a scope, the author's. `undoStack` shows them too when this
  /// returns.
  /// - Throws: `Refusal` when there is no connection.
  public func undoState() async throws -> UndoState {
    let scope = ownScope
    let state = try await undoState(scope: scope)
    if scope == ownScope { usedUndoStack?.receive(state) }
    return state
  }

  /// The next undo and redo steps of a scope.
  /// - Parameter scope: nil for all of the author's scopes as if they were one.
  /// - Throws: `Refusal` when there is no connection.
  public func undoState(scope: UniqueID?) async throws -> UndoState {
    try await reply(to: .undoState(scope: scope)) {
      if case .undoState(let state) = $0 { state } else { nil }
    }
  }
}
