import GraphClient
import GraphModel
import GraphWire

/// Candidates from the live graph. The newest come first, up to a limit; the user can type more letters or search for
/// others.
@MainActor
package enum LiveCandidates {
  package static let most = 200

  static func find(_ kind: CompletionContext.Kind, server: String?) async throws -> [CompletionCandidate] {
    let program = RunningProgram.current
    let client = try await program.connect(
      to: try server.map(ServerAddress.init(parsing:)), security: TransportSecurity(), reconnects: false)
    let found = try await find(kind, client, program)
    await client.close()
    return found
  }

  private static func find(
    _ kind: CompletionContext.Kind, _ client: GraphClient, _ program: any ShellProgram
  ) async throws -> [CompletionCandidate] {
    let model = client.context.model
    switch kind {
    case .entity:
      return model.entities.map { CompletionCandidate(word: $0.name, text: TextTable.firstLine($0.documentation)) }
    case .value(let name): return try await program.candidates(for: name, from: client)
    case .object: return try await objects(client, program)
    case .author:
      var seen = Set<ByteKey>()
      let commits = try await client.readableLog(LogRequest(limit: UInt64(most), changes: 0)).commits
      return commits.map(\.author).filter { seen.insert($0).inserted }.map { CompletionCandidate(word: $0) }
    }
  }

  /// Objects of all entities, by prefixes of their ids.
  private static func objects(_ client: GraphClient, _ program: any ShellProgram) async throws -> [CompletionCandidate]
  {
    let shell = CommandContext(
      client: client, output: Output(json: false, ansi: .never, model: client.context.model, program: program))
    var found = [CompletionCandidate]()
    for entity in client.context.model.entities where entity.parent == nil && found.count < most {
      found += try await shell.readableImages(of: entity, limit: most).images.map { image in
        CompletionCandidate(word: String(image.id.description.prefix(8)), text: "\(entity.name) \(shell.title(image))")
      }
    }
    return found
  }
}
