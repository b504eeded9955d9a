import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphWire

/// Follows all notes with the client library in its own process: through `live`, or with an observer of the context.
/// Prints a line when the first result has arrived, and the seconds of processor time that the commits after it needed.
@MainActor
enum LiveFollower {
  /// How the notes are followed.
  enum Way: String, CaseIterable {
    case live, observer
  }

  private final class FollowedNote: ManagedObject {
    override class var entityName: String { "Note" }
  }

  /// - Parameters:
  ///   - commits: the number of commits to follow, each of which changes a note.
  static func run(address text: String, _ way: Way, commits: Int) async throws {
    let address = try ServerAddress(parsing: text)
    let model = try WireClient(address).model()
    let client = try await GraphClient.connect(
      to: address, model: model, classes: [FollowedNote.self], options: .init(author: "bench"))
    guard let head = client.welcome?.head.revision else { throw BenchmarkError(description: "there is no welcome") }
    let last = head + Revision(commits)
    let start: Double
    switch way {
    case .live: start = try await followLive(client, through: last)
    case .observer: start = try await observe(client, through: last)
    }
    say("\(processorSeconds() - start)")
    await client.close()
  }

  /// Returns the processor time at the first result, after the last commit has arrived.
  private static func followLive(_ client: GraphClient, through last: Revision) async throws -> Double {
    var start: Double?
    for try await notes in client.live(FollowedNote.self) {
      if start == nil { start = begin(notes.count) }
      if notes.revision >= last { break }
    }
    return start ?? .nan
  }

  private static func observe(_ client: GraphClient, through last: Revision) async throws -> Double {
    guard let note = client.context.model.entity(named: "Note") else {
      throw BenchmarkError(description: "there are no notes")
    }
    let (revisions, seen) = AsyncStream.makeStream(of: Revision.self)
    let observation = client.context.observe { seen.yield($0.revision) }
    defer { observation.cancel() }
    let query = try await client.subscribe(to: note)
    let start = begin(query.objects().count)
    for await revision in revisions where revision >= last { break }
    return start
  }

  private static func begin(_ count: Int) -> Double {
    say("\(count)")
    return processorSeconds()
  }

  /// The processor time of this process.
  private static func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
