/// What a server needs of a store. `GraphStore` implements it on SQLite; another engine behind it stays possible.
///
/// Every call blocks: the caller picks the thread. `commit` is for one thread at a time; the reads may run beside it
/// and beside each other.
public protocol GraphStoring: Sendable {
  /// The model that the store was made with, or one of equal hash.
  var model: Model { get }
  /// The newest committed state.
  var head: Token { get throws }

  /// Commits requests: each whole or not at all, all of them with one wait for the disk. When it returns, what was
  /// committed is on the disk. A `.batch` among them waits for the disk by itself, and may take minutes.
  /// - Parameter now: the time of the commits, unless the last one was later.
  /// - Returns: a result for each request, in order.
  /// - Throws: `StoreFailure` when the disk or the file fails; then nothing of the batch counts as committed.
  func commit(_ batch: [WriteRequest], now: Timestamp) throws -> [WriteResult]

  /// Answers a fetch inside one read transaction, part by part. Of the past its cost grows with what has changed since.
  /// - Parameter isWanted: asked again and again while the store searches, however long nothing is found; false gives the
  ///   fetch up.
  /// - Returns: the state that all of it was read at, and what comes behind it.
  /// - Throws: `Refusal` for a request that can't be answered, whatever `body` throws, and any error when it was given up.
  func answer(
    _ request: FetchRequest, while isWanted: () -> Bool, _ body: (FetchedPart) throws -> Void
  ) throws -> FetchEnd

  /// The commits after `after` up to and including `through`, oldest first, with whole images; of a large batch its
  /// summary.
  /// - Throws: `Refusal(.limit)` when that is more than `maximumChanges` object changes or takes about more than
  ///   `maximumBytes`, `pruned` when history no longer has it.
  func commits(after: Revision, through: Revision?, maximumChanges: Int, maximumBytes: Int) throws -> [CommitRecord]

  /// The newest commit at or before a time.
  /// - Throws: `Refusal(.pruned)` when it is no longer kept.
  func revision(at time: Timestamp) throws -> DatedRevision

  /// What undo and redo of an author would take now.
  /// - Parameter scope: nil for all of the author's stacks as if they were one.
  func undoState(of author: String, scope: UniqueID?) throws -> UndoState

  /// The commits that a log asks for, in its order, with whole images of the changes that it asks for; of a large batch
  /// its summary.
  /// - Parameters:
  ///   - maximumChanges: so many changes are told at most.
  ///   - isWanted: asked again and again while history is read; false gives the log up.
  /// - Returns: the state that all of it was read at.
  /// - Throws: `Refusal(.limit)` when it would have more changes, before any is told, or when history has to be read too
  ///   far for it; and any error when it was given up.
  func log(
    _ request: LogRequest, maximumChanges: Int, while isWanted: () -> Bool, _ body: (CommitRecord) throws -> Void
  ) throws -> Token

  /// The next commits behind a token, as many as are read at a time.
  /// - Throws: `Refusal`: `notFound` for a token of another store or of another past, `pruned` for one whose
  ///   commits history no longer has.
  func follow(_ request: FollowRequest) throws -> FollowedPart

  /// What two states differ in, object by object.
  /// - Returns: the state that it was read at.
  func differences(_ request: DifferenceRequest, _ body: (ObjectDifference) throws -> Void) throws -> Token

  /// Where the value of a property comes from.
  func origin(of property: PropertyNumber, of id: ObjectID) throws -> ValueOrigin

  /// The oldest state that history can tell: 0 unless it was pruned.
  var oldestRevision: Revision { get throws }

  /// Whether the store was ever in this state.
  func recognizes(_ token: Token) throws -> Bool

  /// From the next batch on, records say what their commits do to this query, which follows paths through relationships.
  /// From any thread; numbers rise.
  func watch(_ query: LiveQuery, number: UInt64)

  /// Records need no longer speak of the query.
  func unwatch(_ number: UInt64)

  /// What `stickies status` tells of the store.
  func statistics() throws -> StoreStatistics

  /// Hands out the whole graph, entity by entity in the order of their numbers, each entity's own objects by id; all of it
  /// as of one state, which `begin` is told first, with the number of objects.
  func export(begin: (Token, Int) throws -> Void, body: (ObjectImage) throws -> Void) throws -> Token
}

/// What the single writer is asked to do.
public enum WriteRequest: Sendable {
  /// `author` is believed: who may say so is the server's affair.
  case transaction(Transaction, author: String)
  /// Take a step of the author's back, or do it again.
  case undo(UndoRequest, author: String)
  /// What was there at a revision is to be there again.
  case restore(RestoreRequest, author: String)
  /// Many objects by one predicate, or many rows.
  case batch(BatchRun)

  /// The idempotency key.
  public var id: TransactionID {
    switch self {
    case .transaction(let transaction, _): transaction.id
    case .undo(let request, _): request.id
    case .restore(let request, _): request.id
    case .batch(let run): run.batch.id
    }
  }
}

/// What became of one request of a batch.
public struct WriteResult: Sendable {
  /// What the client is told.
  public var outcome: Outcome
  /// What was committed; nil for a refusal, for a transaction that had been committed before, and for a batch that changed
  /// nothing.
  public var record: CommitRecord?

  /// What was committed, or a refusal without a record.
  public init(outcome: Outcome, record: CommitRecord?) {
    self.outcome = outcome
    self.record = record
  }
}

/// What `stickies status` tells of a store.
public struct StoreStatistics: Sendable, Hashable {
  /// The newest committed state.
  public var head: Token
  /// The folder or file, as a person would type it.
  public var location: String
  /// Bytes on disk, the write-ahead log included.
  public var size: Int
  /// For each sequence attribute, the number that it gives next.
  public var sequences: [(property: PropertyNumber, next: Int64)]
  /// The oldest state that history can tell: 0 unless it was pruned.
  public var oldest: Revision = 0
  /// Why commits are refused, for people; empty while they are taken.
  public var failure = ""

  /// The numbers of one moment.
  public init(head: Token, location: String, size: Int, sequences: [(property: PropertyNumber, next: Int64)]) {
    self.head = head
    self.location = location
    self.size = size
    self.sequences = sequences
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.head == right.head && left.oldest == right.oldest && left.failure == right.failure
      && left.location == right.location && left.size == right.size
      && left.sequences.map(\.property) == right.sequences.map(\.property)
      && left.sequences.map(\.next) == right.sequences.map(\.next)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(head) }
}

/// The environment fails: what, why, and what a person can do about it.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// For programs; `sentence` is for people.
  public enum Code: String, Sendable {
    /// Another process has the store open, or is writing the file.
    case inUse
    /// There is no store, or the file is none.
    case notAStore
    /// A newer program wrote the store, in a layout that this one does not know.
    case newerVersion
    /// The store or its log is damaged.
    case corrupt
    /// The files can't be written by this user.
    case readOnly
    /// The disk has no room.
    case full
    /// The files can't be locked, by this file system or because others hold them.
    case cannotLock
    /// A lock that this process had was not given back by the system.
    case lockLost
    /// A file can't be read or written for another reason.
    case inputOutput
    /// The file system lets SQLite promise nothing of what is committed.
    case notDurable
    /// The model is not the one that the store was made with, or can't be used.
    case modelDiffers
    /// Something stands where a file is to be written, and is left alone.
    case alreadyThere
    /// This process, or the system, may have no more files open.
    case noDescriptors
    /// The system gives this process no more threads.
    case noThreads
    /// A file that is open was moved, replaced or removed.
    case moved
  }

  /// What kind of failure it is.
  public var code: Code
  /// What failed, with the path; no end mark.
  public var sentence: String
  /// What the system or the file said; empty when the sentence says all.
  public var cause: String
  /// What a person can do about it, in whole sentences.
  public var advice: String

  /// A failure for whoever looks after the machine.
  public init(_ code: Code, _ sentence: String, cause: String = "", advice: String) {
    self.code = code
    self.sentence = sentence
    self.cause = cause
    self.advice = advice
  }

  public var description: String {
    // A list of lines needs no end mark.
    sentence + (cause.isEmpty ? "" : " (\(cause))") + (sentence.hasSuffix("\n") ? "" : ". ") + advice
  }
}

extension GraphStoring {
  /// The whole graph in the order of entity numbers and ids, read inside one read transaction.
  /// - Parameters:
  ///   - begin: called once, with the state and how many objects there are.
  /// - Returns: the state.
  @discardableResult
  public func export(
    _ begin: (Token, Int) throws -> Void = { _, _ in }, _ body: (ObjectImage) throws -> Void
  ) throws -> Token {
    try export(begin: begin, body: body)
  }

  /// The commits after `after`, however large they are.
  public func commits(after: Revision, through: Revision?, maximumChanges: Int) throws -> [CommitRecord] {
    try commits(after: after, through: through, maximumChanges: maximumChanges, maximumBytes: .max)
  }

  /// The commits that a log asks for, to its end.
  public func log(_ request: LogRequest, _ body: (CommitRecord) throws -> Void) throws -> Token {
    try log(request, maximumChanges: .max, while: { true }, body)
  }

  /// Answers a fetch to its end.
  public func answer(_ request: FetchRequest, _ body: (FetchedPart) throws -> Void) throws -> FetchEnd {
    try answer(request, while: { true }, body)
  }

  /// Reads objects inside one read transaction.
  /// - Returns: the state that the objects were read at.
  public func fetch(_ request: FetchRequest, _ body: (ObjectImage) throws -> Void) throws -> Token {
    try answer(request) { part in
      if case .object(let image) = part { try body(image) }
    }.at
  }

  /// How many objects there are, limit and offset applied, without handing them out.
  public func count(_ request: FetchRequest) throws -> (count: Int, at: Token) {
    var request = request
    request.result = .count
    let end = try answer(request) { _ in }
    return (end.count, end.at)
  }
}
