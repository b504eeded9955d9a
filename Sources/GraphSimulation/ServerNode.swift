import GraphHub
import GraphModel
import GraphStore
import GraphWire

/// The daemon of a simulation: the production hub with a real store.
///
/// Queues with seeded scheduling replace threads and sockets.
struct ServerNode {
  var hub: Hub
  let store: SQLiteStore
  /// Commits that the writer's thread has not taken yet.
  var commits = [(StoreRequestID, WriteRequest)]()
  /// Pending work of the other threads.
  var jobs = [Job]()
  /// Events that the writer's thread and the hub's own reader have submitted to the event loop.
  var inbox = [HubEvent]()
  var streams = [StoreRequestID: Stream]()
  /// Outputs that the readers' threads have submitted to the event loop, in order. The loop interleaves them with
  /// `inbox` at random: a commit may come between a frame of a read and the read's end.
  var outputs = [Output]()
  /// Rows of batches that have not been requested yet, or that wait.
  var keptRows = [StoreRequestID: MemoryRowSource]()
  /// The batches that were cancelled.
  var cancelled = Set<StoreRequestID>()
  private let bug: PlantedBug?
  /// Set in a run with accounts.
  struct AccountsMode { let bug: AccessBug? }
  private let accounts: AccountsMode?
  /// The revision to prune to, while slices remain.
  var pruning: Revision?
  /// The highest committed sequence numbers of replicas, as far as this node has committed them.
  private(set) var sequences = [UniqueID: UInt64]()
  /// The sessions that the hub does not read from.
  var paused = Set<SessionID>()

  enum Job {
    case read(StoreRequestID, ReadRequest, SessionID, UInt64)
    case collect(StoreRequestID, FetchRequest, Visibility?)
    case history(StoreRequestID, Revision, Revision)
    case recognize(StoreRequestID, Token)
    case statistics(StoreRequestID)
    case head
  }

  /// The frames of a read, corresponding to `ReadStream`.
  struct Stream {
    let session: SessionID
    /// All frames but the last; `result` has the last one.
    var frames: [[UInt8]]
    let result: Result<ReadCompletion, Refusal>
    var credit = 2
    /// Whether its end has been submitted to the event loop.
    var isFinished = false

    var isRefused: Bool { if case .failure = result { true } else { false } }

    init(session: SessionID, frames: [[UInt8]], at token: Token) {
      precondition(!frames.isEmpty, "a read has no last frame")
      (self.session, self.frames) = (session, frames.dropLast())
      result = .success(ReadCompletion(at: token, lastFrame: frames[frames.count - 1]))
    }

    init(session: SessionID, refusal: Refusal) {
      (self.session, frames, result) = (session, [], .failure(refusal))
    }
  }

  /// An output of a stream, corresponding to `ReadStream.Output`.
  enum Output {
    case frame([UInt8], of: StoreRequestID, to: SessionID)
    case finished(StoreRequestID, Result<ReadCompletion, Refusal>)
  }

  /// So small that every limit is reached.
  static let limits: HubLimits = {
    var limits = HubLimits()
    limits.sessionBacklog = 6_000
    limits.resumeBacklog = 1_500
    limits.totalBacklog = 12_000
    limits.guaranteedBacklog = 500
    limits.ringCommits = 12
    limits.historyChanges = 60
    limits.outstandingRequests = 8
    limits.concurrentReads = 3
    limits.idleOrders = 2
    return limits
  }()

  /// So small that most answers have several chunks.
  static let chunkSize = 400

  /// - Parameters:
  ///   - older: versions of the model whose clients are served through lenses.
  ///   - accounts: whether clients have accounts, with the bug that is planted there.
  init(store: SQLiteStore, older: [Model], bug: PlantedBug?, accounts: AccountsMode? = nil) throws {
    self.store = store
    self.bug = bug
    self.accounts = accounts
    hub = Hub(
      model: store.model, older: older, head: try store.head, limits: Self.limits, authenticates: accounts != nil,
      accessRulesSince: store.accessRulesSince)
    hub.forgetsRemovals = bug == .lostRemoval
  }

  /// Commits some of the waiting requests in groups, as the writer and the finishing thread do: each group is prepared
  /// before the earlier ones are finished.
  /// - Parameters:
  ///   - sizes: the number of requests in each group.
  ///   - reads: whether a read comes between, which makes the store finish what is prepared.
  mutating func write(groups sizes: [Int], reads: Bool, now: Timestamp, faultPlan: BatchFaultPlan) {
    var groups = [(batch: [(StoreRequestID, WriteRequest)], prepared: Result<PreparedCommits, any Error>)]()
    for size in sizes {
      let batch = Array(commits.prefix(size))
      commits.removeFirst(batch.count)
      let requests = batch.map { withFaultPlan($0.1, $0.0, faultPlan) }
      groups.append((batch, Result { try store.prepare(requests, now: now) }))
      if reads { _ = try? store.head }
    }
    for (batch, prepared) in groups {
      do {
        var results = try prepared.get().finish()
        if bug == .unreportedBatch {
          for index in results.indices {
            guard var record = results[index].record, var summary = record.summary else { continue }
            summary.entities = []
            record.summary = summary
            results[index].record = record
          }
        }
        for case let id? in results.map(\.record?.transaction) {
          sequences[id.replica] = max(id.sequence, sequences[id.replica, default: 0])
        }
        // A batch is the last request.
        if case .batch? = batch.last?.1 {
          for (ticket, progress) in faultPlan.reports { inbox.append(.batchProgress(ticket, progress)) }
        }
        inbox.append(.committed(zip(batch, results).map { (ticket: $0.0, result: $1) }))
      } catch {
        let failure = error as? StoreFailure ?? StoreFailure(.inputOutput, "\(error)", advice: "")
        inbox.append(.commitFailed(batch.map(\.0), failure))
      }
    }
  }

  mutating func run(_ job: Job) {
    switch job {
    case .read(let ticket, let request, let session, let number):
      streams[ticket] = read(request, session, number)
      release(ticket)
    case .collect(let ticket, let fetch, let visibility): collect(ticket, fetch, visibility)
    case .history(let ticket, let after, let through):
      do {
        let records = try store.commits(after: after, through: through, maximumChanges: Self.limits.historyChanges)
        inbox.append(.history(ticket, .success(records)))
      } catch {
        inbox.append(.history(ticket, .failure(error as? Refusal ?? Refusal(.unavailable, "\(error)"))))
      }
    case .recognize(let ticket, let token):
      inbox.append(.recognized(ticket, (try? store.recognizes(token)) ?? false))
    case .statistics(let ticket): inbox.append(.statistics(ticket, ServerStatus()))
    case .head: inbox.append(.foundHead(try? store.head))
    }
  }

  /// Reads the objects of an order in slices, between which other events may occur.
  private mutating func collect(_ ticket: StoreRequestID, _ fetch: FetchRequest, _ visibility: Visibility?) {
    var images = [ObjectImage]()
    do {
      let at = try store.answer(fetch, seenBy: visibility, while: { true }) { part in
        if case .object(let image) = part { images.append(image) }
      }.at
      let order = SortOrder(fetch.sort, model: store.model)
      let objects = images.map { SortedObject(image: $0, key: order.values(of: $0)) }
      for start in stride(from: 0, to: objects.count, by: 7) {
        inbox.append(.collected(ticket, Array(objects[start..<min(start + 7, objects.count)])))
      }
      inbox.append(.collectFinished(ticket, .success(at)))
    } catch {
      let refusal = error as? Refusal ?? Refusal(.unavailable, "\(error)")
      inbox.append(.collectFinished(ticket, .failure(refusal)))
    }
  }

  private func read(_ request: ReadRequest, _ session: SessionID, _ number: UInt64) -> Stream {
    if let accounts { return read(request, session, number, accounts.bug) }
    var frames = [[UInt8]]()
    var (request, lens) = (request, ModelLens?.none)
    if case .translated(let inner, let through) = request { (request, lens) = (inner, through) }
    do {
      if case .message(.changes(.follow(let follow)), _) = request {
        // A replica only checks whether the store recognizes its token.
        let part = try store.follow(follow)
        let frame = Frame.encode(ToClient(number, .followed([], at: part.at, head: part.head)))
        return Stream(session: session, frames: [frame], at: part.at)
      }
      if case .message(.undoState(let scope), let author) = request {
        let frame = Frame.encode(ToClient(number, .undoState(try store.undoState(of: author.id, scope: scope))))
        return Stream(session: session, frames: [frame], at: try store.head)
      }
      guard case .objects(var fetch) = request else { throw Refusal(.malformed, "no log here") }
      if bug == .pastOfToday { fetch.at = nil }
      // Only loads fetch by id; live queries fetch by their own predicates.
      if bug == .forgottenFault, fetch.at == nil, fetch.predicate.namesIDs { fetch.predicate = .never }
      var encoder = ChunkEncoder(request: number, chunkSize: Self.chunkSize)
      let end = try store.answer(fetch) { part in
        if let part = downgraded(part, through: lens), let frame = try encoder.append(part) { frames.append(frame) }
      }
      frames.append(encoder.finish(end))
      return Stream(session: session, frames: frames, at: end.at)
    } catch {
      let refusal = error as? Refusal ?? Refusal(.unavailable, "\(error)")
      return Stream(session: session, refusal: refusal)
    }
  }

  private func downgraded(_ part: FetchElement, through lens: ModelLens?) -> FetchElement? {
    guard let lens else { return part }
    guard bug == .unsettledRead, case .object(let image) = part, var view = lens.downgraded(image) else {
      return lens.downgraded(part)
    }
    // The planted bug: cases that the older version does not have are sent unchanged.
    for property in lens.old.storedProperties(of: view.id.entity)
    where property.attribute?.kind == .enumeration {
      guard let stored = (try? lens.upgraded(property: property.number)).flatMap({ lens.new.property($0) }) else {
        continue
      }
      view[property] = image[stored]
    }
    return .object(view)
  }

  /// Passes the frames that the client has requested to the event loop.
  mutating func release(_ ticket: StoreRequestID) {
    guard var stream = streams[ticket], !stream.isFinished else { return }
    while stream.credit > 0, !stream.frames.isEmpty {
      outputs.append(.frame(stream.frames.removeFirst(), of: ticket, to: stream.session))
      stream.credit -= 1
    }
    if stream.frames.isEmpty, stream.credit > 0 || stream.isRefused {
      stream.isFinished = true
      if bug == .lastChunkPastTheHub, case .success(let end) = stream.result {
        outputs.append(.frame(end.lastFrame, of: ticket, to: stream.session))
        outputs.append(.finished(ticket, .success(ReadCompletion(at: end.at, lastFrame: []))))
      } else {
        outputs.append(.finished(ticket, stream.result))
      }
    }
    streams[ticket] = stream
  }

  /// Cancels a read that may not have begun yet. The frames that it has submitted are dropped, too.
  mutating func cancelRead(_ ticket: StoreRequestID) {
    streams[ticket] = nil
    jobs.removeAll { if case .read(ticket, _, _, _) = $0 { true } else { false } }
  }

  /// Whether a thread has submitted something that the event loop has not handled yet.
  var hasSubmissions: Bool { !inbox.isEmpty || !outputs.isEmpty }

  /// Takes one output of the readers' threads, as the event loop does.
  /// - Returns: a frame that bypasses the hub, or an event for the hub; nil for a cancelled read.
  mutating func takeOutput() -> (frame: (SessionID, [UInt8])?, event: HubEvent?)? {
    switch outputs.removeFirst() {
    case .frame(let frame, let ticket, let session):
      return streams[ticket] == nil ? nil : ((session, frame), nil)
    case .finished(let ticket, let result):
      return streams.removeValue(forKey: ticket) == nil ? nil : (nil, .readFinished(ticket, result))
    }
  }
}

extension GraphPredicate {
  /// Whether the predicate is a list of ids only.
  fileprivate var namesIDs: Bool {
    guard case .comparison(let comparison) = self else { return false }
    return comparison.comparator == .in && comparison.path == Path(end: .identifier)
  }
}
