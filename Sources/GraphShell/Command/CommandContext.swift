import GraphClient
import GraphJSON
import GraphModel
import GraphWire

/// A syntax error in the value of `--sort`.
struct UnreadableSort: Error { let cause: PredicateSyntaxError }

/// The connection of a command: reads objects of any model, and describes them to users.
@MainActor
package struct CommandContext {
  package let client: GraphClient
  package let output: Output
  /// The address of `--server`; nil for the default one.
  package let server: ServerAddress?
  /// The revision to read; nil for the present.
  package var revision: Revision?

  package var model: Model { client.context.model }

  /// The store's newest commit as of the last welcome.
  var head: Token {
    guard let welcome = client.welcome else { preconditionFailure("a command has a connection that was welcomed") }
    return welcome.head
  }

  /// Whether the user sees a part of the graph only, so that an object may exist which is not there for the user.
  package var seesPart: Bool { client.rights.map { Visibility($0, model: model) != nil } == true }

  /// Maximum number of ids in one request.
  private static let idsInOneRequest = 1_000

  /// The ids for each of several requests.
  static func parts(of ids: [ObjectID]) -> [[ObjectID]] {
    stride(from: 0, to: ids.count, by: idsInOneRequest).map { start in
      Array(ids[start..<min(start + idsInOneRequest, ids.count)])
    }
  }

  package init(client: GraphClient, output: Output, server: ServerAddress? = nil) {
    (self.client, self.output, self.server) = (client, output, server)
  }

  // MARK: Parsing

  /// The entity with a name.
  /// - Throws: a refusal that suggests the nearest name.
  func known(_ name: String) throws -> Entity {
    if let entity = model.entity(named: name) { return entity }
    let names = model.entities.map(\.name)
    let more = Suggestion.sentence(
      for: name, among: names, otherwise: "; there are \(names.joined(separator: ", "))")
    throw Refusal(.malformed, "the model \(model.name) has no entity \"\(name)\"\(more)")
  }

  func predicate(_ text: String?, on entity: Entity) throws -> GraphPredicate {
    guard let text else { return .always }
    return try GraphPredicate(parsing: text, entity: entity, model: model)
  }

  /// The sort keys of `--sort`; empty for the order of ids.
  package func order(_ sort: String, of entity: Entity) throws -> [SortKey] {
    do {
      return sort.isEmpty ? [] : try [SortKey](parsing: sort, entity: entity, model: model)
    } catch {
      throw UnreadableSort(cause: error)
    }
  }

  // MARK: Reading

  package func images(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil
  ) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    let stream = client.images(of: entity, where: predicate, sort: sort, limit: limit, at: revision)
    for try await chunk in stream { images += chunk }
    return images
  }

  /// The objects that can be read, and the damaged ones that are missing.
  package func readableImages(
    of entity: Entity, where predicate: GraphPredicate = .always, sort: [SortKey] = [], limit: Int? = nil
  ) async throws -> (images: [ObjectImage], damage: DamageNotice) {
    var images = [ObjectImage]()
    let stream = client.images(of: entity, where: predicate, sort: sort, limit: limit, at: revision)
    stream.omitsDamage = true
    for try await chunk in stream { images += chunk }
    return (images, stream.damage)
  }

  /// The objects with these ids, in slices; deleted ones are missing from the result.
  func images(_ ids: [ObjectID], of entity: Entity) async throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for part in Self.parts(of: ids) { images += try await self.images(of: entity, where: .identifiers(part)) }
    // The members of an ordered to-many relationship are not in the order of their ids.
    let byID = Dictionary(images.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    return ids.compactMap { byID[$0] }
  }

  /// The members of a to-many relationship that is stored at its other end. They are read by the inverse, for a
  /// thousand owners at a time. Sorted if the relationship is ordered.
  /// - Parameter omitsDamage: whether damaged members are left out; otherwise they are an error.
  func members(
    of property: Property, owners: [ObjectID], omitsDamage: Bool = false
  ) async throws -> [ObjectID: [ObjectID]] {
    guard let relationship = property.relationship else {
      preconditionFailure("only a relationship has members: \(property.name)")
    }
    let (inverse, entity) = (model.inverse(of: relationship), model.destination(of: relationship))
    let position = relationship.position.map { model.ownProperty($0) }
    var members = [ObjectID: [OrderedMemberKey]]()
    for part in Self.parts(of: owners) {
      let predicate: GraphPredicate
      if inverse.relationship?.isToMany == true {
        let path = GraphPredicate.Path(hops: [inverse.number], end: .identifier)
        predicate = .comparison(.init(.any, path, .in, .list(part.map(Value.object))))
      } else {
        predicate = .in(inverse, part.map(Value.object))
      }
      let asked = Set(part)
      let stream = client.images(of: entity, where: predicate, at: revision)
      stream.omitsDamage = omitsDamage
      for try await chunk in stream {
        for image in chunk {
          var place = OrderedMemberKey(position: 0, id: image.id)
          if let position, case .integer(let number) = image[position] { place.position = number }
          for owner in image[inverse].objectIDs where asked.contains(owner) {
            members[owner, default: []].append(place)
          }
        }
      }
    }
    return members.mapValues { $0.sorted().map(\.id) }
  }

  // MARK: Describing

  /// As in `Person b6yvgbpa Ann`.
  func reference(_ image: ObjectImage) -> String {
    "\(model.entityName(image.id.entity)) \(image.id.description.prefix(8)) \(title(image))"
  }

  /// The title of an object in a message, shortened; "(empty)" if it has none.
  package func title(_ image: ObjectImage) -> String {
    guard let title = ObjectTitle.text(image, in: model) else { return "(empty)" }
    return String(title.beginning(of: 60))
  }
}
