import GraphModel
import GraphReplica
import GraphWire

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
    /// After the first connection, a lost one is made again. Without it that is done only to learn what became of a commit
    /// whose answer was lost, for `outcomeMilliseconds`.
    public var reconnects = true
    /// How long a client that does not reconnect looks for a server that knows what became of a commit; 0 for not at all.
    public var outcomeMilliseconds: Int64 = 5_000
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
  public internal(set) var welcome: Welcome?
  /// How the connection stands now.
  public internal(set) var state = State.connecting {
    didSet {
      guard state != oldValue else { return }
      if state == .connected || state == .closed {
        for waiting in reconnected { waiting.resume() }
        reconnected = []
      }
      stateDidChange?(state)
    }
  }
  /// Why it is closed for good; nil while it is not.
  public internal(set) var ending: Refusal?
  /// Called when the connection comes or goes.
  public var stateDidChange: ((State) -> Void)?
  /// Whether the server owes an answer for five seconds or more and says nothing meanwhile: it is busy, stopped, or the line
  /// is cut. After three heartbeats (docs/protocol.md) the connection counts as lost.
  public internal(set) var isSilent = false {
    didSet { if isSilent != oldValue { silenceDidChange?(isSilent) } }
  }
  /// Called when the server falls silent, and when it is heard again.
  public var silenceDidChange: ((Bool) -> Void)?
  /// Called when another session shows something of itself, or has left.
  public var presenceDidChange: ((Presence) -> Void)?

  let options: Options
  var transport: Transport?
  /// Events of an older connection are dropped.
  var connection = 0
  var opening: CheckedContinuation<Void, any Error>?
  var saves = [TransactionID: CheckedContinuation<Saved, any Error>]()
  /// Batches and imports that are under way.
  var batches = 0
  /// Until when a client that does not reconnect looks for the outcome of what it has sent; nil while it does not.
  var outcomeDeadline: Int64?
  var replies = [RequestID: ReplyStream]()
  var watches = [QueryID: Watch]()
  var loading = [QueryID: CheckedContinuation<Void, any Error>]()
  var filling = [LoadID: [CheckedContinuation<Void, any Error>]]()
  /// Loads are being collected, to be sent together.
  var isCollecting = false
  var lastRequest: RequestID = 0
  var lastWatch: QueryID = 1 << 32
  /// Sleeps until the alarm rings.
  var ticking: Task<Void, Never>?
  var alarm = Alarm()
  var reconnecting: Task<Void, Never>?
  /// Who goes on when there is a connection again, or never will be.
  var reconnected = [CheckedContinuation<Void, Never>]()
  /// Waits for what becomes of a new connection.
  var settled: CheckedContinuation<Void, Never>?
  lazy var pause = options.firstPauseMilliseconds

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
    tick()
  }

  /// The number of the first connection, whoever made it.
  static let firstConnection = 1

  static func replica(_ options: Options, model: ModelHash?) -> Replica {
    Replica(
      id: UniqueID(high: .random(in: 1 ... .max), low: .random(in: 0 ... .max)), author: options.author,
      program: options.program, model: model)
  }
}
