import ArgumentParser
import GraphModel

/// The condition and the time limit of a wait.
package struct WaitOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "Wait until the store has this revision.")
  package var revision: Revision?
  @Option(
    parsing: .unconditional,
    help: "Wait until this many match; 0: until none matches; default: 1, or all that are named.")
  package var count: Int?
  @Option(
    name: .customLong("timeout"), parsing: .unconditional,
    help: ArgumentHelp("Wait at most this long: 500ms, 10s, 2m, 1h; a plain number is in seconds.", valueName: "time"))
  var limit: TimeSpan?

  package var timeout: TimeSpan? { limit }

  package init() {}

  /// The time limit for the first answer if the limit is zero, in milliseconds.
  private static let answerMilliseconds: Int64 = 10_000

  /// The number of objects to wait for.
  package func count(otherwise number: Int) -> Int { if let count { count } else { number } }

  /// Connects, and waits for the revision or for objects, all within the time limit.
  /// - Parameters:
  ///   - connected: runs a body with a connection.
  ///   - forObjects: waits for objects; not called if the options have a revision.
  @MainActor
  package func run(
    connected: @escaping @MainActor (_ body: (CommandContext) async throws -> Void) async throws -> Void,
    forObjects: @escaping @MainActor (ChangeWaiter) async throws -> Void
  ) async throws {
    let missing = ChangeWaiter.TimeoutReason()
    @MainActor func wait() async throws {
      try await connected { shell in
        let waiter = ChangeWaiter(shell: shell, timeout: timeout, missing: missing)
        let hint = waiter.hint()
        defer { hint?.cancel() }
        if let revision { try await waiter.until(revision) } else { try await forObjects(waiter) }
      }
    }
    guard let timeout else { return try await wait() }
    try await TimeLimit.run(
      milliseconds: timeout.milliseconds == 0 ? Self.answerMilliseconds : timeout.milliseconds,
      late: { TimeoutError(limit: timeout, missing: missing.sentence) }, wait)
  }

  /// Validates the combination of options.
  /// - Parameter what: the ways to specify objects, for the error message.
  package func check(asksForObjects: Bool, _ what: String) throws {
    if let revision {
      if revision < 0 { throw ValidationError("--revision must be 0 or more") }
      if asksForObjects || count != nil {
        throw ValidationError("a wait is for a revision or for objects that match, not for both")
      }
    } else if !asksForObjects {
      throw ValidationError("there is nothing to wait for: name \(what), or a --revision")
    }
    if let count, count < 0 { throw ValidationError("--count must be 0 or more") }
  }
}

/// A duration: `500ms`, `10s`, `2m`, `1h`, or seconds.
package struct TimeSpan: ExpressibleByArgument, Hashable {
  package let text: String
  package let milliseconds: Int64

  package init?(argument: String) {
    let units: [(String, Double)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
    let (unit, factor) = units.first { argument.hasSuffix($0.0) } ?? ("", 1_000)
    let digits = argument.dropLast(unit.count)
    guard let first = digits.utf8.first, (0x30...0x39).contains(first) || first == 0x2E,
      let number = Double(decimal: digits),
      // At most a year, which cannot overflow.
      number >= 0, number * factor <= 366 * 24 * 3_600_000
    else { return nil }
    text = unit.isEmpty ? argument + "s" : argument
    milliseconds = Int64((number * factor).rounded(.up))
  }
}
