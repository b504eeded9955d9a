import CoreDataNames
import GraphModel

/// The names that a store has for the entities and properties of a model.
///
/// A converted model states the names of its parts in the app, also those of earlier versions (``AppNames``). A model
/// without such a sentence about a part has the name in the app, or has the one of the version before in `renamed`. For
/// anything else the caller gives the name. One that the store does not have is a name of an earlier import.
struct StoreNames {
  private let entities: EntityNames
  private var properties = [PropertyNumber: String]()
  /// The properties whose names in the store the caller gave.
  private var givenProperties = Set<PropertyNumber>()
  /// The names of earlier versions that the caller gave.
  private var earlierProperties = [PropertyNumber: String]()
  /// The properties that can have each other's names in the store.
  private var exchangeable = [PropertyNumber: [PropertyNumber]]()
  /// The properties whose present names other properties may have had in the version of the store.
  private var reused = Set<PropertyNumber>()
  /// The properties that are new since the version of the store, in which others had their names.
  private var new = Set<PropertyNumber>()

  /// The name that the caller gives for a part that the store does not have.
  static let none = "none"

  /// - Parameter given: names in the app by names in the model, `Entity` or `Entity.property`.
  /// - Throws: `Refusal` for a name that the model does not have, or if several entities of the model have one name in
  ///   the store.
  init(_ file: CoreDataFile, _ model: Model, given: [String: String]) throws {
    for name in given.keys.sorted() where model.entity(named: name) == nil && Self.property(name, in: model) == nil {
      throw Refusal(.malformed, "the model \(model.name) has no entity or property \(name)")
    }
    entities = try EntityNames(file, model, given: given)
    let places = StorePlaces(file, model, entities.entities)
    for table in file.tables.indices { assign(table, places, given) }
  }

  /// Finds the names of the properties of a table.
  private mutating func assign(_ table: Int, _ places: StorePlaces, _ given: [String: String]) {
    var parts = [PropertyPlaces]()
    var names = [PropertyNumber: [String: String]]()
    for (property, entity) in places.parts(of: table) {
      var candidates = Self.names(of: property, in: entity)
      properties[property.number] = candidates[0]
      if let name = given[places.model.qualifiedName(of: property)] {
        properties[property.number] = name
        if places.place(name, of: property, table) != nil {
          givenProperties.insert(property.number)
          candidates = [name]
        } else if name == Self.none {
          candidates = []
        } else {
          earlierProperties[property.number] = name
        }
      }
      // SQLite ignores the case, so that several names may have one place.
      var found = [(place: String, name: String)]()
      for name in candidates {
        guard let place = places.place(name, of: property, table), !found.contains(where: { $0.place == place })
        else { continue }
        found.append((place, name))
      }
      let present = candidates.first.flatMap { places.place($0, of: property, table) }
      parts.append(
        PropertyPlaces(
          number: property.number, present: present, earlier: found.map(\.place).filter { $0 != present },
          isRenamed: candidates.contains { Self.capitals($0) != Self.capitals(candidates[0]) },
          isGiven: givenProperties.contains(property.number)))
      names[property.number] = Dictionary(found.map { ($0.place, $0.name) }, uniquingKeysWith: { first, _ in first })
    }
    let cached = places.cachedAge(parts)
    let age = cached ?? StoreAge(places.model, parts, isWhole: places.hasAllEntities(of: table))
    if cached == .before { leaveOutNew(&parts, places) }
    // A property with an earlier place only is of an earlier version, so that it comes before a possibly new one.
    let sorted =
      parts.filter(\.isGiven) + parts.filter { !$0.isGiven && !$0.earlier.isEmpty }
      + parts.filter { !$0.isGiven && $0.earlier.isEmpty }
    let possible = sorted.map { part -> (part: PropertyNumber, places: [String]) in
      switch age {
      case .present? where part.present != nil: (part: part.number, places: Array(part.all.prefix(1)))
      case .before?: (part: part.number, places: Array(part.all.suffix(1)))
      default: (part: part.number, places: part.all)
      }
    }
    let room = places.room(possible.flatMap(\.places), table)
    let assignment = NameAssignment(possible, room: room) { number, _ in places.isPresent(number) }
    for (number, place) in assignment.places { properties[number] = names[number]?[place] }
    exchangeable.merge(assignment.exchangeable) { first, _ in first }
    if age == nil { findReused(parts, assignment, places) }
    for (property, _) in places.parts(of: table) where !isGiven(property) && places.isNameOfAnother(property) {
      reused.insert(property.number)
    }
    findShared(parts, assignment, places)
  }

  /// Leaves out the places of properties that are new since the version of the store, in which others had their names.
  private mutating func leaveOutNew(_ parts: inout [PropertyPlaces], _ places: StorePlaces) {
    for (index, part) in parts.enumerated() where !part.isGiven && !part.isRenamed {
      let isTaken = parts.contains { other in
        other.earlier.last != nil && other.earlier.last == part.present && places.areRelated(other.number, part.number)
      }
      guard isTaken, let name = properties[part.number] else { continue }
      parts[index] = PropertyPlaces(number: part.number, present: nil, earlier: [], isRenamed: false, isGiven: false)
      // No column contains a space.
      properties[part.number] = "\(name) (new)"
      new.insert(part.number)
    }
  }

  /// Finds the properties whose names other properties may have had in the version of the store: one has its present
  /// place although the store has a place of its earlier name, too.
  private mutating func findReused(
    _ parts: [PropertyPlaces], _ assignment: NameAssignment<PropertyNumber>, _ places: StorePlaces
  ) {
    let given = Set(parts.filter(\.isGiven).compactMap(\.present))
    let open = parts.filter { !$0.isGiven && !places.isPresent($0.number) }
    for part in open where part.present != nil && assignment.places[part.number] == part.present {
      for place in part.earlier where !given.contains(place) {
        let owners = parts.filter { assignment.places[$0.number] == place }.map(\.number)
        let related = owners.filter { places.areRelated($0, part.number) }
        // A sibling's property of the same name has another column.
        if related.isEmpty, !owners.isEmpty { continue }
        reused.insert(part.number)
        reused.formUnion(related.filter { owner in open.contains { $0.number == owner } })
      }
    }
  }

  /// Finds the many-to-manys of an entity that have the same table, one of them by an earlier name.
  private mutating func findShared(
    _ parts: [PropertyPlaces], _ assignment: NameAssignment<PropertyNumber>, _ places: StorePlaces
  ) {
    for part in parts where !part.isGiven {
      guard let place = assignment.places[part.number], StorePlaces.isJoin(place) else { continue }
      let isShared = parts.contains { other in
        other.number != part.number && assignment.places[other.number] == place
          && (part.present != place || other.present != place) && places.areRelated(other.number, part.number)
      }
      if isShared { reused.insert(part.number) }
    }
  }

  // MARK: - Names in the store

  /// Whether the app may have a property with a name of a model.
  static func isStored(_ name: String, in table: CoreDataFile.RowTable, _ file: CoreDataFile) -> Bool {
    let capitals = capitals(name)
    return table.columns.contains("Z" + capitals)
      || file.joins.contains { $0.columns.contains { JoinColumn($0)?.isNamed(capitals) == true } }
  }

  /// The names that an entity had in earlier versions: the one that the caller gave, and the one in the model.
  func earlierNames(of entity: Entity) -> [String] {
    [entities.earlier[entity.number], entity.renamed].compactMap(\.self)
  }

  /// The names that a property had in earlier versions: the one that the caller gave, and the one in the model.
  func earlierNames(of property: Property) -> [String] {
    [earlierProperties[property.number], property.renamed].compactMap(\.self)
  }

  /// Whether the caller gave the name of a property in the store.
  func isGiven(_ property: Property) -> Bool { givenProperties.contains(property.number) }

  /// Whether the caller said that the store does not have a property.
  func isLeftOut(_ property: Property) -> Bool { properties[property.number] == Self.none }

  /// The properties with which a property may have exchanged its name since the version of the store.
  func exchangeable(_ property: Property) -> [PropertyNumber] { exchangeable[property.number, default: []] }

  /// Whether a property's present name may be that of another one in the version of the store.
  func isReused(_ property: Property) -> Bool { reused.contains(property.number) }

  /// Whether a property is new since the version of the store, in which another one had its name.
  func isNew(_ property: Property) -> Bool { new.contains(property.number) }

  /// The entity of the model with the name of one of the store.
  func entity(_ stored: String) -> Entity? { entities.entities[stored] }

  /// The name of a property in columns and tables.
  func capitals(_ property: Property) -> String {
    Self.capitals(properties[property.number, default: property.name])
  }

  /// A member of a composite has a dot.
  static func capitals(_ name: String) -> String { name.replacing(".", with: "_").uppercased() }

  // MARK: - Names in the app

  /// The names that an entity has, and had in earlier versions, in the app.
  static func names(of entity: Entity) -> [String] {
    names(entity.documentation, entity.name, entity.renamed)
  }

  /// The names that a property has, and had in earlier versions, in the app. The parts of a member's name may have
  /// changed in different versions.
  static func names(of property: Property, in entity: Entity) -> [String] {
    guard let dot = property.name.firstIndex(of: "."),
      let composite = entity.composites.first(where: { $0.name == property.name[..<dot] })
    else { return names(property.documentation, property.name, property.renamed) }
    let outer = AppNames(documentation: composite.documentation)
    let inner = AppNames(documentation: property.documentation)
    if outer == nil, inner == nil { return names("", property.name, property.renamed) }
    let member = String(property.name[property.name.index(after: dot)...])
    let (first, second) = (outer ?? AppNames([composite.name]), inner ?? AppNames([member]))
    return first.names.flatMap { name in second.names.map { "\(name).\($0)" } }
  }

  private static func names(_ documentation: String, _ name: String, _ renamed: String?) -> [String] {
    if let stated = AppNames(documentation: documentation) { return stated.names }
    return [name] + [renamed].compactMap(\.self)
  }

  /// The property of `Entity.property`; nil if the model has none.
  static func property(_ name: String, in model: Model) -> Property? {
    guard let dot = name.firstIndex(of: ".") else { return nil }
    return model.entity(named: String(name[..<dot]))?.property(named: String(name[name.index(after: dot)...]))
  }
}
