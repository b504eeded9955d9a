import GraphClient
import GraphModel
import GraphWire

/// Sixteen clients that commit a note at a time, encrypted or not, in a process of their own. Prints their rate.
@MainActor
enum CommitClients {
  private static let count = 16

  /// - Parameters:
  ///   - unix: another address of the daemon, from which the model is read.
  ///   - pin: the hash of the daemon's key; empty without encryption.
  static func run(address text: String, unix: String, credential: String, pin: String, seconds: Double) async throws {
    let model = try WireClient(try ServerAddress(parsing: unix)).model()
    var options = GraphClient.Options(author: "bench")
    options.credentials = .token(credential)
    if !pin.isEmpty { options.security.pin = try PublicKeyHash(parsing: pin) }
    let client = try await GraphClient.connect(
      to: try ServerAddress(parsing: text), model: model, options: options)
    guard let entity = model.entity(named: "Board"), let board = client.context.insert(entity) else {
      throw BenchmarkError(description: "the model has no boards")
    }
    board["name"] = .string("Bench \(UInt32.random(in: 0...(.max)))")
    try await client.save()
    let id = board.id
    var contexts = [BackgroundContext]()
    for _ in 0..<count { contexts.append(try await client.makeBackgroundContext()) }
    // Uncounted, because the first commits extend a log that later ones overwrite.
    _ = try await commits(of: contexts, on: id, for: max(0.3, seconds / 3))
    let counted = try await commits(of: contexts, on: id, for: seconds)
    say("\(Double(counted) / seconds)")
    for context in contexts { await context.close() }
    await client.close()
  }

  /// The commits of all contexts in a time.
  private static func commits(
    of contexts: [BackgroundContext], on board: ObjectID, for seconds: Double
  ) async throws -> Int {
    let end = now() + seconds
    return try await withThrowingTaskGroup(of: Int.self) { group in
      for context in contexts {
        group.addTask {
          try await context.perform { client in
            guard let entity = client.context.model.entity(named: "Note") else { return 0 }
            var count = 0
            while now() < end {
              let note = client.context.insert(entity)
              note?["text"] = .string(Bench.text)
              note?["board"] = .object(board)
              try await client.save()
              count += 1
            }
            return count
          }
        }
      }
      var sum = 0
      for try await count in group { sum += count }
      return sum
    }
  }
}
