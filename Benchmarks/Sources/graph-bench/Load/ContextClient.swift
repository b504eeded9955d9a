import GraphClient
import GraphModel
import GraphWire

/// Commits notes with a client on the main actor and with a background context, in turns, in its own process. Prints
/// the seconds of a commit of both.
@MainActor
enum ContextClient {
  private static let turns = 5

  static func run(address text: String, seconds: Double) async throws {
    let address = try ServerAddress(parsing: text)
    let model = try WireClient(address).model()
    let client = try await GraphClient.connect(to: address, model: model, options: .init(author: "bench"))
    let background = try await client.makeBackgroundContext()
    let board = try insert("Board", ["name": .string("Bench")], by: client)
    try await client.save()
    let id = board.id
    var (main, other) = ([Double](), [Double]())
    for _ in 0..<turns {
      main.append(try await commitTime(client, on: id, for: seconds))
      other.append(try await background.perform { try await commitTime($0, on: id, for: seconds) })
    }
    say("\(median(main)) \(median(other))")
    await background.close()
    await client.close()
  }

  private nonisolated static func insert(
    _ name: String, _ values: [String: Value], by client: GraphClient
  ) throws -> ManagedObject {
    guard let entity = client.context.model.entity(named: name), let object = client.context.insert(entity) else {
      throw BenchmarkError(description: "there is no \(name)")
    }
    for (name, value) in values { object[name] = value }
    return object
  }

  /// Returns the seconds of a commit of one note, on the actor of the client.
  private nonisolated(nonsending) static func commitTime(
    _ client: GraphClient, on board: ObjectID, for seconds: Double
  ) async throws -> Double {
    let start = now()
    var count = 0
    while now() - start < seconds {
      _ = try insert("Note", ["text": .string(Bench.text), "board": .object(board)], by: client)
      try await client.save()
      count += 1
    }
    return (now() - start) / Double(max(1, count))
  }
}
