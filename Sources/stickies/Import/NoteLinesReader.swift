import GraphModel
import GraphShell
import StickiesKit

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
      if let id = json["id"]?.stringValue, let name = json["name"]?.stringValue { names[id] = name }
    }
    for (place, json) in objects { read(json, names, place, into: &batch) }
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
    case "Board", "Tag":
      guard case .string(let name)? = values.take("name"), !name.isEmpty else {
        return batch.skip(place, "the \(entity.lowercased()) has no name")
      }
      let named = ImportBatch.NamedObject(name: name, id: json["id"]?.stringValue, values: values.taken)
      if entity == "Board" { batch.board(named) } else { batch.tag(named) }
    case "Note":
      guard let id = json["id"]?.stringValue, let board = json["board"]?.stringValue.flatMap({ names[$0] }) else {
        return batch.skip(place, "the note's id or board is missing")
      }
      let tags = values.names("tags", names)
      var origin = ImportBatch.origin(exportedAs: id)
      if case .string(let key)? = values.take("origin") { origin = key }
      batch.notes.append(
        ImportBatch.Note(origin: origin, board: board, tags: tags, values: values.taken, id: id, place: place))
    case "Link":
      guard let from = json["from"]?.stringValue, let to = json["to"]?.stringValue else {
        return batch.skip(place, "the link's from or to is missing")
      }
      batch.links.append(.init(from: from, to: to, values: values.taken, place: place))
    default: return batch.skip(place, "the line has no known entity")
    }
    if !values.left.isEmpty {
      batch.skip(place, "the \(entity.lowercased()) was imported without \(values.left.joined(separator: "; "))")
    }
  }
}

/// The attributes of one line: valid values, and messages about the others.
private struct LineValues {
  private(set) var taken = [String: Value]()
  private(set) var left = [String]()
  private let json: JSON

  init(_ entity: Entity, _ json: JSON) {
    self.json = json
    for property in entity.attributes {
      guard let attribute = property.attribute, attribute.assignment != .sequence, let member = json[property.name],
        member != .null
      else { continue }
      if let value = Value(json: member, kind: attribute.kind, cases: attribute.cases) {
        taken[property.name] = value
      } else {
        leave(property.name, "\(member.text.excerpt) is not a valid \(attribute.typeDescription)")
      }
    }
  }

  private mutating func leave(_ name: String, _ reason: String) { left.append("its \(name): \(reason)") }

  /// Removes and returns a value that is stored separately.
  mutating func take(_ name: String) -> Value? { taken.removeValue(forKey: name) }

  /// The names of the objects in a relationship.
  mutating func names(_ name: String, _ names: [ByteKey: String]) -> [String] {
    guard let member = json[name], member != .null else { return [] }
    guard let items = member.arrayValue else {
      leave(name, "\(member.text.excerpt) is not a list of ids")
      return []
    }
    return items.compactMap { item in
      if let found = item.stringValue.flatMap({ names[$0] }) { return found }
      leave(name, "\(item.text.excerpt) is not in the file")
      return nil
    }
  }
}
