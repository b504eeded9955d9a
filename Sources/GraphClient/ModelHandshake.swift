import GraphModel
import GraphReplica
import GraphWire

/// The handshake of a client that has no model: the hello, then the request for the model file. After it, a
/// `GraphClient` takes over the connection, and the handshake forwards the messages of the socket to it.
final class ModelHandshake {
  private let address: ServerAddress
  private let options: GraphClient.Options
  private var replica: Replica
  private var transport: Transport?
  private var welcome: Welcome?
  /// The caller of `open`, from the hello to the outcome.
  private var opening: CheckedContinuation<Void, any Error>?
  /// A failure before the caller of `open` waited.
  private var failure: Refusal?
  private var ticking: Task<Void, Never>?
  /// The client that took the connection over.
  private weak var client: GraphClient?
  /// The same, until the caller of `open` has it.
  private var made: GraphClient?
  private let mailbox = Mailbox<ModelHandshake>()
  /// Itself, until the connection has ended: the socket knows the mailbox only.
  private var retained: ModelHandshake?

  init(address: ServerAddress, options: GraphClient.Options) {
    self.address = address
    self.options = options
    replica = GraphClient.replica(options, model: nil)
  }

  func open(on actor: isolated any Actor) async throws -> GraphClient {
    let credential = try await options.credentials.current()
    mailbox.run(for: self, on: actor)
    retained = self
    do {
      transport = try await Transport.connect(
        to: address, security: options.security, timeoutMilliseconds: options.connectTimeoutMilliseconds,
        local: options.localServer
      ) { [mailbox] event in
        mailbox.post { $0.receive(event) }
      }
    } catch let failure as SecurityFailure {
      end()
      throw failure
    } catch {
      end()
      throw ConnectFailure(address: address, error: error)
    }
    ticking = Task { [mailbox] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        mailbox.post { $0.handle(.tick(GraphClient.uptime)) }
      }
    }
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      // The peer may have disconnected before this ran.
      if let failure { return continuation.resume(throwing: failure) }
      opening = continuation
      handle(.tick(GraphClient.uptime))
      handle(.credential(credential))
      handle(.connected)
    }
    guard let client = made else { preconditionFailure("a handshake that succeeds has made a client") }
    made = nil
    client.begin(on: actor)
    client.tick()
    return client
  }

  /// Handles the end of the connection.
  private func end() {
    mailbox.close()
    retained = nil
  }

  private func receive(_ event: Transport.Event) {
    if case .closed = event { end() }
    if let client { return client.receive(event, of: GraphClient.firstConnection) }
    switch event {
    case .messages(let messages, let resume):
      for message in messages {
        // Messages after the model in the same batch belong to the client.
        if let client {
          client.receive(.messages([message]) {}, of: GraphClient.firstConnection)
        } else {
          handle(.received(message))
        }
      }
      resume()
    case .closed: fail(Refusal(.unavailable, "the server closed the connection"))
    case .malformed(let reason):
      let what =
        welcome == nil
        ? "the program that listens at \(address) is not a server of this protocol"
        : "the server sent an unreadable message"
      fail(Refusal(.malformed, "\(what): \(reason)"))
    }
  }

  private func handle(_ event: ReplicaEvent) {
    // The client has taken the connection over, or it failed.
    if client != nil || failure != nil { return }
    for action in replica.handle(event) {
      switch action {
      case .send(let message): transport?.write(Frame.encode(message))
      case .welcomed(let welcome):
        self.welcome = welcome
        handle(.request(1, .model))
      case .reply(_, .model(let source, let hash), _): useModel(source, hash)
      case .reply: fail(Replica.unexpectedReply)
      case .copied: fail(Refusal(.unavailable, "the id of this client was used before"))
      case .disconnect(let refusal), .rejected(let refusal), .refused(_, let refusal): fail(refusal)
      default: break
      }
    }
  }

  private func useModel(_ source: String, _ hash: ModelHash) {
    guard let welcome, let transport else { return assertionFailure("a model is answered on a welcomed connection") }
    func refuse(_ reason: String) { fail(Refusal(.notAllowed, "the model that \(address) serves \(reason)")) }
    let model: Model
    do {
      model = try Model(parsing: source.utf8)
    } catch {
      return refuse("can't be read by this program:\n\(error)")
    }
    guard model.hash == welcome.model, hash == welcome.model else {
      return refuse("has the hash \(welcome.model), but its file has \(model.hash): use programs of one release")
    }
    replica.adopt(model.hash)
    let client = GraphClient(
      address: address, model: model, replica: replica, welcome: welcome, transport: transport, options: options)
    (self.client, made) = (client, client)
    finish()?.resume()
  }

  private func fail(_ refusal: Refusal) {
    if client != nil || failure != nil { return }
    failure = refusal
    transport?.close()
    finish()?.resume(throwing: refusal)
  }

  private func finish() -> CheckedContinuation<Void, any Error>? {
    ticking?.cancel()
    transport = nil
    defer { opening = nil }
    return opening
  }
}
