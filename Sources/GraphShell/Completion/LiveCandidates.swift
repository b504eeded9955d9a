import GraphClient
import GraphModel
import GraphWire
import StickiesKit

/// Candidates from the live graph. The newest come first, up to a limit; the user can type more letters or search for
/// others.
@MainActor
enum LiveCandidates {
  private static let most = 200

  static func find(_ kind: CompletionContext.Kind, server: String?) async throws -> [Candidate] {
    let client = try await Stickies.connectToAnyModel(
      at: try server.map(ServerAddress.init(parsing:)), reconnects: false)
    let found = try await find(kind, client)
    await client.close()
    return found
  }

  private static func find(_ kind: CompletionContext.Kind, _ client: GraphClient) async throws -> [Candidate] {
    let model = client.context.model
    switch kind {
    case .entity:
      return model.entities.map { Candidate(word: $0.name, text: TextTable.firstLine($0.documentation)) }
    case .note: return try await notes(client)
    case .board: return try await named("Board", client)
    case .tag: return try await named("Tag", client)
    case .object: return try await objects(client)
    case .author:
      var seen = Set<ByteKey>()
      return try await client.log(limit: most, changes: 0).map(\.author).filter { seen.insert($0).inserted }.map {
        Candidate(word: $0)
      }
    }
  }

  private static func images(_ entity: Entity, _ sort: String, _ client: GraphClient) async throws -> [ObjectImage] {
    let order = try [SortKey](parsing: sort, entity: entity, model: client.context.model)
    var images = [ObjectImage]()
    for try await chunk in client.images(of: entity, sort: order, limit: most) { images += chunk }
    return images
  }

  private static func notes(_ client: GraphClient) async throws -> [Candidate] {
    guard let entity = client.context.model.entity(named: "Note"), let number = entity.property(named: "number"),
      let text = entity.property(named: "text")
    else { return [] }
    return try await images(entity, "-number", client).map { image in
      Candidate(
        word: image[number].json(kind: .integer).text,
        text: String(TextTable.firstLine(image[text].stringValue ?? "").prefix(40)))
    }
  }

  private static func named(_ entity: String, _ client: GraphClient) async throws -> [Candidate] {
    guard let entity = client.context.model.entity(named: entity), let name = entity.property(named: "name") else {
      return []
    }
    return try await images(entity, "name", client).compactMap { image in
      image[name].stringValue.map { Candidate(word: $0) }
    }
  }

  /// Objects of all entities, by prefixes of their ids.
  private static func objects(_ client: GraphClient) async throws -> [Candidate] {
    let shell = CommandContext(client: client, output: Output(json: false, ansi: .never, model: client.context.model))
    var found = [Candidate]()
    for entity in client.context.model.entities where entity.parent == nil && found.count < most {
      found += try await images(entity, "", client).map { image in
        Candidate(word: String(image.id.description.prefix(8)), text: "\(entity.name) \(shell.title(image))")
      }
    }
    return found
  }
}
