import FreedMemory
import GraphHub
import GraphModel
import GraphWire

/// Runs the hub's reads of the store on a reader's thread.
struct StoreReadRunner: Sendable {
  let store: any GraphStoring
  /// The time after which a fetch that finds nothing is refused.
  let searchLimit: Duration
  /// The lens of the requesting session.
  var lens: ModelLens?
  /// The objects that the requesting session may see; nil for all.
  var visibility: Visibility?
  /// The user of the requesting session.
  var principal = Principal(author: "")
  /// The limits of a fetch; nil for the machine's owner.
  var budget: ReadBudget?

  /// Runs a read and streams its frames into `stream`, until it ends or is cancelled.
  func run(_ request: ReadRequest, _ number: UInt64, into stream: ReadStream) {
    // The read may have been cancelled while it waited for a thread.
    guard stream.isActive else { return }
    do {
      switch request {
      case .translated(let request, let lens):
        var reads = self
        reads.lens = lens
        reads.run(request, number, into: stream)
      case .reduced(let request, let visibility):
        var reads = self
        reads.visibility = visibility
        reads.run(request, number, into: stream)
      case .objects(let fetch): try objects(fetch, number, stream)
      case .message(let message, let author):
        var reads = self
        reads.principal = author
        try reads.answer(message, of: author, number, stream)
      }
    } catch is ReadStream.Cancelled {
    } catch {
      stream.fail(StoreFailure.refusal(of: error))
    }
  }

  /// Answers a message of a principal from the store.
  private func answer(_ message: ToServer.Body, of author: Principal, _ number: UInt64, _ stream: ReadStream) throws {
    switch message {
    case .exportGraph: try graph(number, stream)
    case .log(let log): try self.log(log, number, stream)
    case .undoState(let scope):
      let state = try store.undoState(of: author.id, scope: scope)
      try stream.finish(frame(ToClient(number, .undoState(state))), at: store.head)
    case .revisionAt(let time):
      // All commits were made by now, even if their recorded times are later.
      var found = try store.revision(at: time >= GraphServer.now() ? .max : time)
      // The session may not see any change of the commit.
      if visibility != nil { found.author = "" }
      try stream.finish(frame(ToClient(number, .revisionAt(found))), at: found.head)
    case .why(let id, let property): try why(property, of: id, number, stream)
    case .changes(.follow(let follow)): try self.follow(follow, number, stream)
    case .changes(.differences(let request)): try differences(request, number, stream)
    default: try invariant(false, "the hub passes on the messages that this answers: \(message)")
    }
  }

  private func objects(_ fetch: FetchRequest, _ number: UInt64, _ stream: ReadStream) throws {
    var columns = [RowColumn]()
    if case .rows(let rows) = fetch.result { columns = rows.description(in: store.model) }
    var encoder = ChunkEncoder(request: number, columns: columns)
    var time = SearchTimeLimit(searchLimit, total: budget?.time, from: .now)
    var found = FoundRows(budget)
    do {
      var end = try store.answer(
        fetch, seenBy: visibility, while: { stream.isActive && time.mayContinue(at: .now) }
      ) { part, encoding in
        try found.add(part)
        if let frame = try append(part, encoding, to: &encoder) { try stream.add(frame) }
        time.restart(at: .now)
      }
      end.damage = translated(end.damage)
      try stream.finish(encoder.finish(end), at: end.at)
    } catch  where time.isExceeded {
      // The store's error about an interrupted statement is not the reason.
      throw time.refusal
    }
  }

  /// Reads the objects of an order with one statement and sorts them on this thread, to keep the loop free.
  /// - Parameter size: counts the bytes of an object towards the total of all orders being read; throwing ends the
  ///   read.
  func collect(
    _ fetch: FetchRequest, _ stream: ReadStream, maximumRows: Int, _ size: (Int) throws -> Void
  ) -> Result<CollectedObjects, Refusal> {
    var time = SearchTimeLimit(searchLimit, total: budget?.time, from: .now)
    var images = [ObjectImage]()
    var (fetch, keys) = (fetch, fetch.sort)
    fetch.sort = []
    defer { if images.count >= Self.manyObjects { releaseFreedMemory() } }
    do {
      let end = try store.answer(
        fetch, seenBy: visibility, while: { stream.isActive && time.mayContinue(at: .now) }
      ) { part in
        guard stream.isActive else { throw ReadStream.Cancelled() }
        if case .object(let image) = part {
          guard images.count < maximumRows else { throw Refusal.tooManyRows(maximumRows) }
          try size(image.values.reduce(128) { $0 + $1.approximateSize })
          images.append(image)
        }
        time.restart(at: .now)
      }
      let objects = SortOrder(keys, model: store.model).sortedWithKeys(images)
      return .success(CollectedObjects(objects: objects, at: end.at, damage: end.damage))
    } catch {
      return .failure(time.isExceeded ? time.refusal : StoreFailure.refusal(of: error))
    }
  }

  /// Adds an element to an answer, as the requesting session's lens shows it, and returns the frame of a full chunk.
  /// - Parameter encoding: the encoding of the element without a lens, if it is known.
  func append(_ part: FetchElement, _ encoding: [UInt8]?, to encoder: inout ChunkEncoder) throws -> [UInt8]? {
    guard let lens else { return try encoder.append(part, encoding: encoding) }
    return try lens.downgraded(part).flatMap { try encoder.append($0) }
  }

  func translated(_ damage: DamageNotice) -> DamageNotice { lens?.downgraded(damage) ?? damage }

  /// Encodes a message, translated by the requesting session's lens.
  func frame(_ message: ToClient) -> [UInt8] { Frame.encode(lens?.downgraded(message) ?? message) }

  private func graph(_ number: UInt64, _ stream: ReadStream) throws {
    var encoder = ChunkEncoder(request: number)
    let end = try store.export(seenBy: visibility) { at, objects in
      try stream.add(frame(ToClient(number, .exportHead(ExportHead(at: at, objects: UInt64(objects))))))
    } body: { image in
      if let frame = encoder.append(image) { try stream.add(frame) }
    }
    try stream.finish(encoder.finish(at: end.at, damage: translated(end.damage)), at: end.at)
  }

  func history(after: Revision, through: Revision, limits: HubLimits) -> Result<[CommitRecord], Refusal> {
    do {
      return .success(
        try store.commits(
          after: after, through: through, maximumChanges: limits.historyChanges, maximumBytes: limits.historyBytes))
    } catch {
      return .failure(StoreFailure.refusal(of: error))
    }
  }

  /// Whether the store's history contains this state; false if the store can't be read, so that the client loads its
  /// result again.
  /// The transactions of a client in history; nil if there are none.
  func known(_ replica: UniqueID) -> Result<KnownReplica?, Refusal> {
    do {
      return .success(try store.replica(replica))
    } catch {
      return .failure(StoreFailure.refusal(of: error))
    }
  }

  func recognizes(_ token: Token) -> Bool {
    guard let isKnown = try? store.recognizes(token) else { return false }
    return isKnown
  }
}
