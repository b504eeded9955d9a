import ArgumentParser
import GraphClient
import GraphModel

extension RevisionSpecifier {
  /// Parses a moment relative to the present time and the local time zone.
  /// - Parameters:
  ///   - option: the option or command, for the error message.
  ///   - toTheEnd: whether a given second is included up to its end, as for a state.
  init(_ text: String, option: String, toTheEnd: Bool = true) throws {
    do {
      try self.init(parsing: text, now: LocalClock.now, clock: LocalClock.wall, toTheEnd: toTheEnd)
    } catch {
      throw ValidationError("\(option): \(error)")
    }
  }

  /// The revision at this moment.
  @MainActor
  func revision(in client: GraphClient) async throws -> Revision {
    switch self {
    case .revision(let revision): return revision
    case .now: return try await client.revision(at: .max).revision
    case .time(let time): return try await client.revision(at: time).revision
    }
  }
}
