import GraphModel
import GraphReplica
import GraphWire
import NIOCore

/// A connection to a served graph, with a local context that follows it.
///
/// Belongs to the main actor, like the screens that it feeds; sockets are read and written elsewhere. When the
/// connection breaks it is made again, with growing pauses, and the session resumes: no change is missed, none is seen
/// twice, and a save whose reply was lost lands once.
@MainActor
public final class GraphClient {
  /// What to vary when connecting.
  public struct Options: Sendable {
    /// Who commits, as history will have it.
    public var author: String
    /// Name and version, for people who look at the server.
    public var program = ""
    /// After the first connection, a lost one is made again.
    public var reconnects = true
    /// How long one attempt may take.
    public var connectTimeoutMilliseconds: Int64 = 5_000
    /// Pauses between attempts grow from the first to the last, each shortened by a random part.
    public var firstPauseMilliseconds: Int64 = 50
    /// The longest pause.
    public var lastPauseMilliseconds: Int64 = 5_000

    /// The author has 1 to 256 bytes of UTF-8; the server believes it.
    public init(author: String) { self.author = author }
  }

  /// How the connection stands.
  public enum State: Sendable, Equatable {
    /// The first connection is being made.
    case connecting
    /// The server has said welcome.
    case connected
    /// It was lost and is made again; saves wait, questions are refused.
    case reconnecting(attempt: Int)
    /// For good: by `close`, by a server that wants nothing to do with this client, or lost without `reconnects`.
    case closed
  }

  /// Where the server is.
  public let address: ServerAddress
  /// The local graph. Its edits wait there for `save`.
  public let context: ObjectContext
  /// What the server said of itself last; nil before the first connection.
  public private(set) var welcome: Welcome?
  /// How the connection stands now.
  public private(set) var state = State.connecting {
    didSet {
      guard state != oldValue else { return }
      if state == .connected || state == .closed {
        for waiting in reconnected { waiting.resume() }
        reconnected = []
      }
      stateDidChange?(state)
    }
  }
  /// Called when the connection comes or goes.
  public var stateDidChange: ((State) -> Void)?
  /// Called when another session shows something of itself, or has left.
  public var presenceDidChange: ((Presence) -> Void)?

  private let options: Options
  private var transport: Transport?
  /// Events of an older connection are dropped.
  private var connection = 0
  private var opening: CheckedContinuation<Void, any Error>?
  private var saves = [TransactionID: CheckedContinuation<Saved, any Error>]()
  private var replies = [RequestID: ReplyStream]()
  var watches = [QueryID: Watch]()
  var loading = [QueryID: CheckedContinuation<Void, any Error>]()
  var filling = [LoadID: [CheckedContinuation<Void, any Error>]]()
  /// Loads are being collected, to be sent together.
  var isCollecting = false
  private var lastRequest: RequestID = 0
  var lastWatch: QueryID = 1 << 32
  private var ticking: Task<Void, Never>?
  private var reconnecting: Task<Void, Never>?
  /// Who goes on when there is a connection again, or never will be.
  var reconnected = [CheckedContinuation<Void, Never>]()
  /// Waits for what becomes of a new connection.
  private var settled: CheckedContinuation<Void, Never>?
  private lazy var pause = options.firstPauseMilliseconds

  /// Connects and says hello. The first connection is not tried again: whoever asked is there to hear why.
  /// - Throws: `ConnectFailure`, or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: Options
  ) async throws -> GraphClient {
    let client = GraphClient(address: address, model: model, classes: classes, options: options)
    try await client.open()
    return client
  }

  private init(address: ServerAddress, model: Model, classes: [ManagedObject.Type], options: Options) {
    self.address = address
    self.options = options
    context = ObjectContext(model: model, replica: Self.replica(options, model: model.hash), classes: classes)
  }

  /// Takes over a connection that stands: its replica has been welcomed.
  init(
    address: ServerAddress, model: Model, replica: Replica, welcome: Welcome, transport: Transport, options: Options
  ) {
    self.address = address
    self.options = options
    self.transport = transport
    self.welcome = welcome
    context = ObjectContext(model: model, replica: replica)
    connection = Self.firstConnection
    state = .connected
    startTicking()
  }

  /// The number of the first connection, whoever made it.
  static let firstConnection = 1

  static func replica(_ options: Options, model: ModelHash?) -> Replica {
    Replica(
      id: UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)), author: options.author,
      program: options.program, model: model)
  }

  // MARK: - Connection

  private func open() async throws {
    startTicking()
    do {
      try await attach()
    } catch {
      fail(Refusal(.unavailable, "\(error)"))
      throw error
    }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      // The peer may have gone while this was on its way here.
      guard transport != nil else {
        state = .closed
        return continuation.resume(throwing: Refusal(.unavailable, "the server closed the connection"))
      }
      opening = continuation
      handle(.connected)
    }
  }

  private func startTicking() {
    tick()
    ticking = Task { [weak self] in
      while !Task.isCancelled, self != nil {
        try? await Task.sleep(for: .seconds(1))
        self?.tick()
      }
    }
  }

  private func attach() async throws {
    connection += 1
    let number = connection
    let fresh: Transport
    do {
      fresh = try await Transport.connect(to: address, timeoutMilliseconds: options.connectTimeoutMilliseconds) {
        [weak self] event in
        // One batch is under way at a time, so these tasks can't overtake each other.
        Task { @MainActor in self?.take(event, of: number) }
      }
    } catch {
      throw ConnectFailure(address: address, cause: "\(error)")
    }
    // Closed or superseded while it was being made.
    guard number == connection, state != .closed else {
      fresh.close()
      throw ConnectFailure(address: address, cause: "the connection was given up")
    }
    transport = fresh
  }

  func take(_ event: Transport.Event, of number: Int) {
    switch event {
    case .messages(let messages, let resume):
      if number == connection {
        for message in messages { handle(.received(message)) }
      }
      resume()
    case .closed: if number == connection { lost(Refusal(.unavailable, "the server closed the connection")) }
    case .malformed(let reason):
      if number == connection { lost(Refusal(.malformed, "the server said something unreadable: \(reason)")) }
    }
  }

  /// Milliseconds of a clock that never goes back.
  static var uptime: Int64 { Int64(NIODeadline.now().uptimeNanoseconds / 1_000_000) }

  private func tick() { handle(.tick(Self.uptime)) }

  private func lost(_ refusal: Refusal) {
    connection += 1
    transport?.close()
    transport = nil
    handle(.disconnected)
    settle()
    guard state != .closed else { return }
    if opening != nil || !options.reconnects { return fail(refusal) }
    state = .reconnecting(attempt: 1)
    guard reconnecting == nil else { return }
    reconnecting = Task { [weak self] in
      await self?.reconnect()
      self?.reconnecting = nil
    }
  }

  /// Tries until a server says welcome; only that makes the pauses short again.
  private func reconnect() async {
    var attempt = 0
    while state != .closed, state != .connected {
      attempt += 1
      state = .reconnecting(attempt: attempt)
      try? await Task.sleep(for: .milliseconds(Int64.random(in: pause / 2...pause)))
      guard state != .closed else { return }
      pause = min(2 * pause, options.lastPauseMilliseconds)
      guard (try? await attach()) != nil else { continue }
      handle(.connected)
      // Until the welcome comes or the connection goes again.
      await withCheckedContinuation { settled = $0 }
    }
  }

  private func settle() {
    settled?.resume()
    settled = nil
  }

  /// Ends for good: everyone who waits is told why.
  private func fail(_ refusal: Refusal) {
    state = .closed
    settle()
    ticking?.cancel()
    opening?.resume(throwing: refusal)
    opening = nil
    for (_, save) in saves { save.resume(throwing: refusal) }
    saves = [:]
    for (_, reply) in replies { reply.end(refusal) }
    replies = [:]
    for (_, waiting) in loading { waiting.resume(throwing: refusal) }
    loading = [:]
    for load in filling.keys.sorted() { end(load, refusal) }
    for (_, watch) in watches { watch.body(.ended(refusal)) }
    watches = [:]
  }

  /// Says goodbye and closes. Unsaved edits are gone; saves that were not answered may or may not have landed.
  public func close() async {
    guard state != .closed else { return }
    state = .closed
    ticking?.cancel()
    connection += 1
    let transport = transport
    self.transport = nil
    fail(Refusal(.unavailable, "the client was closed"))
    await transport?.closeGracefully()
  }

  // MARK: - Actions

  func handle(_ event: ReplicaEvent) {
    context.handle(event)
    perform()
  }

  /// Does what the context wants done since the last call: for those who follow queries by the context itself, as
  /// controllers do.
  public func perform() {
    for action in context.takeActions() { perform(action) }
  }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let message): send(message)
    case .disconnect(let refusal): lost(refusal)
    case .welcomed(let welcome):
      self.welcome = welcome
      state = .connected
      pause = options.firstPauseMilliseconds
      settle()
      opening?.resume()
      opening = nil
    case .rejected(let refusal): fail(refusal)
    case .saved(let id, let result): saves.removeValue(forKey: id)?.resume(with: result.mapError { $0 as any Error })
    case .loaded(let query, let images, let at):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.loaded(query, images, at: at))
    case .loadedWindow(let query, let rows, let at):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.loadedWindow(query, rows, at: at))
    case .resumed(let query, let since):
      loading.removeValue(forKey: query)?.resume()
      watches[query]?.body(.resumed(query, since: since))
    case .changed(let update): tell(update)
    case .refusedQuery(let query, let refusal):
      loading.removeValue(forKey: query)?.resume(throwing: refusal)
      watches.removeValue(forKey: query)?.body(.ended(refusal))
    case .chunk(let request, let chunk):
      replies[request]?.put(chunk)
      if chunk.end != nil { replies[request] = nil }
    case .answer(let request, let answer):
      replies[request]?.put(answer)
      switch answer {
      case .log(_, last: false), .differences(_, last: false), .progress, .exportHead: break
      default: replies[request] = nil
      }
    case .filled(let load, let refusal): end(load, refusal)
    case .refused(let request, let refusal): replies.removeValue(forKey: request)?.end(refusal)
    case .presence(let session, let author, let state, let left):
      presenceDidChange?(Presence(session: session, author: author, state: left ? nil : state))
    case .diverged:
      var told = Set<ObjectIdentifier>()
      for (_, watch) in watches.sorted(by: { $0.key < $1.key }) where told.insert(ObjectIdentifier(watch)).inserted {
        watch.body(.diverged)
      }
    }
  }

  private func send(_ message: ToServer) {
    let frame = Frame.encode(message)
    let limit = min(Int(clamping: welcome?.maximumFrameSize ?? .max), ProtocolLimits.maximumFrameSize)
    guard frame.count - ProtocolLimits.headerSize <= max(limit, 1 << 16) else {
      // The server would end the connection, and the next one, and the next.
      let refusal = Refusal(.limit, "the request has \(frame.count) bytes; a frame has at most \(limit): split it")
      return context.handle(.received(ToClient(message.request, .refused(refusal))))
    }
    transport?.send(frame)
  }

  /// One call for each watch and commit, with all that the commit did to the watch's queries.
  private func tell(_ update: CommitUpdate) {
    var told = [ObjectIdentifier: (Watch, CommitUpdate)]()
    var order = [ObjectIdentifier]()
    for (query, changes) in update.changes {
      guard let watch = watches[query] else { continue }
      let key = ObjectIdentifier(watch)
      if told[key] == nil {
        told[key] = (
          watch, CommitUpdate(revision: update.revision, time: update.time, author: update.author, changes: [])
        )
        order.append(key)
      }
      told[key]?.1.changes.append((query, changes))
      told[key]?.1.totals[query] = update.totals[query]
    }
    for key in order { if let (watch, update) = told[key] { watch.body(.changed(update)) } }
  }

  // MARK: - Saving

  /// Saves the context's changes as one transaction and waits until they are on the server's disk.
  /// - Returns: nil when there was nothing to save.
  /// - Throws: `Refusal`; the edits are unsaved again then.
  @discardableResult
  public func save(policy: MergePolicy = .error, undo: UndoGroup? = nil) async throws -> Saved? {
    guard let id = context.save(policy: policy, undo: undo) else { return nil }
    return try await answer(to: id)
  }

  /// Commits changes that bypass the context, and waits until they are on the server's disk.
  /// - Throws: `Refusal`; nothing was written then, unless it is `unavailable`, when it may have been.
  public func commit(_ changes: [Change], policy: MergePolicy) async throws -> Saved {
    let id = context.newTransactionID()
    context.handle(.save(Transaction(id: id, policy: policy, changes: changes)))
    return try await answer(to: id)
  }

  func answer(to id: TransactionID) async throws -> Saved {
    guard state != .closed else { throw Refusal(.unavailable, "the client is closed") }
    return try await withCheckedThrowingContinuation { continuation in
      saves[id] = continuation
      perform()
    }
  }

  // MARK: - Reading

  func ask(_ question: Question) -> ReplyStream {
    lastRequest += 1
    let number = lastRequest
    let stream = ReplyStream { [weak self] in self?.handle(.more(number)) }
    guard state != .closed else {
      stream.end(Refusal(.unavailable, "the client is closed"))
      return stream
    }
    replies[number] = stream
    handle(.ask(number, question))
    return stream
  }

  /// The newest commits after a revision and up to another (0: the newest), newest first.
  public func log(after: Revision = 0, through: Revision = 0, limit: Int) async throws -> [CommitEntry] {
    try await log(LogRequest(after: after, limit: UInt64(limit), through: through))
  }

  /// The commits that a log asks for, in its order.
  public func log(_ request: LogRequest) async throws -> [CommitEntry] {
    let stream = ask(.log(request))
    var commits = [CommitEntry]()
    while case .log(let part, let last)? = try await stream.nextAnswer() {
      commits += part
      if last { break }
    }
    return commits
  }

  /// What the server tells of itself.
  /// - Throws: `Refusal` when there is no connection.
  public func status() async throws -> ServerStatus {
    guard case .status(let status)? = try await ask(.status).nextAnswer() else {
      throw Refusal(.unavailable, "the server gave no status")
    }
    return status
  }
}
