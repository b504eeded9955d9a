import GraphModel

extension Model {
  /// The entity of an object that the daemon sent.
  /// - Throws: a refusal if the model, which is the daemon's, does not have it.
  func entity(of id: ObjectID) throws -> Entity {
    if let entity = entity(id.entity) { return entity }
    throw Refusal(.unavailable, "the daemon sent an object of an entity that its model does not have")
  }
}
