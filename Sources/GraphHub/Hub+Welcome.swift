import GraphModel
import GraphWire

/// The handshake: checks a client's protocol version, model, identity and resume token.
extension Hub {
  mutating func welcome(_ hello: Hello, _ session: Session, _ request: UInt64, _ actions: inout [HubAction]) {
    guard hello.protocolVersion == ProtocolLimits.version else {
      return end(
        session,
        Refusal(
          .notAllowed,
          "the client speaks protocol \(hello.protocolVersion), this server speaks \(ProtocolLimits.version): "
            + "use programs of the same release"), &actions)
    }
    let lens: ModelLens?
    do {
      lens = try self.lens(for: hello.model)
    } catch {
      return end(session, error, &actions)
    }
    guard hello.replica != .zero else {
      return end(session, Refusal(.malformed, "hello must name a replica: sixteen random bytes"), &actions)
    }
    guard hello.author.utf8.count <= ProtocolLimits.maximumAuthorSize, !hello.author.isEmpty else {
      return end(
        session,
        Refusal(
          .malformed,
          "the author has \(hello.author.utf8.count) bytes; 1 to \(ProtocolLimits.maximumAuthorSize) are allowed"),
        &actions)
    }
    session.phase = .open
    session.author = hello.author
    session.replica = hello.replica
    session.lens = lens
    session.lastRequest = request
    var resumed = false
    if let token = hello.token { resumed = token.store == head.store && token.revision <= head.revision }
    let welcome = Welcome(
      model: lens?.old ?? model, head: head, session: session.id, server: server, resumed: resumed,
      maximumFrameSize: limits.maximumFrameSize, heartbeatMilliseconds: Int(limits.heartbeatMilliseconds))
    send(ToClient(request, .welcome(welcome)), to: session, &actions)
  }
}
