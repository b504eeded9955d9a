// Tests: ServerIDTests.swift
import GraphModel

// Objects that a replica has made without its server have ids of the server after they are sent.

extension Replica {
  /// Names objects by their new ids in the predicates of queries, which are sent again with the next connection.
  mutating func assign(_ ids: [ObjectID: ObjectID]) {
    queries.modifyAll { followed in followed.assign(ids) }
  }
}

extension ObjectImage {
  func refers(to ids: [ObjectID: ObjectID]) -> Bool {
    ids[id] != nil || values.contains { $0.objectIDs.contains { ids[$0] != nil } }
  }

  /// Replaces the object's own id, and those of objects to which it refers.
  mutating func replace(_ ids: [ObjectID: ObjectID], in entity: Entity) {
    if let new = ids[id] { id = new }
    for property in entity.storedProperties {
      switch self[property] {
      case .object(let other): if let new = ids[other] { self[property] = .object(new) }
      case .objects(let others):
        let renamed = others.map { ids[$0] ?? $0 }
        // The members of an unordered relationship ascend.
        self[property] = .objects(property.relationship?.isOrdered == true ? renamed : renamed.sorted())
      default: break
      }
    }
  }
}
