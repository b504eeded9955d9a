import GraphModel

/// Reads a `contents` file. Reading does not stop at a mistake; the log has all of them.
struct CoreDataModelReader {
  private(set) var log: SourceLog
  private(set) var model = CoreDataModel()

  /// Reads a file.
  /// - Parameter file: the path, for messages.
  init(_ bytes: [UInt8], file: String) throws(CoreDataModelError) {
    log = SourceLog(file: file)
    let root: XMLElement
    do {
      root = try XMLReader.parse(bytes)
    } catch {
      throw CoreDataModelError(file, error.place, error.reason)
    }
    guard root.name == "model" else {
      throw CoreDataModelError(
        file, root.place,
        "this is a <\(root.name.excerpt)>, and not a Core Data <model>; give the file contents of "
          + "an .xcdatamodel")
    }
    read(root)
    SourceModelChecker.check(model, &log)
    guard log.mistakes.isEmpty else { throw CoreDataModelError(log.mistakes) }
  }

  private mutating func read(_ root: XMLElement) {
    var fields = ElementFields(root, subject: "")
    model.place = root.place
    reportText(in: root)
    if let identifier = fields.text("userDefinedModelVersionIdentifier") { model.versionIdentifier = identifier }
    let isSynced = "the server synchronizes; an Apple service has no part in it"
    fields.leaveOut("usedWithCloudKit", unless: "NO", because: isSynced, &log)
    fields.leaveOut("usedWithSwiftData", unless: "NO", because: "classes are generated from the model", &log)
    fields.passOver(
      "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
      "macOSVersion", "iOSVersion", "sourceLanguage", log: &log)
    fields.finish(&log)
    for child in root.children {
      switch child.name {
      case "entity": entity(child)
      case "composite": composite(child)
      case "fetchRequest": fetchRequest(child)
      case "configuration": configuration(child)
      case "elements": log.passOver("elements")
      default: leaveOut(child, subject: "")
      }
    }
    log.finishPassedOver(at: root.place)
  }

  /// Reports text between elements; a valid model has none.
  private mutating func reportText(in element: XMLElement) {
    let text = element.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    if !text.isEmpty { log.leaveOut(element.place, "", "the text \"\(text.excerpt)\" in <\(element.name.excerpt)>") }
    for child in element.children { reportText(in: child) }
  }

  /// Reports an element that this converter does not know.
  private mutating func leaveOut(_ element: XMLElement, subject: String) {
    log.leaveOut(element.place, subject, "<\(element.name.excerpt)>: this converter does not know it")
  }

  private mutating func userInfo(_ element: XMLElement, subject: String) {
    for entry in element.children {
      var fields = ElementFields(entry, subject: subject)
      let texts = [fields.text("key"), fields.text("value")].compactMap { $0 }.map { "\"\($0.excerpt)\"" }
      log.leaveOut(entry.place, subject, "the entry \(texts.joined(separator: " = ")) of the user info")
      fields.finish(&log)
    }
  }

  // MARK: - Entities

  private mutating func entity(_ element: XMLElement) {
    var fields = ElementFields(element, subject: "")
    let name = fields.name("name", &log)
    fields = ElementFields(element, subject: name)
    fields.passOver("codeGenerationType", log: &log)
    _ = fields.text("name")
    var entity = CoreDataModel.Entity(
      name: name, parent: fields.word("parentEntity"), isAbstract: fields.flag("isAbstract", &log),
      renamingIdentifier: fields.word("elementID"), attributes: [], relationships: [], place: element.place)
    fields.leaveOut(
      "versionHashModifier", because: "the hash of a version depends on its entities and properties only", &log)
    fields.leaveOut("coreSpotlightDisplayNameExpression", because: "there is no Spotlight", &log)
    fields.leaveOut("syncable", unless: "YES", because: "every entity is served to every client", &log)
    fields.passOver("syncable", log: &log)
    if let place = element.attributes.first(where: { $0.name == "representedClassName" })?.place,
      let full = fields.word("representedClassName"), let last = full.split(separator: ".").last,
      last != "NSManagedObject", last != name
    {
      log.add(.changed, place, name, "the generated class is called as the entity, and not \(last.excerpt)")
    }
    _ = fields.text("representedClassName")
    fields.finish(&log)
    for child in element.children {
      switch child.name {
      case "attribute": entity.attributes.append(attribute(child, in: name))
      case "relationship": entity.relationships.append(relationship(child, in: name))
      case "fetchedProperty": fetchedProperty(child, in: name)
      case "fetchIndex": entity.indexes.append(fetchIndex(child, in: name))
      case "compoundIndexes":
        ElementFields(child, subject: name).finish(&log)
        for (index, elements) in lists(in: child, of: "compoundIndex", each: "index", subject: name) {
          entity.indexes.append(CoreDataModel.Index(elements: elements, place: index.place))
        }
      case "uniquenessConstraints":
        ElementFields(child, subject: name).finish(&log)
        for (key, elements) in lists(in: child, of: "uniquenessConstraint", each: "constraint", subject: name) {
          entity.unique.append((names: elements.compactMap(\.property), place: key.place))
        }
      case "userInfo": userInfo(child, subject: name)
      default: leaveOut(child, subject: name)
      }
    }
    model.entities.append(entity)
  }

  private static let settings = [
    "defaultValueString", "minValueString", "maxValueString", "regularExpressionString", "defaultDateTimeInterval",
    "minDateTimeInterval", "maxDateTimeInterval",
  ]

  private mutating func attribute(_ element: XMLElement, in owner: String) -> CoreDataModel.Attribute {
    var fields = ElementFields(element, subject: owner)
    let name = fields.name("name", &log)
    let subject = "\(owner).\(name)"
    fields = ElementFields(element, subject: subject)
    _ = fields.text("name")
    let isDerived = fields.flag("derived", &log)
    let expression = fields.word("derivationExpression")
    if isDerived, expression == nil { log.mistake(element.place, "\(subject) is derived, but has no expression") }
    var attribute = CoreDataModel.Attribute(
      name: name, type: fields.word("attributeType"), isOptional: fields.flag("optional", &log),
      isTransient: fields.flag("transient", &log), derivation: isDerived ? expression : nil,
      renamingIdentifier: fields.word("elementID"), place: element.place)
    attribute.composite = fields.word("composite")
    for setting in Self.settings { attribute.settings[setting] = fields.setting(setting) }
    attribute.isIndexed = fields.flag("indexed", &log)
    attribute.valueTransformer = fields.word("valueTransformerName")
    attribute.className = fields.word("customClassName")
    fields.leaveOut(
      "allowsExternalBinaryDataStorage", unless: "NO",
      because: "the value is in the database; one transaction has at most 16 MiB", &log)
    fields.leaveOut("allowsCloudEncryption", unless: "NO", because: "values are not encrypted", &log)
    fields.leaveOut("spotlightIndexingEnabled", unless: "NO", because: "there is no Spotlight", &log)
    fields.leaveOut("storedInExternalRecord", unless: "NO", because: "there is no Spotlight", &log)
    fields.leaveOut("ephemeral", unless: "NO", because: "history keeps every stored value", &log)
    fields.leaveOut(
      "versionHashModifier", because: "the hash of a version depends on its entities and properties only", &log)
    fields.leaveOut("syncable", unless: "YES", because: "every stored attribute is served to every client", &log)
    fields.leaveOut(
      "preserveAfterDeletion", unless: "NO",
      because: "there are no tombstones; history keeps every deleted object, with all its values", &log)
    if !isDerived, expression != nil {
      fields.leaveOut("derivationExpression", because: "the attribute is not derived", &log)
    }
    fields.change(
      "attributeType", from: "Float",
      "a Float of 32 bits becomes a double of 64 bits: it keeps more digits, and a program converts it", &log)
    fields.passOver("usesScalarValueType", "syncable", log: &log)
    fields.finish(&log)
    for child in element.children {
      if child.name == "userInfo" { userInfo(child, subject: subject) } else { leaveOut(child, subject: subject) }
    }
    return attribute
  }

  private mutating func relationship(_ element: XMLElement, in owner: String) -> CoreDataModel.Relationship {
    var fields = ElementFields(element, subject: owner)
    let name = fields.name("name", &log)
    let subject = "\(owner).\(name)"
    fields = ElementFields(element, subject: subject)
    _ = fields.text("name")
    var relationship = CoreDataModel.Relationship(
      name: name, destination: fields.name("destinationEntity", &log), inverse: fields.word("inverseName"),
      isToMany: fields.flag("toMany", &log), isOrdered: fields.flag("ordered", &log),
      isOptional: fields.flag("optional", &log), renamingIdentifier: fields.word("elementID"), place: element.place)
    relationship.inverseEntity = fields.word("inverseEntity")
    relationship.deleteRule = fields.word("deletionRule")
    fields.change(
      "deletionRule", from: "No Action",
      "Core Data deletes the object, and leaves the references of others to it; here a delete that would leave one is "
        + "refused", &log)
    relationship.minimumCount = fields.count("minCount", &log)
    relationship.maximumCount = fields.count("maxCount", &log)
    fields.leaveOut(
      "versionHashModifier", because: "the hash of a version depends on its entities and properties only", &log)
    fields.leaveOut("spotlightIndexingEnabled", unless: "NO", because: "there is no Spotlight", &log)
    fields.leaveOut("storedInExternalRecord", unless: "NO", because: "there is no Spotlight", &log)
    fields.leaveOut("syncable", unless: "YES", because: "every relationship is served to every client", &log)
    // A to-one always has an index.
    fields.passOver("indexed", "syncable", log: &log)
    fields.finish(&log)
    for child in element.children {
      if child.name == "userInfo" { userInfo(child, subject: subject) } else { leaveOut(child, subject: subject) }
    }
    return relationship
  }

  private mutating func fetchedProperty(_ element: XMLElement, in owner: String) {
    var fields = ElementFields(element, subject: owner)
    let subject = "\(owner).\(fields.name("name", &log))"
    fields.passOver("optional", "syncable", log: &log)
    fields.finish(&log)
    let request = element.children.first { $0.name == "fetchRequest" }
    let entity = request?.attributes.first { $0.name == "entity" }?.value
    let predicate = request?.attributes.first { $0.name == "predicateString" }?.value
    let words = [entity.map { "fetches \($0.excerpt)" }, predicate.map { "where \($0.excerpt(of: 200))" }]
    log.leaveOut(
      element.place, subject,
      (["a fetched property"] + words.compactMap { $0 }).joined(separator: " ") + "; a program fetches them itself")
    for child in element.children {
      switch child.name {
      case "fetchRequest": continue
      case "userInfo": userInfo(child, subject: subject)
      default: leaveOut(child, subject: subject)
      }
    }
  }
}

// MARK: - Indexes and the model's other parts

extension CoreDataModelReader {
  private mutating func fetchIndex(_ element: XMLElement, in owner: String) -> CoreDataModel.Index {
    var fields = ElementFields(element, subject: owner)
    fields.passOver("name", log: &log)
    fields.leaveOut("partialIndexPredicate", because: "an index has every object", &log)
    fields.finish(&log)
    var elements = [CoreDataModel.Index.Element]()
    for child in element.children {
      var fields = ElementFields(child, subject: owner)
      guard child.name == "fetchIndexElement" else {
        leaveOut(child, subject: owner)
        continue
      }
      elements.append(
        CoreDataModel.Index.Element(
          property: fields.word("property"), expression: fields.word("expression"), type: fields.word("type"),
          place: child.place))
      // SQLite reads an index in both directions.
      fields.passOver("order", "expressionType", log: &log)
      fields.finish(&log)
    }
    return CoreDataModel.Index(elements: elements, place: element.place)
  }

  /// The lists of properties in an element, such as `<compoundIndexes>`: of children with one name, whose children have
  /// the other name and a `value`.
  private mutating func lists(
    in element: XMLElement, of name: String, each item: String, subject: String
  ) -> [(element: XMLElement, items: [CoreDataModel.Index.Element])] {
    var found = [(element: XMLElement, items: [CoreDataModel.Index.Element])]()
    for list in element.children {
      guard list.name == name else {
        leaveOut(list, subject: subject)
        continue
      }
      ElementFields(list, subject: subject).finish(&log)
      var items = [CoreDataModel.Index.Element]()
      for child in list.children {
        guard child.name == item else {
          leaveOut(child, subject: subject)
          continue
        }
        var fields = ElementFields(child, subject: subject)
        items.append(
          CoreDataModel.Index.Element(
            property: fields.name("value", &log), expression: nil, type: nil, place: child.place))
        fields.finish(&log)
      }
      found.append((list, items))
    }
    return found
  }

  private mutating func composite(_ element: XMLElement) {
    var fields = ElementFields(element, subject: "")
    let name = fields.name("name", &log)
    fields = ElementFields(element, subject: name)
    _ = fields.text("name")
    fields.leaveOut(
      "versionHashModifier", because: "the hash of a version depends on its entities and properties only", &log)
    let identifier = fields.word("elementID")
    fields.passOver("syncable", log: &log)
    fields.finish(&log)
    var composite = CoreDataModel.Composite(
      name: name, renamingIdentifier: identifier, attributes: [], place: element.place)
    for child in element.children {
      switch child.name {
      case "attribute": composite.attributes.append(attribute(child, in: name))
      case "userInfo": userInfo(child, subject: name)
      default: leaveOut(child, subject: name)
      }
    }
    model.composites.append(composite)
  }

  private mutating func fetchRequest(_ element: XMLElement) {
    var fields = ElementFields(element, subject: "")
    let name = fields.name("name", &log)
    fields = ElementFields(element, subject: name)
    _ = fields.text("name")
    model.fetchRequests.append(
      CoreDataModel.FetchRequest(
        name: name, entity: fields.name("entity", &log), predicate: fields.word("predicateString"),
        limit: fields.count("fetchLimit", &log), place: element.place))
    fields.leaveOut("resultType", unless: "0", because: "a fetch returns objects", &log)
    fields.leaveOut("includeSubentities", unless: "YES", because: "objects of subentities are always included", &log)
    fields.leaveOut("includesPendingChanges", unless: "NO", because: "a fetch returns committed objects", &log)
    fields.leaveOut("includePropertyValues", unless: "YES", because: "a fetch returns objects", &log)
    fields.leaveOut("returnObjectsAsFaults", unless: "NO", because: "each fetch decides this", &log)
    fields.leaveOut("returnDistinctResults", unless: "NO", because: "objects are distinct", &log)
    fields.leaveOut("fetchBatchSize", unless: "0", because: "each fetch decides this", &log)
    fields.finish(&log)
    for child in element.children { leaveOut(child, subject: name) }
  }

  private mutating func configuration(_ element: XMLElement) {
    var fields = ElementFields(element, subject: "")
    let name = fields.name("name", &log)
    let members = element.children.compactMap { $0.attributes.first { $0.name == "name" }?.value }
    log.leaveOut(
      element.place, name.excerpt,
      "a configuration, with \(members.isEmpty ? "no entity" : members.joined(separator: ", ").excerpt(of: 200)); a "
        + "store has every entity of its model")
    fields.leaveOut("usedWithCloudKit", unless: "NO", because: "an Apple service has no part in it", &log)
    fields.finish(&log)
  }
}
