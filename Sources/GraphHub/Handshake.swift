// Tests: LensTests.swift
import GraphModel
import GraphWire

/// Checks the hello of a client: its protocol version, model and identity.
///
/// A client with an older version of the model gets a lens. The lens translates its messages on arrival
/// (`Hub.receive`), and the server's on departure (`SessionSender.send`, and the stream reader for frames that bypass
/// the hub). Everything in between uses the server's version. Live queries with the same lens share their deltas.
struct Handshake {
  private let model: Model
  private let lenses: ModelLenses
  private let limits: HubLimits
  /// A fingerprint of the rules about what users see, for the welcome.
  private let rules: UInt64
  /// The server's name and version, for the welcome and the status.
  let server: String
  /// Whether credentials are verified.
  let authenticates: Bool

  /// - Parameter older: earlier versions of the model.
  init(model: Model, older: [Model], server: String, limits: HubLimits, authenticates: Bool) {
    self.model = model
    lenses = ModelLenses(to: model, from: older)
    rules = Visibility.fingerprint(of: model)
    self.server = server
    self.authenticates = authenticates
    self.limits = limits
  }

  /// Performs the checks that do not depend on the model.
  /// - Throws: `Refusal` if the server can't serve the client.
  func check(_ hello: Hello) throws(Refusal) {
    guard hello.protocolVersion == ProtocolLimits.version else {
      throw Refusal(
        .notAllowed,
        "the client speaks protocol \(hello.protocolVersion), this server speaks \(ProtocolLimits.version): "
          + "use programs of the same release")
    }
    guard hello.replica != .zero else {
      throw Refusal(.malformed, "hello must name a replica: sixteen random bytes")
    }
    guard hello.author.utf8.count <= ProtocolLimits.maximumAuthorSize, !hello.author.isEmpty else {
      throw Refusal(
        .malformed,
        "the author has \(hello.author.utf8.count) bytes; 1 to \(ProtocolLimits.maximumAuthorSize) are allowed")
    }
    guard !Principal.isReserved(hello.author) else {
      throw Refusal(
        .notAllowed,
        "an author can't begin with \(Principal.accountPrefix) or \(Principal.localUserPrefix), which the server "
          + "gives to its own users: use another name")
    }
    guard hello.credential.utf8.count <= ProtocolLimits.maximumCredentialSize else {
      throw Refusal(
        .malformed,
        "the credential has \(hello.credential.utf8.count) bytes; at most \(ProtocolLimits.maximumCredentialSize) are "
          + "allowed")
    }
    guard hello.credential.isEmpty || authenticates else {
      throw Refusal(.notAllowed, "this server has no accounts, and needs no token: log out of it")
    }
  }

  /// The principal of a session without a credential whose hello `check` has accepted.
  func principal(_ hello: Hello, _ peer: Peer) -> Principal {
    switch peer {
    case .owner, .network: Principal(author: hello.author)
    case .user(let principal): principal
    }
  }

  /// The answer to a hello that `check` has accepted.
  /// - Parameter replica: the transactions of the hello's replica; nil if there are none.
  func welcome(
    _ hello: Hello, _ session: Session, _ principal: Principal, head: Token, _ replica: KnownReplica?
  ) -> Welcome {
    var resumed = false
    if let token = hello.token { resumed = token.store == head.store && token.revision <= head.revision }
    // A replica that is not in history has committed nothing: its last sequence number is 0.
    var welcome = Welcome(
      model: session.lens?.old ?? model, head: head, session: session.id, server: server, resumed: resumed,
      maximumFrameSize: limits.maximumFrameSize, heartbeatMilliseconds: Int(limits.heartbeatMilliseconds),
      lastSequence: replica?.lastSequence ?? 0, principal: principal, role: session.role, rights: session.rights)
    if session.rights != nil { welcome.rules = rules }
    return welcome
  }

  /// The lens for a client with this model; nil for the server's own model, and for a client that names no model.
  ///
  /// The refusal names entities and properties, so a credential is verified before.
  /// - Throws: `Refusal` that names both models and the incompatible changes between them.
  func lens(for hash: ModelHash?) throws(Refusal) -> ModelLens? {
    guard let hash, hash != model.hash else { return nil }
    let served = "the server's is \(model.hash) (\(model.name) \(model.version))"
    switch lenses[hash] {
    case .lens(let lens): return lens
    case .unknown:
      throw Refusal(.notAllowed, "the client's model is \(hash), \(served): use a client with the server's model")
    case .none(let old, let problems):
      let shown = problems.all.prefix(Self.shownProblems).map { "\($0.path) \($0.reason)" }.joined(separator: "; ")
      let rest = problems.all.count - Self.shownProblems
      throw Refusal(
        .notAllowed,
        "the client's model is \(hash) (\(old.name) \(old.version)), \(served), and a client of version "
          + "\(old.version) can't handle these changes: \(shown)\(rest > 0 ? "; and \(rest) more" : ""): "
          + "use a client with the server's model")
    }
  }

  private static let shownProblems = 5
}
