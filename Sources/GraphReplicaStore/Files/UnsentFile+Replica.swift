// Tests: UnsentFileTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The state of a replica's synchronization with its server.
package enum SyncState: Sendable, Equatable {
  /// Edits are sent, and others' commits received, when the server can be reached.
  case on
  /// Nothing is sent or received until the user turns it on.
  case off
  /// The mirror is being replaced, and on request the unsent edits are being discarded. `step` is the next step.
  case discarding(step: Int)
  /// Everything is being deleted on the server: the transaction's sequence number, and the revision that the user saw.
  case deleting(sequence: UInt64, revision: Revision)

  var text: String {
    switch self {
    case .on: "on"
    case .off: "off"
    case .discarding(let step): "discarding \(step)"
    case .deleting(let sequence, let revision): "deleting \(sequence) \(revision)"
    }
  }

  init?(text: String) {
    let parts = text.split(separator: " ")
    switch (parts.first, parts.count) {
    case ("on", 1): self = .on
    case ("off", 1): self = .off
    case ("discarding", 2):
      guard let step = Int(parts[1]) else { return nil }
      self = .discarding(step: step)
    case ("deleting", 3):
      guard let sequence = UInt64(parts[1]), let revision = Revision(parts[2]) else { return nil }
      self = .deleting(sequence: sequence, revision: revision)
    default: return nil
    }
  }
}

/// The identity of a replica and the counters of its queue.
extension UnsentFile {
  /// The row of `replica`.
  package struct Replica: Sendable, Equatable {
    /// The id of the replica, which is a part of each transaction's id.
    package var id: UniqueID
    /// The highest sequence number that was assigned under the id.
    package var sequence: UInt64 = 0
    /// The highest sequence number that may have reached the server.
    package var left: UInt64 = 0
    /// The highest number of an intent.
    package var number: Int64 = 0
    /// The provisional numbers that were used.
    package var used: Int64 = 0
    /// The identity of the file, to recognize a copy of it.
    package var identity = FileIdentity(device: 0, inode: 0)
    /// The id of the server's store.
    package var store: UniqueID
    /// The id of the principal on the server.
    package var principal: String
    /// Its shown name.
    package var author: String
    package var state = SyncState.on
    /// How often the queue was adapted to a server that was restored.
    package var restores: Int64 = 0
    /// The scopes that the user wants to have in the copy; nil for everything that the user sees.
    package var kept: KeptScopes?

    /// The user as the server knows it; nil for a server without accounts, to which each program names its user.
    package var account: Principal? {
      Principal.isReserved(principal) ? Principal(id: principal, name: author) : nil
    }

    package init(id: UniqueID, store: UniqueID, principal: String, author: String) {
      (self.id, self.store, self.principal, self.author) = (id, store, principal, author)
    }

    func insert(_ database: Database) throws {
      try database.execute(
        sql: """
          INSERT INTO replica
            (id, sequence, sent, number, used, device, inode, store, principal, author, state, restores, kept)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
          """,
        arguments: [
          Data(id.bytes), Int64(bitPattern: sequence), Int64(bitPattern: left), number, used, identity.device,
          identity.inode, Data(store.bytes), principal, author, state.text, restores, kept.map { Data($0.bytes) },
        ])
    }

    func update(_ database: Database) throws {
      try database.execute(sql: "DELETE FROM replica")
      try insert(database)
    }
  }

  /// The identity and the counters.
  package var replica: Replica { get throws { try read { try Self.replica($0, path) } } }

  static func replica(_ database: Database, _ path: String) throws -> Replica {
    let row = try GRDB.Row.fetchOne(
      database,
      sql: """
        SELECT id, sequence, sent, number, used, device, inode, store, principal, author, state, restores, kept
        FROM replica
        """)
    guard let row, let id = UniqueID(bytes: Array(row[0] as Data)), let store = UniqueID(bytes: Array(row[7] as Data)),
      let state = SyncState(text: row[10])
    else {
      throw StoreFailure(
        .corrupt, "\(path) has no identity", advice: "Keep a copy: it has edits that the server does not have.")
    }
    var replica = Replica(id: id, store: store, principal: row[8], author: row[9])
    replica.sequence = UInt64(bitPattern: row[1])
    replica.left = UInt64(bitPattern: row[2])
    (replica.number, replica.used) = (row[3], row[4])
    (replica.identity, replica.state) = (FileIdentity(device: row[5], inode: row[6]), state)
    replica.restores = row[11]
    // Bytes that are none of keys are no scopes: the next run loads everything.
    replica.kept = (row[12] as Data?).flatMap { KeptScopes(bytes: Array($0)) }
    return replica
  }

  func update(_ database: Database, _ body: (inout Replica) throws -> Void) throws {
    var replica = try Self.replica(database, path)
    try body(&replica)
    try replica.update(database)
  }

  /// Replaces the state.
  package func setState(_ state: SyncState) throws {
    try write { database in try update(database) { $0.state = state } }
  }

  /// Replaces the scopes that the copy is to have.
  package func keep(_ scopes: KeptScopes?) throws {
    try write { database in try update(database) { $0.kept = scopes } }
  }

  /// Adds the scopes of new containers to those of the copy, if it has some only.
  /// - Returns: those that were added.
  package func keep(new containers: [UniqueID]) throws -> [UniqueID] {
    if containers.isEmpty { return [] }
    return try write { database in
      var added = [UniqueID]()
      try update(database) { replica in
        if var kept = replica.kept {
          added = containers.filter { !kept.containers.contains($0) }
          kept.containers.formUnion(added)
          replica.kept = kept
        }
      }
      return added
    }
  }

  /// Assigns the id of the transaction that deletes everything, and makes durable that it may be sent.
  /// - Parameter revision: the revision that the user saw.
  package func beginDelete(at revision: Revision) throws -> TransactionID {
    try write { database in
      var id: TransactionID?
      try update(database) { replica in
        replica.sequence += 1
        replica.left = replica.sequence
        replica.state = .deleting(sequence: replica.sequence, revision: revision)
        id = TransactionID(replica: replica.id, sequence: replica.sequence)
      }
      return try invariant(id, "a delete of everything has an id")
    }
  }

  /// Whether the file is a copy of the replica's own one, or was restored.
  package var isCopy: Bool {
    get throws {
      guard let identity = FileIdentity(path: path) else { return false }
      return try replica.identity != identity
    }
  }

  /// Gives a copy a new replica id. Intents that were not sent get new transaction ids. Sent ones keep their ids, under
  /// which the server may have committed them.
  package func renew(_ id: UniqueID, form: IntentForm) throws {
    try write { database in
      try update(database) { replica in
        precondition(id != replica.id, "the new id of a copy was never used")
        (replica.id, replica.sequence, replica.left) = (id, 0, 0)
        if let identity = FileIdentity(path: path) { replica.identity = identity }
        try Self.forEachEntry(database, form) { entry in
          if var intent = entry.intent, !intent.hasLeft {
            replica.sequence += 1
            intent.transaction = TransactionID(replica: id, sequence: replica.sequence)
            try Self.update(intent, database, form)
          }
        }
      }
    }
  }
}
