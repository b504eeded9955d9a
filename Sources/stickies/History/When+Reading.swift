import ArgumentParser
import GraphModel
import StickiesKit

extension When {
  /// What `text` says here and now.
  /// - Parameters:
  ///   - option: the option, or the command that takes it as its word, for the message.
  ///   - toTheEnd: whether a second that is named is meant to its end, as that of a state is.
  init(_ text: String, option: String, toTheEnd: Bool = true) throws {
    do {
      try self.init(parsing: text, now: LocalClock.now, clock: LocalClock.wall, toTheEnd: toTheEnd)
    } catch {
      throw ValidationError("\(option): \(error)")
    }
  }
}

extension Shell {
  /// The revision of a moment.
  func revision(_ moment: When) async throws -> Revision {
    switch moment {
    case .revision(let revision): return revision
    case .now: return try await client.revision(at: .max).revision
    case .time(let time): return try await client.revision(at: time).revision
    }
  }
}
