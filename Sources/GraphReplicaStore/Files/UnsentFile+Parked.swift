// Tests: UnsentFileTests.swift
import GRDB
import GraphModel
import GraphStore

/// The user's actions on intents: retry, replace, discard.
extension UnsentFile {
  /// Queues a parked intent again, under a new transaction id, with those that wait for it.
  /// - Parameters:
  ///   - policy: nil for the intent's own.
  ///   - base: the server's revision that the user has seen now.
  /// - Returns: the numbers of the queued intents.
  /// - Throws: `Refusal(.conflict)` if it is not parked, or has no meaning without a state that the server has lost.
  package func retry(
    _ number: Int64, policy: MergePolicy? = nil, base: Revision, form: IntentForm
  ) throws -> [Int64] {
    try write { database in
      guard let first = try Self.intent(number, database, form), case .parked(let parking) = first.state else {
        throw Self.notParked(number)
      }
      if parking.isRestored, first.needsItsBase { throw Self.needsLostState(number) }
      // In the order of their numbers, so that their transaction ids are, too.
      let retried = try Self.waiting(for: number, database, form)
      try update(database) { replica in
        for number in retried {
          var intent = try invariant(Self.intent(number, database, form), "an intent that is retried can be read")
          replica.sequence += 1
          intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
          if number == first.number {
            if let policy { intent.policy = policy }
            intent.raiseBases(to: base)
          }
          intent.state = .queued
          try Self.replace(intent, database, form)
        }
      }
      return retried
    }
  }

  /// A parked intent and those that wait for it, ascending.
  private static func waiting(for number: Int64, _ database: Database, _ form: IntentForm) throws -> [Int64] {
    var (found, open) = (Set([number]), [number])
    while let next = open.popLast() {
      for other in try dependents(naming: next, database) where !found.contains(other) {
        guard let intent = try entry(other, database, form)?.intent, case .parked(let parking) = intent.state,
          let cause = parking.waitsFor, found.contains(cause)
        else { continue }
        found.insert(other)
        open.append(other)
      }
    }
    return found.sorted()
  }

  /// The intents that would be discarded with one: those that name an object which only it makes.
  package func dependents(of number: Int64, form: IntentForm) throws -> [Int64] {
    try read { database in try Self.closure(of: number, database, form) }
  }

  /// An intent and those that depend on it, ascending.
  private static func closure(of number: Int64, _ database: Database, _ form: IntentForm) throws -> [Int64] {
    var (found, open) = (Set([number]), [number])
    while let next = open.popLast() {
      for other in try dependents(of: next, database, form) where found.insert(other).inserted { open.append(other) }
    }
    return found.sorted()
  }

  /// Removes an intent, and those that name an object which only it makes. One that may have reached the server and
  /// has no answer is not removed.
  /// - Returns: the removed intents' forms.
  package func discard(_ number: Int64, form: IntentForm) throws -> [String] { try discard([number], form: form) }

  /// Removes intents, and those that name an object which only they make, in one step.
  package func discard(_ numbers: [Int64], form: IntentForm) throws -> [String] {
    try write { database in
      var gone = Set<Int64>()
      for number in numbers { gone.formUnion(try Self.closure(of: number, database, form)) }
      return try gone.sorted().map { number in
        let row = try GRDB.Row.fetchOne(
          database, sql: "SELECT form, state FROM intent WHERE number = ?", arguments: [number])
        guard let row else { throw Self.unknown(number) }
        guard (row[1] as String) != "left" else {
          throw Refusal(
            .conflict,
            "edit \(number) is on its way: it can be undone when the server has answered (stickies sync now)")
        }
        try Self.remove(number, database)
        return row[0]
      }
    }
  }

  private static func needsLostState(_ number: Int64) -> Refusal {
    Refusal(
      .conflict,
      "edit \(number) refers to a state that the restored server no longer has: discard it (stickies sync discard "
        + "\(number)), or give the whole value (stickies sync edit \(number))")
  }

  /// Replaces a parked intent by another form of it, and queues it under a new transaction id.
  /// - Parameter base: the server's revision that the user has seen now.
  package func replace(_ number: Int64, by other: Intent, base: Revision, form: IntentForm) throws {
    try write { database in
      guard case .parked(let parking)? = try Self.intent(number, database, form)?.state else {
        throw Self.notParked(number)
      }
      if parking.isRestored, other.needsItsBase { throw Self.needsLostState(number) }
      var intent = other
      intent.raiseBases(to: base)
      try update(database) { replica in
        replica.sequence += 1
        intent.transaction = TransactionID(replica: replica.id, sequence: replica.sequence)
        intent.number = number
        intent.state = .queued
        try Self.replace(intent, database, form)
      }
    }
  }

  /// Removes all intents, in any state, and begins to replace the mirror.
  ///
  /// The forms are passed on inside the transaction that removes them: an edit that another process appends meanwhile
  /// waits for the end of it, and stays in the queue.
  /// - Parameters:
  ///   - keep: receives some forms at a time, in order.
  ///   - finish: makes durable what was kept. If it throws, nothing is removed.
  package func discardAll(keep: ([String]) throws -> Void, finish: () throws -> Void) throws {
    try write { database in
      var page = try Self.forms(database, after: 0, limit: Self.discardedAtOnce)
      while let last = page.last {
        try keep(page.map(\.form))
        page = try Self.forms(database, after: last.number, limit: Self.discardedAtOnce)
      }
      try finish()
      try database.execute(
        sql: "INSERT INTO change (number) SELECT number FROM intent; DELETE FROM intent; DELETE FROM named")
      try Self.trimLog(database)
      try update(database) { $0.state = .discarding(step: 2) }
    }
  }

  /// The forms that are in memory at a time.
  private static let discardedAtOnce = 500
}
