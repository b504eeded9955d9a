import ArgumentParser
import GraphModel
import GraphWire

/// A state of the store, as people write it: the one place where WHEN is read.
enum Moment {
  case revision(Revision)
  /// The state at that time: what had been committed by then.
  case time(Timestamp)

  /// A revision's number, or a date as RFC 3339 has it; nil for anything else.
  init?(_ text: String) {
    if let revision = Revision(text) {
      self = .revision(revision)
    } else if let time = Dates.timestamp(text) {
      self = .time(time)
    } else {
      return nil
    }
  }

  static func parse(_ text: String, option: String) throws -> Moment {
    guard let moment = Moment(text) else {
      throw ValidationError("\(option) takes a revision or a time, not \"\(text)\"")
    }
    if case .revision(let revision) = moment, revision < 0 {
      throw ValidationError("\(option) takes a revision from 0")
    }
    return moment
  }
}

extension Shell {
  /// The revision of a moment.
  func revision(_ moment: Moment) async throws -> Revision {
    switch moment {
    case .revision(let revision): return revision
    case .time(let time):
      let request = LogRequest(limit: 1, filter: HistoryFilter(until: time + 1))
      return try await client.log(request).first?.revision ?? 0
    }
  }
}
