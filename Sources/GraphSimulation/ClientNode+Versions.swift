import GraphModel
import GraphReplica

/// A client of an older version of the model. It says and holds everything in its own words, and is judged by what the lens
/// shows of the store: each image by itself, conditions and orders by looking at those images, never by the lens's own
/// translation of them.
extension ClientNode {
  /// The model of the store.
  var served: Model { lens?.new ?? model }

  /// The cases that its users know.
  var kinds: [String] { lens == nil ? ["red", "green", "blue"] : ["red", "green"] }

  /// A name, a condition or an order in this client's version; nil for a condition that it can't be judged by.
  func own(_ text: String) -> String? { lens == nil ? text : SimulationVersions.older(text) }

  // MARK: - What it sees

  /// What it sees of an object.
  func seen(_ image: ObjectImage) -> ObjectImage? {
    guard let lens else { return image }
    return lens.view(of: image)
  }

  /// What it sees of a graph.
  func seen(_ graph: RecordedGraph) -> RecordedGraph {
    guard lens != nil else { return graph }
    var images = [ObjectID: ObjectImage]()
    for image in graph.images.values { if let image = seen(image) { images[image.id] = image } }
    return RecordedGraph(images: images, model: model)
  }

  /// Whether it holds an object as it is to see it. What changes something that it does not see may go by it: then it
  /// holds the same values of an earlier revision.
  func isCurrent(_ held: ObjectImage?, _ fresh: ObjectImage?) -> Bool {
    guard let held, let fresh else { return held == fresh }
    return lens == nil ? held == fresh : held.values == fresh.values && held.revision <= fresh.revision
  }

  /// Whether it sees something of an object otherwise than it is stored, so that it could not say it back.
  func seesOtherwise(_ stored: ObjectImage) -> Bool {
    guard let lens, let entity = lens.new.entity(stored.id.entity) else { return false }
    return entity.storedProperties.contains { property in
      guard property.isPlainAttribute, let own = lens.view(ofProperty: property.number) else { return false }
      let view = lens.view(of: stored[property], of: property.number)
      return (try? lens.later(view, of: own)) != stored[property]
    }
  }

  // MARK: - What it says

  /// A transaction as the store takes it: what is promised is told in the store's words.
  func inStoreWords(_ transaction: Transaction) -> Transaction {
    guard let lens else { return transaction }
    var nothing = transaction
    nothing.changes = []
    return (try? lens.later(transaction)) ?? nothing
  }

  /// What only runs of two versions have: an estimate, whole in the older one.
  func estimate(_ random: inout SeededRandom) -> String {
    defer { perform() }
    if random.chance(20), let (name, text) = random.pick(SimulationVersions.queries) {
      follow(name, text)
      return "follow \(name) \(text)"
    }
    guard let thing = random.pick(objects("Thing")) else { return "nothing to estimate" }
    let halves = random.below(16) - 3
    let value: Value = lens == nil ? .double(Double(halves) / 2) : .integer(Int64(halves / 2))
    set(thing, "effort", random.chance(15) ? .null : value)
    return random.chance(80) ? save(&random, "estimate") : "estimate without saving"
  }

  // MARK: - What is met

  /// An older client has done something.
  func keepThroughLens(_ happening: Happening) {
    if lens != nil { happened.note(happening) }
  }
}
