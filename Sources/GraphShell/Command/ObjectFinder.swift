import GraphClient
import GraphModel
import GraphWire

/// Finds the object that a user names by a number or by the beginning of its id, in any model.
@MainActor
package struct ObjectFinder {
  package let shell: CommandContext
  private var model: Model { shell.model }
  private var client: GraphClient { shell.client }

  package init(_ shell: CommandContext) { self.shell = shell }

  /// The one object whose id has a prefix, of one entity or of any, or whose number is written `#3`, as the commands
  /// of history print it. For a deleted object, the refusal names the author of the delete.
  package func object(_ prefix: String, of entity: Entity? = nil) async throws -> ObjectImage {
    if prefix.hasPrefix("#"), let number = Self.digits(of: prefix).flatMap({ Int64($0) }), let property = numbered,
      case let owner = entity ?? model.owner(of: property),
      owner.attributes.contains(where: { $0.number == property.number })
    {
      let found = try await shell.images(of: owner, where: .equal(property, .integer(number)), limit: 1)
      if let image = found.first { return image }
      throw Refusal(.notFound, "there is no \(owner.name.lowercased()) number \(number)\(forUser)")
    }
    guard !prefix.isEmpty, UniqueID.range(ofPrefix: prefix) != nil else {
      throw Refusal(.malformed, "\"\(prefix)\" is not the beginning of an id\(advice(on: prefix))")
    }
    let entities = entity.map { [$0] } ?? model.entities.filter { $0.parent == nil }
    do {
      return try await object(prefix, of: entities, called: Self.noun(for: entity))
    } catch let refusal as Refusal where refusal.code == .notFound && shell.revision == nil {
      throw await DeletionFinder(shell).refusal(prefix, of: entity) ?? refusal
    }
  }

  /// The end of the message about a word that is not the beginning of an id.
  private func advice(on word: String) -> String {
    guard model.entity(named: word) == nil else { return ": \(word) is an entity; --where selects its objects" }
    return "; \(shell.output.program.name) graph fetch ENTITY prints ids"
  }

  /// The noun in a message that nothing was found.
  nonisolated static func noun(for entity: Entity?) -> String { if let entity { entity.name } else { "object" } }

  /// The one object of these entities whose id has a prefix.
  /// - Parameter noun: the noun in the message if there is none.
  package func object(_ prefix: String, of entities: [Entity], called noun: String) async throws -> ObjectImage {
    let beginning = GraphPredicate.comparison(
      .init(.one, GraphPredicate.Path(end: .identifier), .beginsWith, .value(.string(prefix))))
    var found = [ObjectImage]()
    for entity in entities where found.count <= 10 {
      // A complete id is looked up. A prefix has no index: ids are ordered by time, but their text begins with the
      // random half.
      let predicate = UniqueID(prefix).map { .identifiers([ObjectID(key: $0, entity: entity.number)]) } ?? beginning
      found += try await shell.images(of: entity, where: predicate, limit: 11)
    }
    guard found.count <= 1 else {
      let candidates = found.prefix(10).map { image in
        AmbiguousID.Candidate(
          id: image.id, entity: model.entityName(image.id.entity), title: shell.title(image))
      }
      throw AmbiguousID(prefix: prefix, candidates: candidates, hasMore: found.count > 10)
    }
    guard let image = found.first else {
      throw Refusal(.notFound, "there is no \(noun)\(forUser) whose id begins with \"\(prefix)\"")
    }
    return image
  }

  /// The addition to a message that something is missing: another user may see it.
  private var forUser: String { shell.seesPart ? " for you" : "" }

  /// Finds an object by a user's description and returns it as of the past revision. It is searched in the present
  /// and then read by id, which is fast for any revision; a deleted object is searched in the past state.
  /// - Parameter noun: the noun in the search's message that nothing was found.
  package func find(_ noun: String, _ search: (ObjectFinder) async throws -> ObjectImage) async throws -> ObjectImage {
    guard let revision = shell.revision else { return try await search(self) }
    var present = shell
    present.revision = nil
    let known: ObjectImage
    do {
      known = try await search(ObjectFinder(present))
    } catch let refusal as Refusal where refusal.code == .notFound {
      do {
        return try await search(self)
      } catch let refusal as Refusal where refusal.message.hasPrefix("there is no \(noun)") {
        throw Refusal(.notFound, refusal.message + " at revision \(revision) or now")
      }
    }
    let entity = try model.entity(of: known.id)
    if let image = try await shell.images(of: entity, where: .identifiers([known.id])).first { return image }
    throw Refusal(.notFound, "\(entity.name) \(known.id.description.prefix(8)) did not exist at revision \(revision)")
  }

  // MARK: - Deleted objects

  /// The digits of an object's number, plain or as in `#3`; nil for anything else.
  nonisolated package static func digits(of name: String) -> String? {
    let digits = name.hasPrefix("#") ? String(name.dropFirst()) : name
    return !digits.isEmpty && digits.utf8.allSatisfy { (0x30...0x39).contains($0) } ? digits : nil
  }

  /// Finds an existing or deleted object. Its name is a number (`3`, `#3`) if the entity is numbered, otherwise a
  /// prefix of its id.
  func past(_ name: String) async throws -> ObjectID {
    if let digits = Self.digits(of: name), let property = numbered {
      guard let number = Int64(digits), let id = try await numbered(number, property) else {
        let noun = model.owner(of: property).name.lowercased()
        throw Refusal(
          .notFound,
          "there is no \(noun) number \(digits), and the log has no deleted one\(try await prunedPart())")
      }
      return id
    }
    let request = LogRequest(limit: 1, filter: HistoryFilter(object: name))
    if let id = try await client.log(request).first?.changes.first?.id { return id }
    // The remaining history does not contain it: it may exist anyway, its history pruned.
    if UniqueID.range(ofPrefix: name) != nil {
      do {
        return try await object(name).id
      } catch let refusal as Refusal where refusal.code == .notFound {}
    }
    throw Refusal(.notFound, "there is no object whose id begins with \"\(name)\"\(try await prunedPart())")
  }

  /// The addition to a "there is no" message if history was pruned.
  private func prunedPart() async throws -> String {
    let oldest = try await client.status().oldest
    return oldest == 0 ? "" : "; deletes up to revision \(oldest) were pruned"
  }

  /// The only attribute with sequence numbers; nil if there are none or several.
  private var numbered: Property? {
    let sequences = model.entities.flatMap(\.attributes).filter { $0.attribute?.assignment == .sequence }
    let numbers = Set(sequences.map(\.number))
    return numbers.count == 1 ? sequences.first : nil
  }

  /// Maximum number of commits that are searched for a deleted object.
  private static let commitsLookedThrough = 20_000
  private static let commitsInOneRequest = 1_000

  private func numbered(_ number: Int64, _ property: Property) async throws -> ObjectID? {
    let entity = model.owner(of: property)
    let there = try await shell.images(of: entity, where: .equal(property, .integer(number)), limit: 1)
    if let image = there.first { return image.id }
    var request = LogRequest(
      limit: UInt64(Self.commitsInOneRequest), filter: HistoryFilter(entities: [entity.number]))
    for _ in 0..<(Self.commitsLookedThrough / Self.commitsInOneRequest) {
      let commits = try await client.log(request)
      for change in commits.flatMap(\.changes) where change.kind == .removed {
        if let object = change.object, object[property] == .integer(number) { return object.id }
      }
      guard let last = commits.last?.revision, last > 1, commits.count == Self.commitsInOneRequest else { return nil }
      request.through = last - 1
    }
    return nil
  }
}
