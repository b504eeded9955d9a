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

  /// Removes the checksums of values that a migration since the last import has not kept, so that they are sent again
  /// unless others have changed them.
  ///
  /// A migration keeps a property for all objects of an entity, or for none. So a property was not kept if no object
  /// that only imports have changed has a value of it.
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
    var renewed = [ImportMapping.Line]()
    for (key, missing) in values.missing {
      let lost = missing.properties.filter { !values.isKept($0, missing.entity.number) }
      guard !lost.isEmpty, let known = mapping.mapping.rows[key] else { continue }
      var record = changes.withPresentNames(known.row, missing.entity)
      for property in lost { record.sums[property.name] = nil }
      renewed.append(.row(key, id: known.id, record))
    }
    try mapping.record(renewed)
    try recordModel()
  }

  private func add(_ image: ObjectImage, to values: inout KeptValues) {
    guard let key = mapping.mapping.keys[image.id.key], let known = mapping.mapping.rows[key],
      let entity = shell.model.entity(image.id.entity)
    else { return }
    for property in entity.properties where property.slot != nil && !changes.isAssigned(property) {
      if values.isKept(property, entity.number) { continue }
      let initial = entity.initialValue(property)
      guard let sum = changes.known(property, entity, known.row), sum != ImportMapping.Row.empty,
        sum != changes.sum(.value(initial), property)
      else { continue }
      let value = image[property]
      if value == initial || value.isNull || value == .objects([]) {
        values.missing[key, default: (entity, [])].properties.append(property)
      } else if image.revision <= known.row.revision || mapping.mapping.commits.contains(image.revision) {
        values.keep(property, entity.number)
      }
    }
  }
}

/// The values of an import that the graph has, and those that it lacks.
private struct KeptValues {
  private struct Place: Hashable {
    let property: PropertyNumber
    let entity: EntityNumber
  }

  /// The properties without a value, by row.
  var missing = [ImportMapping.Key: (entity: Entity, properties: [Property])]()
  /// The properties of which an object has a value that an import has sent.
  private var kept = Set<Place>()

  func isKept(_ property: Property, _ entity: EntityNumber) -> Bool {
    kept.contains(Place(property: property.number, entity: entity))
  }

  mutating func keep(_ property: Property, _ entity: EntityNumber) {
    kept.insert(Place(property: property.number, entity: entity))
  }
}
