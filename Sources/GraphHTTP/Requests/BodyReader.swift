// Tests: BodyReaderTests.swift
import GraphJSON
import GraphModel

/// Reads the bodies of requests as strict JSON. Errors contain a JSON pointer to the place.
struct BodyReader {
  private let model: Model

  init(model: Model) { self.model = model }

  /// The document in a body.
  /// - Throws: `Problem` with a pointer for input that is not JSON by RFC 8259, for a name that appears twice, and for
  ///   a number that is too large for a double.
  static func document(_ bytes: [UInt8]) throws(Problem) -> JSON {
    let json: JSON
    do {
      json = try JSON(parsingEnvelope: bytes)
    } catch {
      throw .malformed("the body is not JSON: \(error)", pointer: error.pointer)
    }
    if let path = infiniteNumber(in: json, []) {
      throw .malformed("a number is too large", pointer: JSON.pointer(path))
    }
    return json
  }

  /// The path to a number that is too large for a double. The parser limits the depth of the recursion.
  private static func infiniteNumber(in json: JSON, _ path: [String]) -> [String]? {
    switch json {
    case .number(let text): return Double(text).map(\.isFinite) == true ? nil : path
    case .array(let elements):
      for (index, element) in elements.enumerated() {
        if let found = infiniteNumber(in: element, path + [String(index)]) { return found }
      }
      return nil
    case .object(let members):
      for member in members { if let found = infiniteNumber(in: member.value, path + [member.name]) { return found } }
      return nil
    case .null, .bool, .integer, .double, .string: return nil
    }
  }

  /// A new value of a property, or the members to add to a relationship and to remove from it.
  enum Input {
    case value(PropertyInput)
    case members(Property, added: [ObjectSpecifier], removed: [ObjectSpecifier])

    var property: Property {
      switch self {
      case .value(let input): input.property
      case .members(let property, _, _): property
      }
    }
  }

  /// The values of an object.
  /// - Parameters:
  ///   - path: the path to `json` in the body.
  ///   - allowsMembers: whether a to-many may be changed by `{"add":[…],"remove":[…]}`.
  func inputs(
    _ json: JSON, of entity: Entity, at path: [String] = [], allowsMembers: Bool = false
  ) throws(Problem) -> [Input] {
    guard let members = json.members else {
      throw .malformed(
        "an object with the values of properties is expected, {\"name\": value, …}", pointer: JSON.pointer(path))
    }
    var inputs = [Input]()
    for member in members {
      do {
        let property = try PropertyInput.property(member.name, of: entity)
        if allowsMembers, property.relationship?.isToMany == true, let lists = member.value.members {
          inputs.append(try changedMembers(lists, property))
        } else {
          inputs.append(.value(try PropertyInput(property, member.value, entity: entity)))
        }
      } catch {
        throw .malformed(error.description, pointer: JSON.pointer(path + [member.name]))
      }
    }
    return inputs
  }

  private func changedMembers(_ given: [JSON.Member], _ property: Property) throws(InvalidInputError) -> Input {
    var lists = ["add": [ObjectSpecifier](), "remove": []]
    for member in given {
      guard lists[member.name] != nil, let items = member.value.arrayValue else {
        throw InvalidInputError(
          "\(property.name) takes a list of ids, or {\"add\":[ids],\"remove\":[ids]}, and not \(JSON.object(given).text.excerpt)"
        )
      }
      var names = [ObjectSpecifier]()
      for item in items {
        if let id = item.stringValue {
          names.append(.text(id))
        } else if let label = item["$ref"]?.stringValue {
          names.append(.label(label))
        } else {
          throw InvalidInputError("\(property.name) takes ids, and not \(item.text.excerpt)")
        }
      }
      lists[member.name] = names
    }
    guard let added = lists["add"], let removed = lists["remove"] else {
      preconditionFailure("both lists are in the table from the beginning")
    }
    return .members(property, added: added, removed: removed)
  }

  /// The edits for inputs.
  /// - Parameters:
  ///   - image: for an update, the object as the client read it. A text is changed only where it differs from that
  ///     state.
  ///   - now: for an update, the present object. A text that is already in the object is omitted, because merging would
  ///     insert it twice.
  ///   - labels: the ids of objects that the same transaction inserts.
  ///   - path: the path to the object with the inputs in the body.
  func edits(
    _ inputs: [Input], of image: ObjectImage? = nil, now: ObjectImage? = nil, labels: [ByteKey: ObjectID] = [:],
    at path: [String] = []
  ) throws(Problem) -> [Edit] {
    func id(_ name: ObjectSpecifier, _ entity: EntityNumber) throws(InvalidInputError) -> ObjectID {
      switch name {
      case .text(let text):
        // A temporary id could be the id of another object of this transaction.
        if let key = UniqueID(text), case let id = ObjectID(key: key, entity: entity), !id.isTemporary { return id }
        throw InvalidInputError("\"\(text.excerpt)\" is not an id of \(UniqueID.textLength) characters")
      case .label(let label):
        if let id = labels[ByteKey(label)] { return id }
        throw InvalidInputError("no object of this transaction has the label \"\(label.excerpt)\"")
      }
    }
    var edits = [Edit]()
    for input in inputs {
      do {
        switch input {
        case .value(let value):
          if let now, case .value(let new) = value.content, value.property.attribute?.kind == .text,
            now[value.property] == new
          {
            continue
          }
          edits.append(try value.edit(of: image, id))
        case .members(let property, let added, let removed):
          let relationship = property.relationship
          guard let destination = relationship?.destination else {
            preconditionFailure("only a to-many is changed by its members")
          }
          edits.append(
            Edit(
              property.number,
              .members(
                added: try ids(added, destination, id), removed: try ids(removed, destination, id))))
        }
      } catch {
        throw .malformed(error.description, pointer: JSON.pointer(path + [input.property.name]))
      }
    }
    return edits
  }

  private func ids(
    _ names: [ObjectSpecifier], _ entity: EntityNumber,
    _ resolve: (ObjectSpecifier, EntityNumber) throws(InvalidInputError) -> ObjectID
  ) throws(InvalidInputError) -> [ObjectID] {
    var ids = Set<ObjectID>()
    for name in names { ids.insert(try resolve(name, entity)) }
    return ids.sorted()
  }
}
