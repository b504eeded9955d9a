import GraphModel
import GraphReplica
import GraphWire

/// The production replica of a client without live queries, and its connection.
final class ReplicaConnection {
  let author: String
  private(set) var replica: Replica
  var link = ClientLink()
  /// The reports of the replica, oldest first.
  private var notices = [ReplicaAction]()
  private var lastRequest: RequestID = 0

  /// - Parameter lastSequence: `.max` for a client whose owner recognizes a copy itself.
  init(id: UniqueID, author: String, credential: String, model: Model, lastSequence: UInt64 = 0) {
    self.author = author
    replica = Replica(id: id, author: author, model: model.hash, lastSequence: lastSequence)
    handle(.credential(credential))
  }

  func connect(as session: UInt64) {
    link.connect(as: session)
    handle(.connected)
  }

  func disconnect() {
    if link.session == nil { return }
    link.disconnect()
    handle(.disconnected)
  }

  func handle(_ event: ReplicaEvent) {
    for action in replica.handle(event) {
      guard case .send(let message) = action else {
        notices.append(action)
        continue
      }
      if link.session != nil { link.send(message) }
    }
  }

  /// Sends a request, and returns its number.
  func request(_ body: ToServer.Body) -> RequestID {
    lastRequest += 1
    handle(.request(lastRequest, body))
    return lastRequest
  }

  func takeNotice() -> ReplicaAction? { notices.isEmpty ? nil : notices.removeFirst() }
}
