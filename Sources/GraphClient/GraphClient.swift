import GraphModel
import GraphReplica
import GraphWire
import Logging
import Metrics
import Tracing

/// A connection to a served graph, with a local context that follows it.
///
/// A client, its context and its objects belong to the actor that made the client: the main actor for screens, any
/// other actor for work in the background. None of them is `Sendable`, so the compiler refuses their use on another
/// actor. Ids of objects are `Sendable` and name the same objects in every client. Sockets are read and written on
/// another thread. A client keeps its actor alive until it is closed.
///
/// The client reconnects after a lost connection, with growing pauses, and resumes the session: no change is missed or
/// delivered twice, and a save whose reply was lost is committed once.
public final class GraphClient {
  /// The options of a connection.
  public struct Options: Sendable {
    /// The author of this client's commits in history.
    public var author: String
    /// The name and version of the program, which the server's status shows.
    public var program = ""
    /// Whether the client reconnects after a lost connection. If not, it does so only to learn the outcome of a commit
    /// whose answer was lost, for `outcomeMilliseconds`.
    public var reconnects = true
    /// The time for which a client that does not reconnect tries to learn the outcome of a commit; 0 to not try.
    public var outcomeMilliseconds: Int64 = 5_000
    /// The timeout of one connection attempt.
    public var connectTimeoutMilliseconds: Int64 = 5_000
    /// The first pause between attempts. Pauses grow up to the last one, each shortened by a random part.
    public var firstPauseMilliseconds: Int64 = 50
    /// The longest pause.
    public var lastPauseMilliseconds: Int64 = 5_000

    /// The settings for the verification of servers, and for refused connections.
    public var security = TransportSecurity()
    /// The token with which the client logs in.
    public var credentials = Credentials.none

    /// The log of the connection's events: made, lost, made again, silent, closed. By default nothing is logged.
    public var logger = Logger(label: "graph-client") { _ in SwiftLogNoOpLogHandler() }
    /// Makes the client's metrics; nil for the factory that the program has bootstrapped before it connects.
    public var metricsFactory: (any MetricsFactory)?
    /// Makes the client's spans; nil for the tracer that the program has bootstrapped before it connects.
    public var tracer: (any Tracer)?

    /// The server of this process to connect to; nil to connect to the address.
    package var localServer: LocalServer?
    /// The id of the stored replica for which the client acts; nil for a new replica.
    package var keptReplica: UniqueID?

    /// Options for an author of 1 to 256 bytes of UTF-8. The server uses it if the client is one of the machine's
    /// owner. Otherwise the author is the user who has logged in.
    public init(author: String) { self.author = author }
  }

  /// The state of the connection.
  public enum State: Sendable, Equatable {
    /// The first connection is being made.
    case connecting
    /// The server has accepted the hello.
    case connected
    /// The connection was lost, and the client is reconnecting. Saves wait, and other requests are refused.
    case reconnecting(attempt: Int)
    /// The client is closed permanently: by `close`, because the server has rejected it, or because the connection was
    /// lost without `reconnects`.
    case closed
  }

  /// The address of the server. That of an embedded graph, or of a replica without its server, stands for its folder.
  public internal(set) var address: ServerAddress
  /// The local graph, which keeps edits until `save`.
  public let context: ObjectContext
  /// The server's last welcome; nil before the first connection.
  public internal(set) var welcome: Welcome?
  /// The author of this client's commits: the name in the server's welcome, or before the welcome the one of the
  /// options.
  public var author: String {
    if let author = welcome?.author, !author.isEmpty { author } else { options.author }
  }
  /// The current state of the connection.
  public internal(set) var state = State.connecting {
    didSet {
      if state == oldValue { return }
      if state == .connected || state == .closed {
        reconnection.endWaits()
      }
      observers.record(state, welcome: welcome, ending: ending)
      stateDidChange?(state)
    }
  }
  /// The reason why the client is closed; nil while it is open.
  public internal(set) var ending: Refusal?
  /// The current state of the connection, and each later one. It ends after `closed`.
  ///
  /// A slow consumer misses older states if 16 wait for it, never the newest.
  public var states: AsyncStream<State> { observers.states.makeStream() }
  /// Called when `state` changes.
  public var stateDidChange: ((State) -> Void)? {
    get { observers.stateHandler }
    set { observers.stateHandler = newValue }
  }
  /// Whether an answer has been due for at least five seconds and the server has sent nothing in this time. The server
  /// may be busy or stopped, or the network is down. After three heartbeats (docs/protocol.md) the connection counts as
  /// lost.
  public internal(set) var isSilent = false {
    didSet {
      if isSilent == oldValue { return }
      observers.record(isSilent: isSilent)
      silenceDidChange?(isSilent)
    }
  }
  /// Called when the server falls silent, and when it sends again.
  public var silenceDidChange: ((Bool) -> Void)? {
    get { observers.silenceHandler }
    set { observers.silenceHandler = newValue }
  }
  /// Called when another session sets its presence, or has ended.
  public var presenceDidChange: ((Presence) -> Void)? {
    get { observers.presenceHandler }
    set { observers.presenceHandler = newValue }
  }
  /// Called when a live query's result lacks damaged objects, before the result is delivered.
  public var damageDidAppear: ((DamageNotice) -> Void)? {
    get { observers.damageHandler }
    set { observers.damageHandler = newValue }
  }

  /// The rights of the client's principal; nil if it may do everything, and before the first connection.
  package var rights: Rights? { welcome.flatMap { Rights(user: $0.principal, $0.grants) } }
  /// Called when the rights have changed, before the changes of live queries that follow from it.
  package var rightsDidChange: (() -> Void)? {
    get { observers.rightsHandler }
    set { observers.rightsHandler = newValue }
  }

  var options: Options
  /// The state of a client that also works without its server.
  var offlineState = OfflineState()
  var observers: ConnectionObservers
  var instruments: ClientInstruments { observers.instruments }
  var transport: Transport?
  /// The number of the current connection; events of an older one are dropped.
  var connection = 0
  var opening: CheckedContinuation<Void, any Error>?
  var commits = UnansweredCommits()
  var replies = [RequestID: OpenReply]()
  var watches = [QueryID: Watch]()
  /// The live queries of sequences and observed results.
  var runningQueries = RunningQueries()
  /// The callers that wait for the first results of queries.
  var loadingQueries = [QueryID: CancellableWait]()
  var loadWaiters = LoadWaiters()
  /// Numbers the requests, and the queries of watches.
  var lastRequest: RequestID = 0
  var alarm = ClientAlarm()
  var reconnection: Reconnection
  /// Calls of other threads on this client.
  let mailbox = Mailbox<GraphClient>()
  /// The actor that this client belongs to.
  var owningActor = OwningActor()
  /// The undo stack, once a program has asked for it.
  var usedUndoStack: UndoStack?

  /// Connects and sends the hello. The first connection is not retried: the caller receives the error.
  /// - Parameter actor: the actor that the client belongs to: the caller's. A caller without an actor can't connect; it
  ///   has `BackgroundContext`.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: Options,
    actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let client = GraphClient(address: address, model: model, classes: classes, options: options)
    client.begin(on: actor)
    try await client.instruments.measure(.connect) { try await client.open() }
    return client
  }

  /// Connects, and closes the client when the body returns or throws, or its task is cancelled.
  ///
  /// A cancellation closes the client: requests of the body that wait are refused, and the call throws
  /// `CancellationError`. A body that returns anyway has its value returned if the server has confirmed all of its
  /// edits; otherwise the call throws `CancellationError`. Unsaved edits are then lost, and a save that was not
  /// answered may have been committed. Without a cancellation, edits that the body leaves unsaved are lost, as with
  /// `close`.
  /// - Throws: `ConnectFailure`, `SecurityFailure` or `Refusal` of the connection, and any error of the body.
  @discardableResult
  public static func withClient<Result>(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: Options,
    actor: isolated any Actor = #isolation, _ body: (GraphClient) async throws -> Result
  ) async throws -> Result {
    try await connect(to: address, model: model, classes: classes, options: options).closeAfter(body)
  }

  /// Connects to a server of any model. The client sends a hello without a model, requests the model file, and uses
  /// that model. From then on the model is fixed: a server with another model refuses this client.
  /// - Throws: `ConnectFailure`, `SecurityFailure`, or a `Refusal`: the server's own, or `notAllowed` for a model that
  ///   can't be used.
  public static func connect(
    to address: ServerAddress, options: Options, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    try await ClientInstruments(options, address: address).measure(.connect) {
      try await ModelHandshake(address: address, options: options).open(on: actor)
    }
  }

  private init(address: ServerAddress, model: Model, classes: [ManagedObject.Type], options: Options) {
    self.address = address
    self.options = options.forNewClient()
    observers = ConnectionObservers(options, address: address)
    reconnection = Reconnection(firstPauseMilliseconds: options.firstPauseMilliseconds)
    context = ObjectContext(model: model, replica: Self.replica(options, model: model.hash), classes: classes)
    context.owner = self
  }

  /// Takes over an established connection whose replica has been welcomed.
  init(
    address: ServerAddress, model: Model, replica: Replica, welcome: Welcome, transport: Transport, options: Options
  ) {
    self.address = address
    self.options = options
    observers = ConnectionObservers(options, address: address)
    self.transport = transport
    self.welcome = welcome
    reconnection = Reconnection(firstPauseMilliseconds: options.firstPauseMilliseconds)
    reconnection.setVerification(transport.verification)
    context = ObjectContext(model: model, replica: replica)
    connection = Self.firstConnection
    state = .connected
    context.owner = self
    observers.record(state, welcome: welcome, ending: nil)
    _ = observers.record(grants: welcome.grants)
  }

  // A client that is released without `close` ends its session.
  deinit {
    mailbox.close()
    alarm.cancel()
    transport?.close()
    observers.end()
  }

  /// The number of the first connection, whether this client made it or took it over.
  static let firstConnection = 1

  static func newReplicaID() -> UniqueID { UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)) }

  static func replica(_ options: Options, model: ModelHash?) -> Replica {
    guard let kept = options.keptReplica else {
      return Replica(id: newReplicaID(), author: options.author, program: options.program, model: model)
    }
    // The stored replica recognizes a copy of itself by its own sequence numbers.
    return Replica(
      id: kept, author: options.author, program: options.program, model: model, lastSequence: .max)
  }
}
