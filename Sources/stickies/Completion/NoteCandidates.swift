import GraphClient
import GraphModel
import GraphReplica
import GraphShell
import StickiesKit

/// Notes, boards and tags that completion offers, from a daemon of any model.
@MainActor
enum NoteCandidates {
  /// The names of the values that are completed.
  nonisolated static let values: Set<String> = ["board", "tag", "names", "object", "from", "to", "id"]

  static func find(_ valueName: String, _ client: GraphClient) async throws -> [CompletionCandidate] {
    switch valueName {
    case "board": try await named(BoardProperties.entity, BoardProperties.name, client)
    case "tag", "names": try await named(TagProperties.entity, TagProperties.name, client)
    default: try await notes(client)
    }
  }

  private static func images(_ entity: Entity, _ sort: String, _ client: GraphClient) async throws -> [ObjectImage] {
    let order = try [SortKey](parsing: sort, entity: entity, model: client.context.model)
    var images = [ObjectImage]()
    let stream = client.images(of: entity, sort: order, limit: LiveCandidates.most)
    stream.omitsDamage = true
    for try await chunk in stream { images += chunk }
    return images
  }

  private static func notes(_ client: GraphClient) async throws -> [CompletionCandidate] {
    guard let entity = client.context.model.entity(named: Note.entityName),
      let number = entity.property(named: NoteProperties.number.name),
      let text = entity.property(named: NoteProperties.text.name)
    else { return [] }
    return try await images(entity, "-\(number.name)", client).map { image in
      CompletionCandidate(
        word: image[number].json(kind: .integer).text,
        text: String(TextTable.firstLine(image.text(of: text)).beginning(of: 40)))
    }
  }

  private static func named(_ entity: Entity, _ name: Property, _ client: GraphClient) async throws
    -> [CompletionCandidate]
  {
    guard let entity = client.context.model.entity(named: entity.name), let name = entity.property(named: name.name)
    else {
      return []
    }
    return try await images(entity, name.name, client).compactMap { image in
      image[name].stringValue.map { CompletionCandidate(word: $0) }
    }
  }
}
