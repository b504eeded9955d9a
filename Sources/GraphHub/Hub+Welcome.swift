import GraphModel
import GraphWire

/// The handshake: checks a client's protocol version, model, identity and resume token.
extension Hub {
  mutating func welcome(_ hello: Hello, _ id: SessionID, _ request: UInt64, _ actions: inout [HubAction]) {
    guard hello.protocolVersion == ProtocolLimits.version else {
      return end(
        id,
        Refusal(
          .notAllowed,
          "the client speaks protocol \(hello.protocolVersion), this server speaks \(ProtocolLimits.version): "
            + "use programs of the same release"), &actions)
    }
    let lens: ModelLens?
    do {
      lens = try self.lens(for: hello.model)
    } catch {
      return end(id, error, &actions)
    }
    guard hello.replica != .zero else {
      return end(id, Refusal(.malformed, "hello must name a replica: sixteen random bytes"), &actions)
    }
    guard hello.author.utf8.count <= ProtocolLimits.maximumAuthorSize, !hello.author.isEmpty else {
      return end(
        id,
        Refusal(
          .malformed,
          "the author has \(hello.author.utf8.count) bytes; 1 to \(ProtocolLimits.maximumAuthorSize) are allowed"),
        &actions)
    }
    sessions[id]?.phase = .open
    sessions[id]?.author = hello.author
    sessions[id]?.replica = hello.replica
    sessions[id]?.lens = lens
    sessions[id]?.lastRequest = request
    let resumed = hello.token.map { $0.store == head.store && $0.revision <= head.revision } ?? false
    let welcome = Welcome(
      model: lens?.old ?? model, head: head, session: id, server: server, resumed: resumed,
      maximumFrameSize: limits.maximumFrameSize, heartbeatMilliseconds: Int(limits.heartbeatMilliseconds))
    send(ToClient(request, .welcome(welcome)), to: id, &actions)
  }
}
