import ArgumentParser
import GraphModel
import StickiesKit

extension When {
  /// What `text` says here and now.
  /// - Parameter option: the option, or the command that takes it as its word, for the message.
  init(_ text: String, option: String) throws {
    do {
      try self.init(parsing: text, now: LocalClock.now, zoneSeconds: LocalClock.zoneSeconds)
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
    case .time(let time): return try await client.revision(at: time).revision
    }
  }
}
