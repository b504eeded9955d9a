import GraphJSON
import GraphModel

/// A complete graph as JSON Lines, for any model. It has a head, a line for each object, and an end with a checksum
/// over those lines.
///
/// The same graph makes the same lines, whichever store holds it: objects are sorted by the number of their entity
/// and by id, members are in the order of the model, without nulls and revisions. Two exports can therefore be
/// compared, and after an import another export differs only in the head's revision.
struct GraphFile {
  let model: Model
  /// The number of objects processed so far, and the checksum of their lines.
  private(set) var count = 0
  private(set) var sum = Checksum.seed

  static let format: Int64 = 1

  init(model: Model) { self.model = model }

  // MARK: - Writing

  func head(revision: Revision, objects: Int) -> String {
    JSON.object([
      .init("$graph", .string(model.name)), .init("format", .integer(Self.format)),
      .init("version", .integer(Int64(model.version))), .init("model", .string(model.hash.description)),
      .init("revision", .integer(revision)), .init("objects", .integer(Int64(objects))),
    ]).text + "\n"
  }

  mutating func line(_ image: ObjectImage) throws -> String {
    let entity = try model.entity(of: image.id)
    var members = [
      JSON.Member("$entity", .string(entity.name)), JSON.Member("$id", .string(image.id.description)),
    ]
    for property in entity.properties where property.slot != nil && !image[property].isNull {
      let value = image[property]
      if case .objects(let ids) = value, ids.isEmpty { continue }
      let json = value.json(kind: property.attribute?.kind)
      // Refuses values that an import could not restore.
      guard Self.value(json, property) == value else {
        throw Refusal(
          .invalid, "\(property.name) of \(entity.name) \(image.id) can't be written as JSON and read again")
      }
      members.append(.init(property.name, json))
    }
    let line = JSON.object(members).text + "\n"
    add(Array(line.utf8))
    return line
  }

  func end() -> String {
    JSON.object([.init("$end", .integer(Int64(count))), .init("checksum", .string(Self.text(of: sum)))]).text + "\n"
  }

  private mutating func add(_ line: [UInt8]) {
    count += 1
    sum = Checksum.of(line, seed: sum)
  }

  private static func text(of sum: UInt64) -> String {
    let digits = String(sum, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  // MARK: - Reading

  /// - Returns: the number of objects that the head states.
  func readHead(_ line: InputLine) throws(InvalidInputError) -> Int64 {
    let json = try line.json()
    guard let name = json["$graph"]?.stringValue else {
      throw InvalidInputError(
        "a head with \"$graph\" is expected: this is not a file of \(RunningProgram.current.name) graph export")
    }
    guard let format = json["format"]?.integerValue else {
      throw InvalidInputError("the head has no number as its \"format\"")
    }
    guard format <= Self.format else {
      throw InvalidInputError(
        "the file has the format \(format), and this program reads formats up to \(Self.format); import it with the "
          + "version that wrote it")
    }
    guard let hash = json["model"]?.stringValue, hash == model.hash.description else {
      let version = if let number = json["version"]?.integerValue { " \(number)" } else { "" }
      throw InvalidInputError(
        "the graph has the model \(name)\(version) (\(json["model"]?.stringValue ?? "no hash")), and the daemon serves "
          + "\(model.name) \(model.version) (\(model.hash)); start a daemon with the graph's model (--schema)")
    }
    guard let objects = json["objects"]?.integerValue, objects >= 0 else {
      throw InvalidInputError("the first line does not say how many objects follow")
    }
    return objects
  }

  /// Whether a line is the end, valid or not.
  static func isEnd(_ line: InputLine) -> Bool { (try? line.json())?["$end"] != nil }

  /// The object of a line; nil for the end, which is verified.
  /// - Parameter mistakes: receives all mistakes in its members.
  mutating func read(
    _ line: InputLine, of promised: Int64, _ mistakes: inout [InvalidInputError]
  ) throws(InvalidInputError) -> ObjectImage? {
    let members = try line.members()
    let json = JSON.object(members)
    if let end = json["$end"] {
      guard end.integerValue == Int64(count), promised == Int64(count) else {
        throw InvalidInputError(
          "the file has \(count) objects, but its first line says \(promised) and its last line \(end.text.excerpt): "
            + "lines are missing, or there are too many")
      }
      // The checksum may be removed after a deliberate edit of the file; the contents are validated in either case.
      if let checksum = json["checksum"], checksum.stringValue != Self.text(of: sum) {
        throw InvalidInputError(
          "the checksum does not match: a line has changed since the export; if that was on purpose, remove "
            + "\"checksum\" from this line")
      }
      return nil
    }
    guard let name = json["$entity"]?.stringValue, let entity = model.entity(named: name) else {
      throw InvalidInputError("\"$entity\" names no entity of the model \(model.name)")
    }
    guard let key = json["$id"]?.stringValue.flatMap({ UniqueID($0) }) else {
      throw InvalidInputError("\"$id\" is not a complete id")
    }
    let id = ObjectID(key: key, entity: entity.number)
    var image = ObjectImage(id: id, revision: 0, values: [Value](repeating: .null, count: entity.slotCount))
    for property in entity.storedProperties where property.relationship?.isToMany == true {
      image[property] = .objects([])
    }
    var seen = Set<ByteKey>()
    for member in members {
      do throws(InvalidInputError) {
        guard seen.insert(member.name).inserted else { throw InvalidInputError("\"\(member.name)\" appears twice") }
        if member.name == "$entity" || member.name == "$id" { continue }
        let property = try PropertyInput.property(member.name, of: entity)
        guard property.slot != nil else { throw InvalidInputError("\(entity.name).\(property.name) is not stored") }
        guard let value = Self.value(member.value, property) else {
          throw Self.mismatch(member.value, property, entity)
        }
        image[property] = value
      } catch {
        mistakes.append(error)
      }
    }
    add(line.bytes + [0x0A])
    return image
  }

  /// The message of an insert for the same value; relationships need complete ids here.
  private static func mismatch(_ json: JSON, _ property: Property, _ entity: Entity) -> InvalidInputError {
    if property.attribute != nil {
      do throws(InvalidInputError) {
        _ = try PropertyInput(property, json, entity: entity)
      } catch {
        return error
      }
    }
    let form = property.relationship?.isToMany == true ? "a list of complete ids" : "a complete id"
    return InvalidInputError("\(entity.name).\(property.name) takes \(form), and not \(json.text.excerpt)")
  }

  /// Null values have no member, so `null` in a JSON attribute is the document null.
  private static func value(_ json: JSON, _ property: Property) -> Value? {
    func id(_ json: JSON, _ relationship: Relationship) -> ObjectID? {
      json.stringValue.flatMap { UniqueID($0) }.map { ObjectID(key: $0, entity: relationship.destination) }
    }
    switch property.kind {
    case .attribute(let attribute) where attribute.kind == .json: return .string(json.text)
    case .attribute(let attribute): return Value(json: json, kind: attribute.kind, cases: attribute.cases)
    case .relationship(let relationship) where relationship.isToMany:
      guard let items = json.arrayValue else { return nil }
      let ids = items.compactMap { id($0, relationship) }
      return ids.count == items.count ? .objects(ids) : nil
    case .relationship(let relationship): return id(json, relationship).map { .object($0) }
    }
  }
}
