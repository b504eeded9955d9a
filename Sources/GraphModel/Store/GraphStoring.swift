/// The interface between a server and its store. `GraphStore` implements it with SQLite; other engines are possible.
///
/// All calls block, so the caller chooses the thread. `commit` and `prepare` must be called from one thread at a time;
/// reads may run concurrently with them and with each other.
public protocol GraphStoring: Sendable {
  /// The model that the store was created with, or one of equal hash.
  var model: Model { get }
  /// The models of the store's earlier versions, oldest first.
  var olderModels: [Model] { get }
  /// The data directory; the server also keeps the temporary files of large requests there.
  var directory: String { get }
  /// The maximum number of file descriptors that reads and commits open in addition to those that are open now.
  var maximumDescriptors: Int { get }
  /// The newest committed state.
  var head: Token { get throws }

  /// The newest revision of which a client may hold a state that was read with other rules about what users see: the
  /// head when the present rules were first served. 0 if the store has always had them.
  var accessRulesSince: Revision { get }

  /// Commits requests, each all or nothing, with a single sync of the disk. When it returns, all commits are on disk.
  /// A `.batch` is synced separately, and may take minutes.
  /// - Parameter now: the time of the commits, unless the previous commit was later.
  /// - Returns: a result for each request, in order.
  /// - Throws: `StoreFailure` if the disk or the file fails; then none of the requests counts as committed.
  func commit(_ batch: [WriteRequest], now: Timestamp) throws -> [WriteResult]

  /// Plans and writes requests, as `commit` does, but leaves the sync of the disk to `PreparedCommits.finish`, which
  /// may run on another thread while the next requests are prepared. Reads see the commits once they are finished.
  /// - Parameters:
  ///   - group: requests that share a sync; a `.batch` alone.
  ///   - now: the time of the commits, unless the previous commit was later.
  /// - Throws: `StoreFailure` if the disk or the file fails; then none of the requests counts as committed.
  func prepare(_ group: [WriteRequest], now: Timestamp) throws -> PreparedCommits

  /// Executes a fetch within one read transaction, and passes the result to `body` in parts. At a past revision the
  /// cost grows with the number of changes since.
  /// - Parameters:
  ///   - visibility: the class to whose objects the graph is reduced; nil for the whole graph. The other reads have the
  ///     same parameter.
  ///   - isWanted: called repeatedly during the execution, even while nothing is found; false cancels the fetch.
  ///   - body: receives each element and, where the store has encoded an object to verify it, the bytes of its
  ///     message `ObjectImage`, so that an answer does not encode it a second time.
  /// - Returns: the state that was read, and the end of the result.
  /// - Throws: `Refusal` for an invalid request, any error of `body`, and any error after a cancellation.
  func answer(
    _ request: FetchRequest, seenBy visibility: Visibility?, while isWanted: () -> Bool,
    withEncodings body: (_ element: FetchElement, _ encoding: [UInt8]?) throws -> Void
  ) throws -> FetchCompletion

  /// The commits after `after` up to and including `through`, oldest first. They have complete images; a large batch
  /// has its summary.
  /// - Throws: `Refusal(.limit)` if they have more than `maximumChanges` changes or take more than about
  ///   `maximumBytes`, `pruned` if history no longer has them.
  func commits(after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int) throws -> [CommitRecord]

  /// The newest commit at or before a time.
  /// - Throws: `Refusal(.pruned)` if it was pruned.
  func revision(at time: Timestamp) throws -> RevisionAtTime

  /// The steps that undo and redo of a principal would apply to now.
  /// - Parameters:
  ///   - author: the principal's id.
  ///   - scope: nil for all of the principal's stacks together.
  func undoState(of author: String, scope: UniqueID?) throws -> UndoState

  /// Passes the commits of a log to `body`, in the requested order. They have complete images of the requested
  /// changes; a large batch has its summary.
  /// - Parameters:
  ///   - maximumChanges: the maximum number of changes in total.
  ///   - isWanted: called repeatedly while history is read; false cancels the log.
  /// - Returns: the state that was read, and the damage that the log omits.
  /// - Throws: `Refusal(.limit)` before the first commit if there are more changes, or if too much history must be
  ///   read; any error after a cancellation.
  func log(
    _ request: LogRequest, seenBy visibility: Visibility?, maximumChanges: Int, while isWanted: () -> Bool,
    _ body: (CommitRecord) throws -> Void
  ) throws -> AnswerCompletion

  /// The next commits after a token, a bounded number at a time.
  /// - Throws: `Refusal`: `notFound` for a token of another store or another history, `pruned` if history no longer
  ///   has its commits.
  func follow(_ request: FollowRequest, seenBy visibility: Visibility?) throws -> CommitPage

  /// Passes the differences between two states to `body`, object by object.
  /// - Returns: the state that was read, the objects of which one state is unknown, which are omitted, and the damaged
  ///   commits between the states, whose changes are missing.
  func differences(
    _ request: DifferenceRequest, seenBy visibility: Visibility?, _ body: (ObjectDifference) throws -> Void
  ) throws -> AnswerCompletion

  /// The origin of a property's value.
  func origin(of property: PropertyNumber, of id: ObjectID, seenBy visibility: Visibility?) throws -> ValueOrigin

  /// The oldest revision that can be read; 0 unless history was pruned.
  var oldestRevision: Revision { get throws }

  /// Returns the commits that a policy would remove now, without changing anything.
  /// - Parameters:
  ///   - now: the time from which ages are counted, in microseconds since 1970.
  ///   - ceiling: the last revision that may be removed.
  func pruning(_ policy: HistoryPolicy, now: Timestamp, through ceiling: Revision) throws -> HistoryPruning

  /// Removes a slice of history. Only the caller of `commit` may call it, between commits.
  /// - Parameter target: the last revision to remove; the newest commit is always kept.
  /// - Returns: whether there is more to remove.
  func prune(through target: Revision) throws -> Bool

  /// Erases the shown names of principals. History shows their ids instead. Only the caller of `commit` may call it,
  /// between commits.
  func forgetNames(of principals: [String]) throws

  /// The transactions of a client in history; nil if there are none.
  func replica(_ id: UniqueID) throws -> KnownReplica?

  /// Whether the store's history contains this state.
  func recognizes(_ token: Token) throws -> Bool

  /// Includes effects on this query, which has paths through relationships, in commit records from the next batch on.
  /// May be called from any thread; numbers must rise.
  /// - Parameter visibility: the objects that the readers of the query see; nil for all.
  func watch(_ query: LiveQuery, number: UInt64, seenBy visibility: Visibility?)

  /// Removes the query from the effects in commit records.
  func unwatch(_ number: UInt64)

  /// Whether commit records contain the objects to which the changed ones refer, from the next batch on. May be called
  /// from any thread.
  func recordReferences(_ isWanted: Bool)

  /// Checks that the store's files were not moved, replaced or removed, as each commit does. May be called from any
  /// thread.
  /// - Returns: the reason why commits are refused; nil if they are accepted.
  func fileFailure() -> StoreFailure?

  /// Completes work that commits leave for a quiet moment, so that other programs see all commits. May be called from
  /// any thread, about once a second.
  func settle()

  /// Closes the store. Call it when no read or write is running; further calls do nothing.
  func close() throws

  /// The statistics for `stickies status`.
  func statistics() throws -> StoreStatistics

  /// Passes the complete graph to `body`, by entity number, and within an entity by id, at a single state. `begin` is
  /// called first, with this state and the number of objects, damaged ones included.
  /// - Returns: the state, and the damaged objects, which are omitted.
  func export(
    seenBy visibility: Visibility?, begin: (Token, Int) throws -> Void, body: (ObjectImage) throws -> Void
  ) throws -> AnswerCompletion
}

/// A request to the writer.
public indirect enum WriteRequest: Sendable {
  /// A transaction of a principal. Without rights (also in the other cases), everything is permitted.
  case transaction(Transaction, author: Principal, rights: Rights? = nil)
  /// An undo or redo of a step of the principal.
  case undo(UndoRequest, author: Principal, rights: Rights? = nil)
  /// The restore of a past state.
  case restore(RestoreRequest, author: Principal, rights: Rights? = nil)
  /// A change of many objects by one predicate, or of many rows.
  case batch(BatchJob)

  /// The idempotency key.
  public var id: TransactionID {
    switch self {
    case .transaction(let transaction, _, _): transaction.id
    case .undo(let request, _, _): request.id
    case .restore(let request, _, _): request.id
    case .batch(let run): run.batch.id
    }
  }

  /// The principal that makes the request, and its rights.
  package var principal: (author: Principal, rights: Rights?) {
    switch self {
    case .transaction(_, let author, let rights), .undo(_, let author, let rights), .restore(_, let author, let rights):
      (author, rights)
    case .batch(let run): (run.author, run.rights)
    }
  }
}

/// The transactions of a client in history.
public struct KnownReplica: Hashable, Sendable {
  /// The highest sequence number of its committed transactions, including pruned ones.
  public var lastSequence: UInt64
  /// The id of the principal of its newest commit; nil if that commit was pruned.
  public var author: String?

  /// Creates the record of a client.
  public init(lastSequence: UInt64, author: String? = nil) {
    self.lastSequence = lastSequence
    self.author = author
  }
}

/// The result of one write request.
public struct WriteResult: Sendable {
  /// The outcome for the client.
  public var outcome: Outcome
  /// The commit; nil for a refusal, a transaction that was already committed, and a batch without changes.
  public var record: CommitRecord?

  /// Creates a result; a refusal has no record.
  public init(outcome: Outcome, record: CommitRecord?) {
    self.outcome = outcome
    self.record = record
  }
}

/// Commits that a store has written, and that are on disk once `finish` has returned.
public struct PreparedCommits: Sendable {
  private let body: @Sendable () throws -> [WriteResult]

  /// Creates commits that `finish` makes durable.
  public init(finish: @escaping @Sendable () throws -> [WriteResult]) { body = finish }

  /// Makes the commits durable, together with all others that are prepared. Call it once, on any thread, in the order
  /// of `prepare`.
  /// - Returns: a result for each request, in order.
  /// - Throws: `StoreFailure` if the disk or the file fails; then none of the requests counts as committed.
  public func finish() throws -> [WriteResult] { try body() }
}

/// The end of a read that passes everything except damage: a log, differences, or an export.
public struct AnswerCompletion: Hashable, Sendable {
  /// The state that was read.
  public var at: Token
  /// The damaged objects and commits that are missing. A log lists the changes of the objects without values.
  public var damage: DamageNotice

  /// Creates the end of a read of the state `at`.
  public init(at: Token, damage: DamageNotice = DamageNotice()) { (self.at, self.damage) = (at, damage) }
}

/// The statistics of a store for `stickies status`.
public struct StoreStatistics: Sendable, Hashable {
  /// The newest committed state.
  public var head: Token
  /// The path of the folder or file, as a person would type it.
  public var location: String
  /// The size on disk in bytes, with the write-ahead log.
  public var size: Int
  /// The next number of each sequence attribute.
  public var sequences: [(property: PropertyNumber, next: Int64)]
  /// The oldest revision that can be read; 0 unless history was pruned.
  public var oldest: Revision = 0
  /// The reason why commits are refused, for people; empty while they are accepted.
  public var failure = ""
  /// The size of the commit log on disk, in bytes; 0 if each commit is synced in the store itself.
  public var commitLogSize = 0

  /// Creates statistics.
  public init(head: Token, location: String, size: Int, sequences: [(property: PropertyNumber, next: Int64)]) {
    self.head = head
    self.location = location
    self.size = size
    self.sequences = sequences
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.head == right.head && left.oldest == right.oldest && left.failure == right.failure
      && left.commitLogSize == right.commitLogSize
      && left.location == right.location && left.size == right.size
      && left.sequences.map(\.property) == right.sequences.map(\.property)
      && left.sequences.map(\.next) == right.sequences.map(\.next)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(head) }
}

/// A failure of the environment: what failed, why, and what a person can do.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code, for programs; `sentence` is for people.
  public enum Code: String, Sendable {
    /// Another process has opened the store, or writes to the file.
    case inUse
    /// There is no store, or the file is not a store.
    case notAStore
    /// A newer program wrote the store, in an unknown layout.
    case newerVersion
    /// The store or its log is damaged.
    case corrupt
    /// The user has no permission to write the files.
    case readOnly
    /// The disk has no space.
    case full
    /// The files can't be locked, because of the file system or other processes.
    case cannotLock
    /// SQLite's locking protocol failed, so that a lock of this process may be lost.
    case lockLost
    /// A file can't be read or written for another reason.
    case inputOutput
    /// The file system does not allow SQLite to guarantee durable commits.
    case notDurable
    /// The model is not the store's, or is invalid.
    case modelDiffers
    /// A file that would be written already exists, and is not overwritten.
    case alreadyThere
    /// The process, or the system, has too many open files.
    case noDescriptors
    /// The system refused to create another thread.
    case noThreads
    /// An open file was moved, replaced, removed or cut short.
    case moved
  }

  /// The code, for programs.
  public var code: Code
  /// The failed operation, with the path; without a final period.
  public var sentence: String
  /// The message of the system or of SQLite; empty if the sentence is enough.
  public var cause: String
  /// The advice for a person, in complete sentences.
  public var advice: String
  /// Whether the failed commit may be on disk or may still be repeated.
  public private(set) var isOutcomeUnknown = false

  /// Creates a failure for the operator of the machine.
  public init(_ code: Code, _ sentence: String, cause: String = "", advice: String) {
    self.code = code
    self.sentence = sentence
    self.cause = cause
    self.advice = advice
  }

  /// The same failure, for a commit that may be on disk or may still be repeated when the store is opened again.
  public var withUnknownOutcome: StoreFailure {
    var failure = self
    if !isOutcomeUnknown { failure.advice += (advice.isEmpty ? "" : " ") + Self.unknownOutcome }
    failure.isOutcomeUnknown = true
    return failure
  }

  /// The refusal of a request that failed because of this. A principal with rights gets its message without the
  /// sentence, the cause and the advice, which have paths of the machine and are for its owner.
  public var refusal: Refusal {
    let unknown = isOutcomeUnknown ? ". " + Self.unknownOutcome : ""
    var refusal = Refusal(.unavailable, description, isOutcomeUnknown: isOutcomeUnknown)
    refusal.messageWithoutPaths = "\(Self.textWithoutPaths) (\(code.rawValue))\(unknown)"
    return refusal
  }

  /// The sentence about any failure for principals with rights.
  public static let textWithoutPaths = "the server can't use its store; its owner finds the reason in its log"

  private static let unknownOutcome =
    "The change may or may not have been committed; check before you repeat it."

  public var description: String {
    // A list of lines needs no period.
    sentence + (cause.isEmpty ? "" : " (\(cause))") + (sentence.hasSuffix("\n") ? "" : ". ") + advice
  }
}

extension GraphStoring {
  /// The rules never change.
  public var accessRulesSince: Revision { 0 }

  /// Passes the complete graph to `body`, by entity number and id, read within one read transaction.
  /// - Parameters:
  ///   - begin: called once, with the state and the number of objects.
  /// - Returns: the state, and the damaged objects, which are omitted.
  @discardableResult
  public func export(
    _ begin: (Token, Int) throws -> Void = { _, _ in }, _ body: (ObjectImage) throws -> Void
  ) throws -> AnswerCompletion {
    try export(seenBy: nil, begin: begin, body: body)
  }

  /// The commits after `after`, without a limit on their size.
  public func commits(after: Revision, through: Revision?, maximumChanges: Int) throws -> [CommitRecord] {
    try commits(after: after, through: through, maximumChanges: maximumChanges, maximumBytes: .max)
  }

  /// Reads a log of the whole graph.
  public func log(
    _ request: LogRequest, maximumChanges: Int, while isWanted: () -> Bool, _ body: (CommitRecord) throws -> Void
  ) throws -> AnswerCompletion {
    try log(request, seenBy: nil, maximumChanges: maximumChanges, while: isWanted, body)
  }

  /// The next commits of the whole graph after a token.
  public func follow(_ request: FollowRequest) throws -> CommitPage { try follow(request, seenBy: nil) }

  /// Passes the differences between two states of the whole graph to `body`.
  public func differences(
    _ request: DifferenceRequest, _ body: (ObjectDifference) throws -> Void
  ) throws -> AnswerCompletion {
    try differences(request, seenBy: nil, body)
  }

  /// The origin of a property's value in the whole graph.
  public func origin(of property: PropertyNumber, of id: ObjectID) throws -> ValueOrigin {
    try origin(of: property, of: id, seenBy: nil)
  }

  /// Reads a log without a limit or cancellation.
  public func log(_ request: LogRequest, _ body: (CommitRecord) throws -> Void) throws -> AnswerCompletion {
    try log(request, maximumChanges: .max, while: { true }, body)
  }

  /// Executes a fetch, without the encodings of the objects.
  public func answer(
    _ request: FetchRequest, seenBy visibility: Visibility?, while isWanted: () -> Bool,
    _ body: (FetchElement) throws -> Void
  ) throws -> FetchCompletion {
    try answer(request, seenBy: visibility, while: isWanted) { (part, _) in try body(part) }
  }

  /// Executes a fetch of the whole graph.
  public func answer(
    _ request: FetchRequest, while isWanted: () -> Bool, _ body: (FetchElement) throws -> Void
  ) throws -> FetchCompletion {
    try answer(request, seenBy: nil, while: isWanted, body)
  }

  /// Executes a fetch without cancellation.
  public func answer(_ request: FetchRequest, _ body: (FetchElement) throws -> Void) throws -> FetchCompletion {
    try answer(request, while: { true }, body)
  }

  /// Fetches objects within one read transaction.
  /// - Returns: the state that was read.
  public func fetch(_ request: FetchRequest, _ body: (ObjectImage) throws -> Void) throws -> Token {
    try answer(request) { part in
      if case .object(let image) = part { try body(image) }
    }.at
  }

  /// The number of objects after limit and offset, without reading them.
  public func count(_ request: FetchRequest) throws -> (count: Int, at: Token) {
    var request = request
    request.result = .count
    let end = try answer(request) { _ in }
    return (end.count, end.at)
  }
}
