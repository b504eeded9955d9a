import GraphModel
import GraphReplica

/// A client of an older version of the model. It sends and holds everything in its own version.
///
/// The checks apply the lens to single images only. Predicates and sorts are evaluated on those images, never with
/// the lens's own translation of them.
struct ClientVersion {
  let model: Model
  /// The lens of a client with an older version of the model.
  let lens: ModelLens?

  var isOlder: Bool { lens != nil }

  /// The model of the store.
  var served: Model { lens?.new ?? model }

  /// The cases that the client's version of the model has.
  var kinds: [String] { lens == nil ? ["red", "green", "blue"] : ["red", "green"] }

  /// Translates a name, predicate or sort into this client's version; nil for a predicate that cannot be checked
  /// there.
  func inClientVersion(_ text: String) -> String? { lens == nil ? text : SimulationVersions.older(text) }

  /// Parses a predicate in the names of the store's model; nil if this client's version cannot express it.
  func predicate(_ text: String, of entity: Entity) -> GraphPredicate? {
    guard let text = inClientVersion(text) else { return nil }
    return try? SimulationModel.predicate(text, entity, model)
  }

  // MARK: - Reading through the lens

  /// The object as the client sees it; nil if it is not visible.
  func downgraded(_ image: ObjectImage) -> ObjectImage? {
    guard let lens else { return image }
    return lens.downgraded(image)
  }

  /// The graph as the client sees it.
  func downgraded(_ graph: RecordedGraph) -> RecordedGraph {
    guard lens != nil else { return graph }
    var images = [ObjectID: ObjectImage]()
    for image in graph.images.values { if let image = downgraded(image) { images[image.id] = image } }
    return RecordedGraph(images: images, model: model)
  }

  /// Whether the client holds the current object. A change of invisible properties may not reach the client, which
  /// then holds the same values at an earlier revision.
  func isCurrent(_ held: ObjectImage?, _ fresh: ObjectImage?) -> Bool {
    guard let held, let fresh else { return held == fresh }
    return lens == nil ? held == fresh : held.values == fresh.values && held.revision <= fresh.revision
  }

  /// Whether the client sees a value of the object in a form that it could not write back unchanged.
  func isChangedByLens(_ stored: ObjectImage) -> Bool {
    guard let lens, let entity = lens.new.entity(stored.id.entity) else { return false }
    return entity.storedProperties.contains { property in
      guard property.isPlainAttribute, let own = lens.downgraded(property: property.number) else { return false }
      let view = lens.downgraded(stored[property], of: property.number)
      return (try? lens.upgraded(view, of: own)) != stored[property]
    }
  }

  // MARK: - Writing through the lens

  /// Translates a transaction into the store's version, in which the checks are made.
  func inStoreVersion(_ transaction: Transaction) -> Transaction {
    guard let lens else { return transaction }
    var nothing = transaction
    nothing.changes = []
    return (try? lens.upgraded(transaction)) ?? nothing
  }
}
