import GraphModel

/// The data model that Core Data keeps in a store, in the table `Z_MODELCACHE`: a compressed keyed archive of an
/// NSManagedObjectModel. Stores from before 2016 have no cached model.
package struct CachedModel: Sendable {
  package struct Entity: Sendable {
    package var name: String
    package var parent: String?
    package var isAbstract: Bool
    /// The attributes and relationships, with those of its parents.
    package var attributes = [Attribute]()
    package var relationships = [Relationship]()
    package var unique = [[String]]()
    /// The name in an earlier version; nil if it is the same.
    package var renamed: String?
    package var indexes = [Index]()
  }

  /// A fetch index: its name, and the properties and directions of its elements.
  package struct Index: Sendable {
    package var name: String
    /// The property is nil for an expression.
    package var elements: [(property: String?, isAscending: Bool)]
    /// Whether it has the objects that satisfy a predicate only.
    package var isPartial: Bool
  }

  /// The default of an attribute.
  package enum Default: Hashable, Sendable {
    /// As Xcode's model file has it; that of a date in seconds since 2001.
    case text(String)
    /// An archived object that is not read.
    case archived
  }

  package struct Attribute: Sendable {
    package var name: String
    /// The number of its type, as in `NSAttributeType`.
    package var type: Int64
    package var isOptional: Bool
    package var isTransient: Bool
    /// Whether Core Data computes it. Its expression is not read.
    package var isDerived: Bool
    /// Nil for none.
    package var defaultValue: Default?
    /// The name in an earlier version; nil if it is the same.
    package var renamed: String?
    package var transformer: String?

    /// The type's name, as Xcode's model file has it.
    package var typeName: String { if let name = CachedModel.typeNames[type] { name } else { "type \(type)" } }
  }

  package struct Relationship: Sendable {
    package var name: String
    package var destination: String
    package var inverse: String?
    package var isToMany: Bool
    package var isOrdered: Bool
    package var isOptional: Bool
    /// The number of its delete rule, as in `NSDeleteRule`.
    package var deleteRule: Int64?
    package var minimumCount: Int64?
    package var maximumCount: Int64?
    /// The name in an earlier version; nil if it is the same.
    package var renamed: String?
  }

  package var entities: [Entity]

  /// The maximum size of a model in bytes, decompressed.
  private static let maximumSize = 64 << 20

  private static let typeNames: [Int64: String] = [
    0: "Undefined", 100: "Integer 16", 200: "Integer 32", 300: "Integer 64", 400: "Decimal", 500: "Double",
    600: "Float", 700: "String", 800: "Boolean", 900: "Date", 1000: "Binary", 1100: "UUID", 1200: "URI",
    1800: "Transformable", 2000: "ObjectID", 2100: "Composite",
  ]

  /// Reads the content of `Z_MODELCACHE`; nil if it can't be read.
  package init?(content: [UInt8]) {
    guard let bytes = try? Inflate.decompress(content, limit: Self.maximumSize),
      let list = try? PropertyList(parsing: bytes)
    else { return nil }
    self.init(list)
  }

  /// Reads a keyed archive; nil if it is not one of a model.
  init?(_ list: PropertyList) {
    guard let archive = KeyedArchive(list), let model = archive.object(list["$top"]?["root"]),
      let entities = archive.dictionary(archive.member("NSEntities", of: model))
    else { return nil }
    self.entities = entities.values.compactMap { Self.entity($0, archive) }.sorted { $0.name < $1.name }
    guard !self.entities.isEmpty else { return nil }
  }

  /// The entity of a name.
  package func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

  private static func entity(_ object: PropertyList, _ archive: KeyedArchive) -> Entity? {
    guard let name = archive.string("NSEntityName", of: object) else { return nil }
    let parent = archive.member("NSSuperentity", of: object).flatMap { archive.string("NSEntityName", of: $0) }
    var entity = Entity(name: name, parent: parent, isAbstract: archive.flag("NSIsAbstract", of: object))
    guard let properties = archive.dictionary(archive.member("NSProperties", of: object)) else { return entity }
    for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
      let isOptional = archive.flag("NSIsOptional", of: property)
      if let type = archive.member("NSAttributeType", of: property)?.integerValue {
        entity.attributes.append(
          Attribute(
            name: name, type: type, isOptional: isOptional, isTransient: archive.flag("NSIsTransient", of: property),
            isDerived: archive.className(of: property) == "NSDerivedAttributeDescription",
            defaultValue: archive.defaultValue(of: property),
            renamed: archive.earlierName(of: property, name),
            transformer: archive.string("NSValueTransformerName", of: property)))
      } else if let destination = archive.string("_NSDestinationEntityName", of: property) {
        // 0 is no maximum.
        let maximum = archive.member("NSMaxCount", of: property)?.integerValue
        entity.relationships.append(
          Relationship(
            name: name, destination: destination, inverse: archive.string("_NSInverseRelationshipName", of: property),
            isToMany: maximum != 1, isOrdered: archive.flag("NSIsOrdered", of: property), isOptional: isOptional,
            deleteRule: archive.member("NSDeleteRule", of: property)?.integerValue,
            minimumCount: archive.member("NSMinCount", of: property)?.integerValue, maximumCount: maximum,
            renamed: archive.earlierName(of: property, name)))
      }
    }
    entity.unique = archive.lists("NSUniqueTuples", of: object)
    entity.renamed = archive.earlierName(of: object, name)
    entity.indexes = archive.indexes(of: object)
    return entity
  }
}

/// The objects of a keyed archive (NSKeyedArchiver), which refer to each other by number.
private struct KeyedArchive {
  private let objects: [PropertyList]

  init?(_ list: PropertyList) {
    guard let objects = list["$objects"]?.arrayValue else { return nil }
    self.objects = objects
  }

  /// The object that a reference names, or the value itself; nil for null.
  func object(_ value: PropertyList?) -> PropertyList? {
    guard let value else { return nil }
    guard let number = value.referenceValue else { return value }
    guard objects.indices.contains(number) else { return nil }
    if objects[number].stringValue == "$null" { return nil }
    return objects[number]
  }

  func member(_ name: String, of object: PropertyList) -> PropertyList? { self.object(object[name]) }

  func flag(_ name: String, of object: PropertyList) -> Bool {
    member(name, of: object)?.integerValue.map { $0 != 0 } == true
  }

  /// A string, which may be mutable.
  func string(_ name: String, of object: PropertyList) -> String? {
    let value = member(name, of: object)
    return value?.stringValue ?? value.flatMap { member("NS.string", of: $0)?.stringValue }
  }

  /// The name of an object's class; nil for a value.
  func className(of object: PropertyList) -> String? {
    member("$class", of: object).flatMap { string("$classname", of: $0) }
  }

  /// The default of an attribute; nil for none.
  func defaultValue(of attribute: PropertyList) -> CachedModel.Default? {
    guard let value = member("NSDefaultValue", of: attribute) else { return nil }
    if let text = text(value) { return .text(text) }
    return .archived
  }

  /// A boolean, a number, a string, a date, a UUID or a URL as text; nil for anything else.
  private func text(_ value: PropertyList) -> String? {
    switch value {
    case .bool(let flag): return flag ? "YES" : "NO"
    case .integer(let number): return String(number)
    case .real(let number): return String(number)
    case .string(let text): return text
    default: break
    }
    if let text = string("NS.string", of: value) { return text }
    if case .real(let seconds)? = member("NS.time", of: value) { return String(seconds) }
    if case .data(let bytes)? = member("NS.uuidbytes", of: value) { return UniqueID(bytes: bytes)?.hyphenated }
    if let url = string("NS.relative", of: value), member("NS.base", of: value) == nil { return url }
    return decimal(value)
  }

  /// The text of a decimal whose digits fit into 64 bits; nil for anything else.
  private func decimal(_ value: PropertyList) -> String? {
    guard case .data(let bytes)? = member("NS.mantissa", of: value),
      let count = member("NS.length", of: value)?.integerValue,
      let exponent = member("NS.exponent", of: value)?.integerValue,
      // The bytes of each 16 bits are in the order of an Intel or ARM processor.
      member("NS.mantissa.bo", of: value)?.integerValue == 1,
      (0...4).contains(count), bytes.count >= 2 * Int(count)
    else { return nil }
    let isNegative = flag("NS.negative", of: value)
    // A negative number without digits is not a number.
    if count == 0, isNegative { return nil }
    let digits = bytes.prefix(2 * Int(count)).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return DecimalValue("\(isNegative ? "-" : "")\(digits)e\(exponent)")?.description
  }

  /// The renaming identifier of a part, which is its own name if it has none.
  func earlierName(of object: PropertyList, _ name: String) -> String? {
    string("NSRenamingIdentifier", of: object).flatMap { $0.isEmpty || $0 == name ? nil : $0 }
  }

  /// The fetch indexes of an entity. The archives of predicates and expressions are not read.
  func indexes(of object: PropertyList) -> [CachedModel.Index] {
    guard let list = items(member("NSFetchIndexDescriptions", of: object)) else { return [] }
    return list.compactMap { self.object($0) }.compactMap { index in
      guard let name = string("NSIndexName", of: index), let elements = items(member("NSIndexElements", of: index))
      else { return nil }
      let parts = elements.compactMap { self.object($0) }.map { element in
        (property: string("NSPropertyName", of: element), isAscending: flag("NSAscending", of: element))
      }
      if parts.isEmpty { return nil }
      return CachedModel.Index(
        name: name, elements: parts, isPartial: member("NSPartialIndexPredicate", of: index) != nil)
    }
  }

  /// Lists of strings.
  func lists(_ name: String, of object: PropertyList) -> [[String]] {
    guard let lists = items(member(name, of: object)) else { return [] }
    return lists.map { list in
      guard let strings = items(self.object(list)) else { return [] }
      return strings.compactMap { self.object($0)?.stringValue }
    }
  }

  /// The members of an archived dictionary, also of Core Data's own class, which keeps the keys in a separate mapping.
  func dictionary(_ object: PropertyList?) -> [String: PropertyList]? {
    guard let object else { return nil }
    let keys: [PropertyList]?
    let values: [PropertyList]?
    if object["NS.keys"] != nil {
      (keys, values) = (items(object["NS.keys"]), items(object["NS.objects"]))
    } else {
      keys = items(member("searchMapping", of: object).flatMap { member("keys", of: $0) })
      values = items(member("values", of: object))
    }
    guard let keys, let values else { return nil }
    var members = [String: PropertyList]()
    for (key, value) in zip(keys, values) {
      if let name = self.object(key)?.stringValue, let value = self.object(value) { members[name] = value }
    }
    return members
  }

  /// The items of an array, plain or archived.
  private func items(_ value: PropertyList?) -> [PropertyList]? {
    value?.arrayValue ?? value?["NS.objects"]?.arrayValue
  }
}
