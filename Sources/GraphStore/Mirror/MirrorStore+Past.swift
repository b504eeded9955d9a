// Tests: MirrorStoreTests.swift
import GRDB
import GraphModel

/// The past of a mirror, as far as its history reaches.
extension MirrorStore {
  /// Whether an object may have changed since a revision without a commit that the mirror has.
  package func lacksChanges(of id: ObjectID, since revision: Revision) throws -> Bool {
    try inQueue { database in
      let objects = reader(database)
      // The commit of the load names no changes, so the oldest revision in history is below what is known.
      guard let floor = try HistoryFloor.read(objects.connection), revision < floor.revision else { return false }
      return try objects.readImage(of: id).map { $0.revision > revision } != false
    }
  }

  /// The states of the server that the mirror has been in, oldest first.
  package func states() throws -> [Token] {
    try inQueue { try Self.states($0, storeID) }
  }

  private static func states(_ database: Database, _ store: UniqueID) throws -> [Token] {
    try GRDB.Row.fetchAll(database, sql: "SELECT revision, fingerprint FROM _commit ORDER BY revision").map {
      Token(store: store, revision: $0[0], fingerprint: UInt64(bitPattern: $0[1]))
    }
  }

  /// The states of a mirror of any version of the model; none without a mirror that can be read.
  package static func states(at path: String) -> [Token] {
    guard case .store? = try? StoreFiles.kind(of: path), let queue = try? DatabaseQueue(path: path) else { return [] }
    defer { try? queue.close() }
    let found = try? queue.inDatabase { database in
      try database.storeID().map { try states(database, $0) }
    }
    return if let found { found } else { [] }
  }

  /// A text as it was at a revision, with no value as the empty text; nil if the mirror does not have it.
  package func text(_ property: Property, of id: ObjectID, at revision: Revision) throws -> String? {
    try inQueue { database in
      let objects = reader(database)
      guard let image = try objects.readImage(of: id) else {
        // A deleted object as its user saw it, as far as history reaches back.
        let history = HistoryReader(objects: objects)
        guard try revision >= history.oldest() else { return nil }
        let past = ObjectTimeTravelReader(history: history, omitsDamage: true)
        guard let known = try past.readableImage(of: id, at: revision), let image = known else { return nil }
        return if let text = image[property].stringValue { text } else { "" }
      }
      var value = image[property]
      if image.revision > revision {
        let events = try HistoryReader(objects: objects).events(of: image.id, newest: image.revision, after: revision)
        // Without the oldest change the text before it is unknown.
        guard let oldest = events.first, oldest.change.previous <= revision else { return nil }
        for event in events.reversed() {
          if event.change.kind == .inserted { return nil }
          for reversal in event.past.reversals.reversed() where reversal.property == property.number {
            guard let earlier = reversal.applied(to: value) else { return nil }
            value = earlier
          }
        }
      }
      return if let text = value.stringValue { text } else { "" }
    }
  }
}
