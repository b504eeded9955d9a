import GraphHub
import GraphModel
import GraphWire

/// A connection of a user with the replica id of another principal. The server must let it neither commit nor learn the
/// outcome of a transaction.
struct ReplicaThief {
  let session: SessionID
  /// The stolen id. Its owner has committed under it, or is about to.
  let replica: UniqueID
  /// The name of the thief's own principal.
  let name: String
  /// Its messages.
  let messages: [[UInt8]]
  /// Frames that the server has sent.
  var received = [[UInt8]]()
  /// Whether the server has ended the session. The id is free for its owner from then on.
  var isClosed = false

  init(
    session: SessionID, replica: UniqueID, user: SimulatedAccounts.User, model: AccessModel, sequences: [UInt64]
  ) {
    (self.session, self.replica, name) = (session, replica, user.principal.name)
    let hello = Hello(
      model: model.model.hash, replica: replica, author: "thief", credential: user.credential)
    var frames = [Frame.encode(ToServer(1, .hello(hello)))]
    // Some of these transactions of the owner exist, and some do not.
    for (index, sequence) in sequences.enumerated() {
      let title = Edit(model.property("Folder", "title").number, .set(.string("stolen")))
      let insert = Change(.insert, .temporary(1, entity: model.entity("Folder").number), edits: [title])
      let id = TransactionID(replica: replica, sequence: sequence)
      frames.append(Frame.encode(ToServer(UInt64(index + 2), .commit(Transaction(id: id, changes: [insert])))))
    }
    messages = frames
  }

  var isRefused: Bool {
    received.contains { frame in
      let messages = try? AccessSimulation.messages(in: frame)
      return messages?.contains { if case .close = $0.body { true } else { false } } == true
    }
  }

  /// Describes a message that the thief must not receive; nil if there is none.
  /// - Parameter owners: the names of the principals that have committed under replica ids.
  func failure(owners: [UniqueID: String]) -> String? {
    // A replica id belongs to a principal from its first commit on.
    guard let owner = owners[replica], owner != name else { return nil }
    for frame in received {
      guard let messages = try? AccessSimulation.messages(in: frame) else { return "the thief can't read a message" }
      for message in messages {
        switch message.body {
        case .close(_, let reason):
          if reason.contains(owner) { return "\(name) learns that \(replica) belongs to \(owner): \(reason)" }
        default: return "\(name) receives \(message) with the replica id of \(owner)"
        }
      }
    }
    return nil
  }
}

/// Thieves and clones.
extension AccessSimulation {
  /// Lets a thief begin, or ends one.
  func actAsThief() -> Bool {
    if random.chance(40), let thief = random.pick(thieves) {
      end(thief)
      return true
    }
    // Some of the transactions under the id have not been committed yet.
    let victims = clients.filter { promises.requested.contains($0.replica) }
    let users = accounts.users.filter(\.mayConnect)
    guard let victim = random.pick(victims), let user = random.pick(users), user.principal.name != victim.principalName
    else { return false }
    // While the victim is connected, the server refuses its id as in use, so the victim is usually disconnected first.
    if random.chance(70) { disconnect(victim) }
    let session = newSession(client: nil)
    trace("user \(user.number) steals the id of client \(victim.number) as session \(session)")
    let sequences = [1, UInt64(1 + random.below(8)), 1_000]
    let thief = ReplicaThief(
      session: session, replica: victim.replica, user: user, model: model, sequences: sequences)
    thieves.append(thief)
    handle(.opened(session, of: .network))
    for message in thief.messages { receive(message, from: session) }
    return true
  }

  /// Ends the connection of a thief.
  func end(_ thief: ReplicaThief) {
    if thief.isRefused { promises.record(.thiefRefused) }
    thieves.removeAll { $0.session == thief.session }
    close(thief.session)
  }

  /// Restarts a client as a copy of another client of the same user, made before the first commit of the original.
  func cloneClient() -> Bool {
    let pairs = clients.flatMap { original in
      clients.filter { copy in
        copy !== original && copy.user != nil && copy.user == original.user
          && copy.principalName == original.principalName
      }.map { (original, $0) }
    }
    guard let (original, copy) = random.pick(pairs), promises.owners[original.replica] == original.principalName else {
      return false
    }
    trace("client \(copy.number) becomes a copy of client \(original.number)")
    disconnect(copy)
    restart(copy, as: original.replica)
    return true
  }
}
