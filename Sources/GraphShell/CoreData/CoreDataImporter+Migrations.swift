import CoreDataStore
import GraphModel

/// Values that a migration of the graph has not kept.
///
/// The app still has them, so its rows do not differ from the sent ones: only the graph shows that they are missing.
extension CoreDataImporter {
  /// The name of the graph's model in the mapping. A property can be dropped in one version and return in another, so
  /// the hash alone does not distinguish them.
  private var modelName: String { "\(shell.model.version) \(shell.model.hash)" }

  func recordModel() throws {
    // A user who does not see all objects can't know what a migration has kept.
    if shell.seesPart || mapping.mapping.model == modelName { return }
    try mapping.record([.model(modelName)])
  }

  /// Forgets what was sent for values that a migration since the last import has not kept, so that they are sent again
  /// unless others have changed them.
  ///
  /// A migration keeps a property for all objects of an entity, or for none. So a property was kept if an object that
  /// only imports have changed has a value of it. It was not kept if the migration is the origin of an object's null.
  func forgetLostValues() async throws {
    if mapping.mapping.rows.isEmpty || shell.seesPart || mapping.mapping.model == modelName { return }
    var values = KeptValues()
    for root in shell.model.entities where root.parent == nil {
      let stream = shell.client.images(of: root)
      // A damaged object shows nothing about a migration.
      stream.omitsDamage = true
      for try await chunk in stream {
        for image in chunk { add(image, to: &values) }
      }
    }
    try await findOrigins(&values)
    var renewed = [ImportMapping.Line]()
    for (key, missing) in values.missing {
      let lost = missing.properties.filter { values.isLost($0, missing.entity.number) }
      guard !lost.isEmpty, let known = mapping.mapping.rows[key] else { continue }
      var record = changes.withPresentNames(known.row, missing.entity)
      for property in lost { record.sent[property.name] = nil }
      renewed.append(.row(key, id: known.id, record))
    }
    try mapping.record(renewed)
    try recordModel()
  }

  /// Looks for the origin of nulls of properties about which no object says whether the migration kept them.
  private func findOrigins(_ values: inout KeptValues) async throws {
    for (place, candidates) in values.undecided {
      guard let property = shell.model.property(place.property) else { continue }
      for candidate in candidates {
        let origin: ValueOrigin
        do {
          origin = try await shell.client.why(property, of: candidate.id)
        } catch let refusal as Refusal where [.notFound, .pruned, .unavailable].contains(refusal.code) {
          // It was deleted meanwhile, or its history is pruned or damaged.
          continue
        }
        if origin.kind == .updated, !origin.isReplacedKnown, origin.revision > candidate.sentAt {
          values.lose(property, place.entity)
          break
        }
      }
    }
  }

  private func add(_ image: ObjectImage, to values: inout KeptValues) {
    guard let key = mapping.mapping.keys[image.id.key], let known = mapping.mapping.rows[key],
      let entity = shell.model.entity(image.id.entity)
    else { return }
    for property in entity.properties where property.slot != nil && !changes.isAssigned(property) {
      if values.isKept(property, entity.number) { continue }
      let initial = entity.initialValue(property)
      guard let sent = changes.known(property, entity, known.row), sent != .nothing,
        sent != changes.sent(.value(initial), property)
      else { continue }
      let value = image[property]
      let isUntouched = image.revision <= known.row.revision || mapping.mapping.commits.contains(image.revision)
      if value == initial || value.isNull || value == .objects([]) {
        values.missing[key, default: (entity, [])].properties.append(property)
        values.ask(property, entity.number, image.id, sentAt: known.row.revision, isUntouched)
      } else if isUntouched {
        values.keep(property, entity.number)
      }
    }
  }
}

/// The values of an import that the graph has, and those that it lacks.
private struct KeptValues {
  struct Place: Hashable {
    let property: PropertyNumber
    let entity: EntityNumber
  }

  /// The properties without a value, by row.
  var missing = [ImportMapping.Key: (entity: Entity, properties: [Property])]()
  /// The properties of which an object has a value that an import has sent.
  private var kept = Set<Place>()
  /// The properties of which a migration is the origin of an object's null.
  private var lost = Set<Place>()
  /// Objects that lack a value that an import has sent, with the revision at which it was sent: those that others have
  /// changed since, too.
  private var changed = [Place: [(id: ObjectID, sentAt: Revision)]]()
  /// The others. They are asked for first.
  private var untouched = [Place: [(id: ObjectID, sentAt: Revision)]]()

  /// The objects of a property that are asked for the origin of their null. All lack it for the same reason, unless
  /// users have removed each value.
  private static let questionsAboutOneProperty = 100

  func isKept(_ property: Property, _ entity: EntityNumber) -> Bool {
    kept.contains(Place(property: property.number, entity: entity))
  }

  mutating func keep(_ property: Property, _ entity: EntityNumber) {
    kept.insert(Place(property: property.number, entity: entity))
  }

  /// Whether the migration has not kept a property.
  func isLost(_ property: Property, _ entity: EntityNumber) -> Bool {
    !isKept(property, entity) && lost.contains(Place(property: property.number, entity: entity))
  }

  mutating func lose(_ property: Property, _ entity: EntityNumber) {
    lost.insert(Place(property: property.number, entity: entity))
  }

  mutating func ask(
    _ property: Property, _ entity: EntityNumber, _ id: ObjectID, sentAt revision: Revision, _ isUntouched: Bool
  ) {
    let place = Place(property: property.number, entity: entity)
    func add(_ objects: inout [(id: ObjectID, sentAt: Revision)]) {
      if objects.count < Self.questionsAboutOneProperty { objects.append((id, revision)) }
    }
    if isUntouched { add(&untouched[place, default: []]) } else { add(&changed[place, default: []]) }
  }

  /// The properties of which no object has a value of an import, with objects that lack it.
  var undecided: [(Place, [(id: ObjectID, sentAt: Revision)])] {
    let all = untouched.merging(changed) { $0 + $1 }
    return all.filter { !kept.contains($0.key) }
      .sorted { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }.map { ($0.key, $0.value) }
  }
}
