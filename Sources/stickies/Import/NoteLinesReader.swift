import GraphModel
import GraphShell
import StickiesKit
import StickiesModel

/// Reads the project's own JSON Lines, as `export` writes them.
enum NoteLinesReader {
  static func read(_ bytes: [UInt8], file: String, into batch: inout ImportBatch) {
    var objects = [(place: String, json: JSON)]()
    for line in LineBuffer.lines(of: bytes) {
      let place = "\(file):\(line.number)"
      do {
        var replaced = 0
        objects.append((place, try JSON(repairing: line.bytes, replaced: &replaced)))
        batch.skip(place, replaced: replaced)
      } catch {
        // Nothing of a broken file is imported, so that a later run of the complete file is one import.
        return batch.skip(file, "line \(line.number) is not JSON (\(error)); nothing of the file was imported")
      }
    }
    if let first = objects.first?.json, first["$graph"] != nil {
      return batch.skip(file, "this is an export of a whole graph; stickies graph import reads it into an empty store")
    }
    var names = [ByteKey: String]()
    for (_, json) in objects {
      if let id = json["id"]?.stringValue, let name = boardOrTagName(json) { names[id] = name }
    }
    for (place, json) in objects { read(json, names, place, into: &batch) }
  }

  /// The name in a line of a board or a tag.
  private static func boardOrTagName(_ json: JSON) -> String? {
    (json[BoardProperties.name.name] ?? json[TagProperties.name.name])?.stringValue
  }

  private static func read(_ json: JSON, _ names: [ByteKey: String], _ place: String, into batch: inout ImportBatch) {
    if let id = json["id"]?.stringValue, let key = UniqueID(id), ObjectID(key: key, entity: 0).isTemporary {
      return batch.skip(place, "\"\(id)\" is not an object's id")
    }
    guard let entity = json["entity"]?.stringValue, let known = StickiesModel.model.entity(named: entity) else {
      return batch.skip(place, "the line has no known entity")
    }
    var values = LineValues(known, json)
    switch entity {
    case Board.entityName, Tag.entityName:
      let isBoard = entity == Board.entityName
      let property = isBoard ? BoardProperties.name : TagProperties.name
      guard case .string(let name)? = values.removeValue(of: property), !name.isEmpty else {
        return batch.skip(place, "the \(entity.lowercased()) has no name")
      }
      let named = ImportBatch.NamedObject(name: name, id: json["id"]?.stringValue, values: values.valid)
      if isBoard { batch.addBoard(named) } else { batch.addTag(named) }
    case Note.entityName:
      guard let id = json["id"]?.stringValue,
        let board = json[NoteProperties.board.name]?.stringValue.flatMap({ names[$0] })
      else { return batch.skip(place, "the note's id or board is missing") }
      let tags = values.names(in: NoteProperties.tags, names)
      var origin = ImportBatch.origin(exportedAs: id)
      if case .string(let key)? = values.removeValue(of: NoteProperties.origin) { origin = key }
      batch.notes.append(
        ImportBatch.Note(origin: origin, board: board, tags: tags, values: values.valid, id: id, place: place))
    case Link.entityName:
      guard let from = json[LinkProperties.from.name]?.stringValue, let to = json[LinkProperties.to.name]?.stringValue
      else { return batch.skip(place, "the link's from or to is missing") }
      batch.links.append(.init(from: from, to: to, values: values.valid, place: place))
    default: return batch.skip(place, "the line has no known entity")
    }
    if !values.omitted.isEmpty {
      batch.skip(place, "the \(entity.lowercased()) was imported without \(values.omitted.joined(separator: "; "))")
    }
  }
}

/// The attributes of one line: valid values, and messages about the others.
private struct LineValues {
  private(set) var valid = [String: Value]()
  private(set) var omitted = [String]()
  private let json: JSON

  init(_ entity: Entity, _ json: JSON) {
    self.json = json
    for property in entity.attributes {
      guard let attribute = property.attribute, ![.sequence, .creator].contains(attribute.assignment),
        let member = json[property.name],
        member != .null
      else { continue }
      if let value = Value(json: member, kind: attribute.kind, cases: attribute.cases) {
        valid[property.name] = value
      } else {
        omit(property, "\(member.text.excerpt) is not a valid \(attribute.typeDescription)")
      }
    }
  }

  private mutating func omit(_ property: Property, _ reason: String) {
    omitted.append("its \(property.name): \(reason)")
  }

  /// Removes and returns a valid value that is stored separately.
  mutating func removeValue(of property: Property) -> Value? { valid.removeValue(forKey: property.name) }

  /// The names of the objects in a relationship, by the names of all objects of the file; others are omitted.
  mutating func names(in relationship: Property, _ names: [ByteKey: String]) -> [String] {
    guard let member = json[relationship.name], member != .null else { return [] }
    guard let items = member.arrayValue else {
      omit(relationship, "\(member.text.excerpt) is not a list of ids")
      return []
    }
    return items.compactMap { item in
      if let found = item.stringValue.flatMap({ names[$0] }) { return found }
      omit(relationship, "\(item.text.excerpt) is not in the file")
      return nil
    }
  }
}
