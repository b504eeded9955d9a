import GraphClient
import GraphJSON
import GraphModel

/// Turns the values that a command's arguments give into edits, and looks up the objects that they name.
@MainActor
struct InputResolver {
  private let shell: CommandContext
  private var model: Model { shell.model }
  private var client: GraphClient { shell.client }

  init(_ shell: CommandContext) { self.shell = shell }

  /// Turns inputs into the edits of a new object.
  func edits(_ inputs: [PropertyInput]) async throws -> [Edit] {
    try Self.edits(inputs, try await ids(of: inputs), of: nil)
  }

  /// The name of an object of an entity. Objects of two entities can have the same name.
  struct NamedObject: Hashable {
    let name: ObjectSpecifier
    let entity: EntityNumber
  }

  /// The ids of all named objects, each looked up once.
  func ids(of inputs: [PropertyInput]) async throws -> [NamedObject: ObjectID] {
    var ids = [NamedObject: ObjectID]()
    for input in inputs {
      guard let destination = input.property.relationship?.destination else { continue }
      for name in input.names {
        let key = NamedObject(name: name, entity: destination)
        if ids[key] == nil { ids[key] = try await id(name, for: input.property) }
      }
    }
    return ids
  }

  /// The edits of an object that was read, or of a new one if `image` is nil.
  static func edits(
    _ inputs: [PropertyInput], _ ids: [NamedObject: ObjectID], of image: ObjectImage?
  ) throws -> [Edit] {
    do {
      return try inputs.map { input throws(InvalidInputError) in
        try input.edit(of: image) { name, entity throws(InvalidInputError) in
          guard let id = ids[NamedObject(name: name, entity: entity)] else {
            preconditionFailure("the objects of all inputs are looked up: \(name)")
          }
          return id
        }
      }
    } catch {
      throw Refusal(.malformed, "\(error)")
    }
  }

  /// The id of an object that a relationship refers to.
  func id(_ name: ObjectSpecifier, for property: Property) async throws -> ObjectID {
    guard case .text(let prefix) = name else {
      throw Refusal(.malformed, "labels are for lines of standard input: \(property.name) takes an id here")
    }
    guard let relationship = property.relationship else {
      preconditionFailure("only a relationship names objects: \(property.name)")
    }
    let destination = model.destination(of: relationship)
    // A complete id needs no search; the daemon checks whether the object exists.
    if let key = UniqueID(prefix) { return ObjectID(key: key, entity: destination.number) }
    return try await ObjectFinder(shell).object(prefix, of: destination).id
  }

  /// Parses the arguments of a command as property inputs.
  func inputs(_ words: [String], values: String?, entity: Entity) throws -> [PropertyInput] {
    do {
      var inputs = try PropertyInput.all(words) { word throws(InvalidInputError) in
        try PropertyInput(parsing: word, entity: entity)
      }
      if let values {
        let json: JSON
        do {
          json = try JSON(parsingEnvelope: values.utf8)
        } catch {
          throw InvalidInputError("--values takes a JSON object: \(error)")
        }
        inputs += try PropertyInput.inputs(json, entity: entity)
      }
      var seen = Set<PropertyNumber>()
      for input in inputs where !seen.insert(input.property.number).inserted {
        throw InvalidInputError("\(input.property.name) is given twice")
      }
      return inputs
    } catch {
      throw Refusal(.malformed, "\(error)")
    }
  }

  /// Checks that a base revision exists.
  /// - Throws: `Refusal` for a revision above the newest.
  func checkBase(_ base: Revision?) async throws {
    guard let base, base > shell.head.revision else { return }
    // A read can contain a commit just before the server reports it as its newest.
    let newest = try await client.revision(at: .max).head.revision
    guard base > newest else { return }
    throw Refusal(.notFound, "there is no revision \(base) yet: the newest is \(newest)")
  }

  /// A base revision that includes the objects that were just read. An edit may also affect related objects, which were
  /// read at the same time.
  func base(of image: ObjectImage) -> Revision { max(image.revision, shell.head.revision) }
}
