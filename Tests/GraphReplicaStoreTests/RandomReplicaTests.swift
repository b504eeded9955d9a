import Foundation
import GraphModel
import GraphStore
import GraphTesting
import Testing

@testable import GraphReplicaStore

/// Replicas that are offline, send, lose answers and are killed at random, beside a user who works on the server.
///
/// Once everything is sent, each replica shows what the server has, and each edit that it acknowledged was committed or
/// is parked. A planted bug must break this.
@Suite struct RandomReplicaTests {
  enum PlantedBug: CaseIterable {
    /// A parked intent is dropped.
    case dropsParked
    /// A transaction leaves before the file has it as sent, and the number is used again.
    case sendsBeforeMark
    /// The token of a commit is written without its data.
    case tokenAheadOfData
    /// The text behind an earlier edit is sent at the offsets that the user saw.
    case sendsOldOffsets
  }

  @Test(arguments: SeedSweep.seeds(40)) func nothingIsLost(seed: UInt64) throws {
    let failure = try ReplicaRun(seed: seed).run()
    #expect(failure == nil, "seed \(seed)")
  }

  @Test(arguments: PlantedBug.allCases) func plantedBugIsFound(bug: PlantedBug) throws {
    let found = SeedSweep.seeds(30).contains { seed in
      do {
        return try ReplicaRun(seed: seed, bug: bug).run() != nil
      } catch {
        // A store that was damaged by the bug.
        return true
      }
    }
    #expect(found, "\(bug)")
  }
}

/// One run, from one seed.
private final class ReplicaRun {
  private let server: TestStore
  private let fixture: MirrorFixture
  private let bug: RandomReplicaTests.PlantedBug?
  private var random: SeededGenerator
  private var store: ReplicaStore
  private var sequence: UInt64 = 0
  /// The numbers of the edits that the replica has acknowledged.
  private var acknowledged = Set<Int64>()
  /// The numbers that the server has committed, as the replica learned.
  private var committed = Set<Int64>()

  init(seed: UInt64, bug: RandomReplicaTests.PlantedBug? = nil) throws {
    self.bug = bug
    random = SeededGenerator(seed: seed)
    server = try TestStore(try Fixtures.stickies())
    let board = try server.insert("Board", ["name": .string("Home")])
    for text in ["one", "two"] { _ = try server.insert("Note", ["text": .string(text), "board": .object(board)]) }
    fixture = try MirrorFixture(server)
    let replica = UnsentFile.Replica(
      id: UniqueID(high: 1, low: seed + 1), store: try fixture.mirror.head.store, principal: "ann", author: "ann")
    try UnsentFile.create(folder: fixture.folder.path, replica: replica).close()
    store = try ReplicaStore(folder: fixture.folder.path, model: server.model) { seed }
  }

  /// - Returns: what does not hold; nil if everything holds.
  func run() throws -> String? {
    for _ in 0..<24 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4: try edit()
      case 4..<6: try others()
      case 6: try receive()
      case 7: try reopen()
      default:
        try send(isKilled: Bool.random(using: &random))
        // A program that works on the copy begins after the run of the synchronizer.
        try reopen()
      }
    }
    try send(isKilled: false)
    try receive()
    try reopen()
    return try check()
  }

  // MARK: - Steps

  private func notes() throws -> [ObjectImage] {
    var images = [ObjectImage]()
    _ = try store.fetch(FetchRequest(entity: try server.entity("Note").number)) { images.append($0) }
    return images
  }

  /// The user of the replica edits.
  private func edit() throws {
    var changes = [Change]()
    let note = try notes().randomElement(using: &random)
    let boards = try server.all("Board").map(\.id)
    switch (Int.random(in: 0..<6, using: &random), note, boards.first) {
    case (0, let note?, _): changes = [Change(.delete, note.id, base: note.revision)]
    case (1, let note?, _):
      let color = try #require(["blue", "green", "pink"].randomElement(using: &random))
      changes = [Change(.update, note.id, base: note.revision, edits: [try server.edit("Note.color", .string(color))])]
    case (2...4, let note?, _):
      let property = try server.property("Note.text")
      let text = if let text = note[property].stringValue { text } else { "" }
      let word = " a\(sequence)"
      let splice = TextSplice(offset: text.utf8.count, length: 0, insertion: word)
      changes = [Change(.update, note.id, base: note.revision, edits: [Edit(property.number, .splice([splice]))])]
    case (_, _, let board?):
      changes = [
        Change(
          .insert, .temporary(1, entity: try server.entity("Note").number),
          edits: [try server.edit("Note.text", .string("n\(sequence)")), try server.edit("Note.board", .object(board))])
      ]
    default: return
    }
    sequence += 1
    let transaction = Transaction(
      id: TransactionID(replica: UniqueID(high: 2, low: 2), sequence: sequence), changes: changes)
    let result = try store.commit([.transaction(transaction, author: "ann")], now: 1)[0]
    if case .committed = result.outcome { acknowledged.insert(try store.unsent.replica.number) }
  }

  /// Another user edits on the server.
  private func others() throws {
    guard let note = try server.all("Note").randomElement(using: &random) else { return }
    let text = try server.property("Note.text").number
    try server.by("bob") {
      switch Int.random(in: 0..<5, using: &random) {
      case 0: try server.must([Change(.delete, note.id)])
      case 1: try server.must([try server.update(note.id, "Note.color", .string("red"))])
      default:
        let splice = TextSplice(offset: 0, length: 0, insertion: "b ")
        try server.must([Change(.update, note.id, base: .max, edits: [Edit(text, .splice([splice]))])])
      }
    }
  }

  private func receive() throws {
    if bug == .tokenAheadOfData, Bool.random(using: &random) {
      _ = try fixture.mirror.apply([MirroredCommit(unchangedUpTo: server.store.head, time: 1)])
    }
    try fixture.receive()
  }

  /// The program ends and starts again.
  private func reopen() throws {
    try store.close()
    store = try ReplicaStore(folder: fixture.folder.path, model: server.model) { 7 }
  }

  // MARK: - Sending

  private func send(isKilled: Bool) throws {
    let form = IntentForm(server.model)
    for entry in try store.unsent.entries(form) where !entry.isParked {
      let kill = isKilled ? Int.random(in: 0..<6, using: &random) : 6
      // Renamed by the answers before it.
      guard let current = try store.unsent.entries(form).first(where: { $0.number == entry.number }),
        var intent = current.intent, !intent.isParked
      else { continue }
      if kill == 0 { return }
      if bug != .sendsBeforeMark { _ = try store.unsent.markLeft([intent.number], at: 1, form: form) }
      if kill == 1 { return }
      try receive()
      if bug == .sendsOldOffsets { intent.texts = [:] }
      let transaction = try intent.transaction(over: fixture.mirror)
      let outcome = try server.store.commit([.transaction(transaction, author: "ann")], now: server.now)[0].outcome
      if kill == 2 {
        // Without the mark, the edit is one that has not left: a copy of the file gives it another id.
        if bug == .sendsBeforeMark {
          try store.unsent.renew(UniqueID(high: 5, low: UInt64.random(in: 1 ... .max, using: &random)), form: form)
        }
        return
      }
      switch outcome {
      case .committed(let result):
        try receive()
        if kill == 3 { return }
        let done = CommittedIntent(intent.number, result)
        _ = try done.finish(intent.renamed(done.ids), in: store.unsent, over: fixture.mirror, at: 1, form: form)
        committed.insert(intent.number)
      case .refused(let refusal):
        if bug == .dropsParked {
          try store.unsent.finish(intent.number, ids: [:], form: form)
        } else {
          try store.unsent.park(intent.number, Parking(refusal, at: 1, left: 1), form: form)
        }
      }
    }
  }

  // MARK: - Checks

  private func check() throws -> String? {
    var visible = [ObjectID: ObjectImage]()
    _ = try store.export { visible[$0.id] = $0 }
    if try visible != fixture.served() { return "the replica differs from the server" }
    let entries = try store.unsent.entries(IntentForm(server.model))
    let waiting = entries.filter { !$0.isParked }
    if !waiting.isEmpty { return "edits were not sent" }
    for entry in entries {
      guard case .parked(let parking)? = entry.intent?.state, ["conflict", Parking.waits].contains(parking.code) else {
        return "an edit is parked without a conflict: \(entry.form)"
      }
    }
    let lost = acknowledged.subtracting(committed).subtracting(entries.map(\.number))
    if !lost.isEmpty { return "edits \(lost.sorted()) are gone" }
    // An edit is committed once.
    let textProperty = try server.property("Note.text")
    var transactions = Set<TransactionID>()
    var inserted = [String: Int]()
    for record in try server.store.commits(after: 0, through: nil, maximumChanges: .max) {
      if !transactions.insert(record.transaction).inserted { return "a transaction was committed twice" }
      for change in record.changes where change.kind == .inserted && record.author == "ann" {
        let text = change.after.flatMap { $0[textProperty].stringValue }
        if let text, text.hasPrefix("n") { inserted[text, default: 0] += 1 }
      }
    }
    if inserted.values.contains(where: { $0 > 1 }) { return "an edit was committed twice" }
    return try checkWords()
  }

  /// A word that was appended is whole: a merge moves it and never splits it.
  private func checkWords() throws -> String? {
    for note in try server.all("Note") {
      guard let text = note[try server.property("Note.text")].stringValue else { continue }
      for word in text.split(separator: " ") where word.contains("a") {
        guard word.first == "a", Int(word.dropFirst()) != nil else { return "\"\(text)\" has a split word" }
      }
    }
    return nil
  }
}
