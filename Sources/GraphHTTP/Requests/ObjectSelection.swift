// Tests: RequestTests.swift
import GraphJSON
import GraphModel
import GraphWire

/// The properties and related objects that a request selects with `fields` and `include`.
struct ObjectSelection: Sendable {
  /// The names of the properties; nil for all stored ones.
  private let names: [String]?
  /// The selected to-many relationships that are stored at their other end.
  private let unstored: [Property]
  private let included: [Property]
  private let model: Model

  /// - Throws: `Problem` for a name that is not a property, or not a relationship.
  init(_ parameters: QueryParameters, of entity: Entity, _ model: Model) throws(Problem) {
    self.model = model
    names = parameters.names("fields")
    var properties = [Property]()
    if let names { for name in names { properties.append(try Self.property(name, of: entity)) } }
    unstored = properties.filter { $0.slot == nil }
    if let hidden = unstored.first(where: { $0.relationship == nil }) {
      throw .malformed("\(entity.name).\(hidden.name) is not stored; the server does not have its value")
    }
    var included = [Property]()
    let relationships = if let names = parameters.names("include") { names } else { [String]() }
    for name in relationships {
      let property = try Self.property(name, of: entity)
      guard property.relationship != nil else {
        throw .malformed("\(entity.name).\(name) is not a relationship; include takes names of relationships")
      }
      included.append(property)
    }
    self.included = included
  }

  private static func property(_ name: String, of entity: Entity) throws(Problem) -> Property {
    do {
      return try PropertyInput.property(name, of: entity)
    } catch {
      throw .malformed(error.description)
    }
  }

  /// Whether the answer is the complete stored object. The object's revision is then its entity tag.
  var isPlain: Bool { names == nil && included.isEmpty }

  /// Whether the answer has objects in addition to the requested ones.
  var includesObjects: Bool { !included.isEmpty }

  /// The JSON of objects, with the members of selected relationships, at the revision at which the objects were read.
  func json(of images: [ObjectImage], _ reader: GraphReader, at revision: Revision?) async throws -> [JSON] {
    guard let names else { return images.map { ObjectJSON.object($0, model) } }
    var members = ToManyMembers()
    for property in unstored {
      members.add(try await reader.members(of: property, owners: images.map(\.id), at: revision), of: property)
    }
    return images.map { ObjectJSON.object($0, model, only: names, members: members) }
  }

  /// The objects that the included relationships lead to, each once.
  func includedObjects(of images: [ObjectImage], _ reader: GraphReader, at revision: Revision) async throws -> [JSON] {
    var found = [ObjectID: ObjectImage]()
    for property in included {
      let relationship = try invariant(property.relationship, "only relationships are included")
      var ids = Set<ObjectID>()
      if property.slot == nil {
        let members = try await reader.members(of: property, owners: images.map(\.id), at: revision)
        ids.formUnion(members.values.joined())
      } else {
        for image in images { ids.formUnion(image[property].objectIDs) }
      }
      ids.subtract(found.keys)
      guard found.count + ids.count <= HTTPLimits.maximumIncluded else {
        throw Refusal(
          .limit,
          "include would add more than \(HTTPLimits.maximumIncluded) objects; ask for fewer objects with limit")
      }
      let more = try await reader.images(ids.sorted(), of: model.destination(of: relationship), at: revision)
      for image in more { found[image.id] = image }
    }
    return found.values.sorted { $0.id < $1.id }.map { ObjectJSON.object($0, model) }
  }
}
