// Tests: UnsentFileTests.swift
import Foundation
import GRDB
import GraphModel
import GraphStore

/// The marks and the answers of intents that are sent. Each call is one durable step.
extension UnsentFile {
  // MARK: - Sending

  /// Marks intents as sent. Their bytes may leave when this has returned.
  /// - Parameter known: entries that were read before, by number. One whose form is still the same is not parsed again.
  /// - Returns: the marked ones; the user has discarded the others.
  package func markLeft(
    _ numbers: [Int64], at time: Timestamp, form: IntentForm, known: [Int64: Entry] = [:]
  ) throws -> [Intent] {
    let intents = try read { database in
      try numbers.compactMap { try Self.intent($0, database, form, known: known[$0]) }
    }
    return try markLeft(intents, at: time, form: form)
  }

  /// Marks intents as sent that were read before.
  package func markLeft(_ intents: [Intent], at time: Timestamp, form: IntentForm) throws -> [Intent] {
    try write { database in
      var marked = [Intent]()
      try update(database) { replica in
        for var intent in intents {
          guard try Self.markLeft(&intent, at: time, database, form) else { continue }
          if intent.transaction.replica == replica.id { replica.left = max(replica.left, intent.transaction.sequence) }
          marked.append(intent)
        }
      }
      return marked
    }
  }

  /// Marks one intent, in place: the state is the last part of the form.
  /// - Returns: false if it is not queued any longer.
  private static func markLeft(
    _ intent: inout Intent, at time: Timestamp, _ database: Database, _ form: IntentForm
  ) throws -> Bool {
    guard case .queued = intent.state else { return false }
    let end = "\"state\":\"queued\"}"
    try database.run(
      """
      UPDATE intent SET state = 'left', form = substr(form, 1, length(form) - ?) || ?
      WHERE number = ? AND state = 'queued' AND substr(form, -?) = ?
      """,
      [end.count, "\"state\":\"left\",\"left\":\"\(RFC3339.text(time))\"}", intent.number, end.count, end])
    if database.changesCount > 0 {
      intent.state = .left(time)
      return true
    }
    guard let other = try entry(intent.number, database, form)?.intent, case .queued = other.state else { return false }
    intent = other
    intent.state = .left(time)
    try update(intent, database, form)
    return true
  }

  // MARK: - Answers

  /// The effects of the commit of an intent.
  package struct Answered: Sendable {
    package var number: Int64
    /// The permanent ids of its objects, by the provisional one.
    package var ids = [ObjectID: ObjectID]()
    /// The numbers that the server has assigned, by the object's provisional id.
    package var numbers = [ObjectID: Int64]()
    /// The edits that the server has not applied, parked; they stay in the intent's place.
    package var rest: Intent?
    /// The revision of the commit.
    package var revision: Revision

    package init(_ number: Int64, revision: Revision) { (self.number, self.revision) = (number, revision) }
  }

  /// Removes committed intents; the ids of their objects take the place of the provisional ones in all others.
  package func finish(_ answered: [Answered], form: IntentForm) throws {
    try write { database in
      for answer in answered { try Self.finish(answer, database, form) }
    }
  }

  /// Removes a committed intent; the ids of its objects take the place of the provisional ones in all others.
  /// - Parameters:
  ///   - ids: by provisional id.
  ///   - numbers: the numbers that the server has assigned, by the object's provisional id.
  ///   - rest: what the server has not applied, parked; it stays in the intent's place.
  ///   - revision: the revision of the commit.
  package func finish(
    _ number: Int64, ids: [ObjectID: ObjectID], numbers: [ObjectID: Int64] = [:], rest: Intent? = nil,
    revision: Revision = 0, form: IntentForm
  ) throws {
    var answer = Answered(number, revision: revision)
    (answer.ids, answer.numbers, answer.rest) = (ids, numbers, rest)
    try finish([answer], form: form)
  }

  private static func finish(_ answer: Answered, _ database: Database, _ form: IntentForm) throws {
    if let rest = answer.rest {
      precondition(rest.number == answer.number && rest.isParked, "what was not applied waits for the user")
      try replace(rest, database, form)
    } else {
      try remove(answer.number, database)
    }
    for (provisional, permanent) in answer.ids {
      try database.run(
        "INSERT OR REPLACE INTO name (provisional, permanent, entity, revision) VALUES (?, ?, ?, ?)",
        [
          Data(provisional.key.bytes), Data(permanent.key.bytes), form.model.entityName(permanent.entity),
          answer.revision,
        ])
    }
    for (provisional, number) in answer.numbers {
      try database.run(
        "UPDATE assigned SET number = ? WHERE object = ?", [number, Data(provisional.key.bytes)])
    }
    let revisions = answer.ids.mapValues { _ in answer.revision }
    for number in try dependents(naming: answer.number, database) {
      guard let entry = try entry(number, database, form), var intent = entry.intent else { continue }
      intent.rename(answer.ids, madeAt: revisions)
      if case .undoEdit(answer.number) = intent.content {
        intent.content = .undo(revision: answer.revision, redo: false)
      }
      if intent != entry.intent { try replace(intent, database, form) }
    }
  }

  /// Parks an intent, and those behind it that name an object which only it would have made.
  /// - Parameter text: reads the mirror, for the texts that the intent would have made. If the server's history no
  ///   longer reaches back to the intent's base, the intent keeps the texts that its splices refer to.
  package func park(_ number: Int64, _ parking: Parking, form: IntentForm, text: Intent.PastText? = nil) throws {
    try write { database in
      var parking = parking
      if let text, var intent = try Self.entry(number, database, form)?.intent {
        parking.texts = try intent.writtenTexts(text, form.model)
        if parking.isOfPrunedBase {
          try intent.keepTexts(text, form.model)
          try Self.update(intent, database, form)
        }
      }
      try Self.park([(number, parking)], database, form)
    }
  }

  static func park(
    _ first: [(number: Int64, parking: Parking)], _ database: Database, _ form: IntentForm
  ) throws {
    var waiting = first
    var parked = Set<Int64>()
    while let next = waiting.popLast() {
      guard parked.insert(next.number).inserted, var intent = try entry(next.number, database, form)?.intent,
        !intent.isParked
      else { continue }
      intent.state = .parked(next.parking)
      try replace(intent, database, form)
      waiting += try parkedBehind(next.number, next.parking.at, database, form)
    }
  }

  /// The intents that name an object which a parked one would have made, with their reason.
  private static func parkedBehind(
    _ number: Int64, _ time: Timestamp, _ database: Database, _ form: IntentForm
  ) throws -> [(number: Int64, parking: Parking)] {
    try dependents(of: number, database, form).map { ($0, .waiting(for: number, at: time)) }
  }

  /// Parks an intent that has no meaning in the present version of the model, and those behind it that name an object
  /// which only it would have made. Its form stays in its own names.
  package func parkUnreadable(_ number: Int64, _ parking: Parking, form: IntentForm) throws {
    try write { database in
      let text = try String.fetchOne(database, sql: "SELECT form FROM intent WHERE number = ?", arguments: [number])
      guard let text else { throw Self.unknown(number) }
      let members = try invariant(JSON(parsingEnvelope: text.utf8).members, "the form of an intent is an object")
      let reason = JSON.object([
        .init("code", .string(parking.code)), .init("message", .string(parking.message)),
        .init("at", .string(RFC3339.text(parking.at))),
      ])
      let others = members.filter { $0.name != "state" && $0.name != "parked" }
      let parked = JSON.object(others + [.init("state", .string("parked")), .init("parked", reason)])
      try database.execute(
        sql: "UPDATE intent SET state = 'parked', form = ? WHERE number = ?", arguments: [parked.text, number])
      try Self.log(number, database)
      try Self.park(Self.parkedBehind(number, parking.at, database, form), database, form)
    }
  }
}

extension Parking {
  /// The reason of an intent that names an object which a parked one would have made.
  static func waiting(for number: Int64, at time: Timestamp) -> Parking {
    Parking(
      code: waits, message: "it changes an object that the parked edit \(number) would have made", at: time,
      waitsFor: number)
  }

  /// Whether the server's history no longer reaches back to the intent's base.
  fileprivate var isOfPrunedBase: Bool { UTF8Comparison.equal(code, Refusal.Code.pruned.rawValue) }
}
