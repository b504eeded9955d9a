import GraphModel
import GraphStore
import GraphTesting
import Testing

/// A pruned store and an unpruned one with the same history answer equally at and above the floor.
@Suite struct PruningTwinTests {
  @Test(arguments: UInt64(1)...6) func historyAboveFloorIsComplete(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let whole = try TestStore(try Fixtures.stickies())
    try fill(whole, 60, &random)
    let head = try whole.store.head
    let pruned = try whole.twin()
    var floor: Revision = 0
    for _ in 0..<3 {
      floor = Revision.random(in: floor...(head.revision - 1), using: &random)
      try pruned.prune(through: floor)
      #expect(try pruned.store.oldestRevision == floor, "seed \(seed)")
      try compare(pruned, whole, floor, head, seed, &random)
    }
    try pruned.expectSound()
    // The store continues with commits, undos and another pruning.
    try fill(pruned, 20, &random)
    try pruned.prune(through: pruned.store.head.revision - 5)
    let findings = try StoreCheckRun(pruned).findings
    #expect(findings.isEmpty, "seed \(seed): \(findings)")
  }

  private func fill(_ store: TestStore, _ count: Int, _ random: inout SeededGenerator) throws {
    for number in 0..<count {
      let (notes, tags, boards) = (try store.all("Note"), try store.all("Tag"), try store.all("Board"))
      let name = "\(try store.store.head.revision) \(number)"
      guard let board = random.pick(boards), let note = random.pick(notes) else {
        let board = try store.insert("Board", ["name": .string("b \(name)")])
        _ = try store.insert("Note", ["board": .object(board), "text": .string("first")])
        continue
      }
      store.author = random.pick(["ann", "bob"]) ?? "ann"
      switch Int.random(in: 0..<10, using: &random) {
      case 0: _ = try store.commit([store.insertion("Board", ["name": .string("b \(name)")])])
      case 1: _ = try store.commit([store.insertion("Tag", ["name": .string("t \(name)")])])
      case 2, 3:
        let values: [String: Value] = ["board": .object(board.id), "text": .string("note \(name)")]
        _ = try store.commit([store.insertion("Note", values)])
      case 4: _ = try store.commit([Change(.delete, note.id, base: .max)])
      case 5: _ = try store.undo()
      case 6:
        let ids = tags.map(\.id).filter { _ in random.chance(50) }
        _ = try store.commit([store.update(note.id, "Note.tags", .objects(ids))])
      case 7: _ = try store.commit([store.update(note.id, "Note.text", .string("the cat \(name)"))])
      default:
        let x = Value.double(Double(random.next() % 100))
        _ = try store.commit([store.update(note.id, "Note.x", x)])
      }
    }
  }

  private func graph(_ store: TestStore, at revision: Revision?) throws -> [ObjectImage] {
    var images = [ObjectImage]()
    for name in ["Board", "Note", "Tag", "Link"] {
      let request = FetchRequest(entity: try store.entity(name).number, at: revision)
      _ = try store.store.fetch(request) { images.append($0) }
    }
    return images.sorted { $0.id < $1.id }
  }

  /// A redo knows its step by the undo between them; where that is gone it stands as the undo of an undo.
  private func known(_ record: CommitRecord, _ floor: Revision) -> CommitRecord {
    var record = record
    if let undoes = record.undoes, undoes <= floor { record.redoes = nil }
    return record
  }

  private func compare(
    _ pruned: TestStore, _ whole: TestStore, _ floor: Revision, _ head: Token, _ seed: UInt64,
    _ random: inout SeededGenerator
  ) throws {
    let words = "seed \(seed), floor \(floor)"
    #expect(try graph(pruned, at: nil) == graph(whole, at: nil), "\(words)")
    for _ in 0..<6 {
      let revision = Revision.random(in: floor...head.revision, using: &random)
      #expect(try graph(pruned, at: revision) == graph(whole, at: revision), "\(words), at \(revision)")
      let other = Revision.random(in: floor...head.revision, using: &random)
      #expect(try differences(pruned, revision, other) == differences(whole, revision, other), "\(words)")
      let expected = try whole.store.commits(after: revision, through: nil, maximumChanges: 10_000)
      let found = try pruned.store.commits(after: revision, through: nil, maximumChanges: 10_000)
      #expect(found == expected.map { known($0, floor) }, "\(words), after \(revision)")
      if let first = expected.first {
        #expect(try pruned.store.revision(at: first.time) == whole.store.revision(at: first.time), "\(words)")
      }
    }
    let all = try whole.store.commits(after: 0, through: nil, maximumChanges: 10_000)
    for record in all {
      let token = Token(store: head.store, revision: record.revision, fingerprint: record.fingerprint)
      #expect(try pruned.store.recognizes(token) == (record.revision >= floor), "\(words), \(record.revision)")
      if record.revision < floor {
        let refusal = #expect(throws: Refusal.self) {
          _ = try pruned.store.follow(FollowRequest(since: token))
        }
        #expect(refusal?.code == .pruned, "\(words)")
      } else {
        let (reported, expected) = (
          try pruned.store.follow(FollowRequest(since: token)), try whole.store.follow(FollowRequest(since: token))
        )
        #expect(reported.commits == expected.commits.map { known($0, floor) }, "\(words)")
        #expect(reported.at == expected.at, "\(words)")
      }
    }
    try compareOrigins(pruned, whole, floor, words)
  }

  private func differences(_ store: TestStore, _ from: Revision, _ to: Revision) throws -> [ObjectDifference] {
    var found = [ObjectDifference]()
    guard to > 0 else { return found }
    _ = try store.store.differences(DifferenceRequest(from: from, to: to)) { found.append($0) }
    return found
  }

  /// The origin of a value is known as long as history has the commit that set it.
  private func compareOrigins(
    _ pruned: TestStore, _ whole: TestStore, _ floor: Revision, _ words: String
  ) throws {
    var compared = 0
    for image in try graph(whole, at: nil) {
      for property in whole.model.entity(image.id.entity)?.storedProperties ?? [] {
        let expected = try whole.store.origin(of: property.number, of: image.id)
        compared += 1
        do {
          var found = try pruned.store.origin(of: property.number, of: image.id)
          if expected.undoes.map({ $0 <= floor }) == true { found.redoes = expected.redoes }
          #expect(found == expected, "\(words): \(property.name)")
          #expect(expected.revision > floor, "\(words): \(property.name)")
        } catch let refusal as Refusal {
          #expect(refusal.code == .pruned, "\(words): \(refusal)")
          // Only the delete shows whether a revival changed anything.
          #expect(expected.revision <= floor || expected.kind == .revived, "\(words): \(property.name)")
        }
      }
    }
    #expect(compared > 10, "\(words)")
  }
}
