import GraphModel
import GraphStore
import GraphTesting
import Testing

/// Random commits of three authors, and a naive twin that keeps the whole graph after each commit. Differences,
/// restores, the origins of values and filtered logs must equal those that the twin finds in its graphs.
@Suite struct RandomHistoryTests {
  @Test(arguments: SeedSweep.seeds(6)) func differencesMatchBothStates(seed: UInt64) throws {
    var run = try Run(seed: seed)
    try run.commit(40)
    var compared = 0
    for _ in 0..<30 {
      let (from, to) = (run.revision(), run.revision())
      guard to > 0 else { continue }
      var reported = [ObjectID: ObjectDifference]()
      _ = try run.store.store.differences(DifferenceRequest(from: from, to: to)) { reported[$0.object.id] = $0 }
      let (before, after) = (run.states[Int(from)], run.states[Int(to)])
      for id in Set(before.keys).union(after.keys) {
        let expected = ObjectDifference(from: before[id], to: after[id], model: run.store.model)
        let found = reported.removeValue(forKey: id)
        #expect(found == expected, "seed \(seed), \(from) to \(to)")
        compared += 1
      }
      #expect(reported.isEmpty, "seed \(seed), \(from) to \(to)")
    }
    #expect(compared > 100, "seed \(seed)")
  }

  @Test(arguments: SeedSweep.seeds(6)) func wholeGraphIsRestoredToAnyState(seed: UInt64) throws {
    var run = try Run(seed: 100 + seed)
    try run.commit(25)
    for _ in 0..<6 {
      let revision = run.revision()
      guard revision > 0 else { continue }
      let result = try run.store.restore(.everything, at: revision)
      if case .refused(let refusal) = result.outcome {
        #expect(refusal.code == .conflict, "seed \(seed): \(refusal)")
      } else {
        #expect(try run.store.taken(result).conflicts.isEmpty, "seed \(seed)")
        run.states.append(try run.graph())
      }
      try run.expectEqual(run.states[Int(revision)], run.graph(), "seed \(seed), revision \(revision)")
      try run.commit(3)
    }
    try run.store.expectSound()
  }

  @Test(arguments: SeedSweep.seeds(2)) func everyValueNamesItsCommit(seed: UInt64) throws {
    var run = try Run(seed: 200 + seed)
    var setters = [PropertyKey: Revision]()
    var seen: Revision = 0
    // Enough for an object's changes to carry marks, with openings and batches between them.
    for _ in 0..<30 {
      try run.commit(20, undoes: false)
      if run.random.chance(30) { try run.store.reopen() }
      if run.random.chance(30) { try run.batch() }
      for record in try run.store.store.commits(after: seen, through: nil, maximumChanges: 10_000) {
        seen = record.revision
        for change in record.changes {
          for property in run.store.model.entity(change.id.entity)?.storedProperties ?? [] {
            let isSet = change.kind == .inserted || change.edits.contains { $0.property == property.number }
            if isSet { setters[PropertyKey(id: change.id, property: property.number)] = record.revision }
          }
        }
        if let summary = record.summary, summary.count > 0 {
          Issue.record("seed \(seed): a batch of this size lists its changes")
        }
      }
    }
    var compared = 0
    for (id, image) in try run.graph() {
      for property in run.store.model.entity(id.entity)?.storedProperties ?? [] {
        let origin = try run.store.store.origin(of: property.number, of: id)
        #expect(
          origin.revision == setters[PropertyKey(id: id, property: property.number)], "seed \(seed): \(property.name)")
        #expect(origin.value == image[property], "seed \(seed): \(property.name)")
        compared += 1
      }
    }
    #expect(compared > 20, "seed \(seed)")
    try run.store.expectSound()
  }

  @Test(arguments: SeedSweep.seeds(4)) func filteredLogMatchesFilter(seed: UInt64) throws {
    var run = try Run(seed: 300 + seed)
    try run.commit(40)
    let all = try run.store.store.commits(after: 0, through: nil, maximumChanges: 100_000)
    var listed = 0
    for _ in 0..<40 {
      var request = LogRequest(after: run.revision(), limit: run.random.chance(30) ? 3 : 0)
      if run.random.chance(30) { request.through = run.revision() }
      if run.random.chance(50) { request.filter.authors = ["ann", "nobody"] }
      if run.random.chance(40) { request.filter.entities = [try run.store.entity("Tag").number] }
      if run.random.chance(30), let id = run.random.pick(run.states.flatMap(\.keys).sorted()) {
        request.filter.object = id.description
      }
      if run.random.chance(30) { request.filter.since = run.random.pick(all)?.time }
      if run.random.chance(30) { request.filter.until = run.random.pick(all)?.time }
      request.oldestFirst = run.random.chance(50)
      if run.random.chance(30) { request.changes = UInt64.random(in: 0...2, using: &run.random) }
      var found = [CommitRecord]()
      _ = try run.store.store.log(request) { found.append($0) }
      #expect(found == run.fitting(request, all), "seed \(seed): \(request)")
      listed += found.count
    }
    #expect(listed > 50, "seed \(seed)")
  }

  @Test(arguments: UInt64(1)...4) func followingInPartsReturnsEveryCommitOnce(seed: UInt64) throws {
    var run = try Run(seed: 400 + seed)
    try run.commit(30)
    let all = try run.store.store.commits(after: 0, through: nil, maximumChanges: 100_000)
    var position = Token(store: run.store.store.storeID, revision: 0, fingerprint: 0)
    let filter = HistoryFilter(authors: seed % 2 == 0 ? ["bob"] : [])
    var found = [CommitRecord]()
    var isDone = false
    while !isDone {
      let limit = UInt64.random(in: 0...4, using: &run.random)
      let part = try run.store.store.follow(FollowRequest(since: position, filter: filter, limit: limit))
      found += part.commits
      #expect(part.at.revision >= part.commits.last?.revision ?? position.revision)
      isDone = part.at == part.head
      position = part.at
    }
    let wanted = LogRequest(filter: filter, oldestFirst: true)
    #expect(found == run.fitting(wanted, all), "seed \(seed)")
    #expect(found.count > 2, "seed \(seed)")
    #expect(try position == run.store.store.head)
  }

  private struct PropertyKey: Hashable {
    let id: ObjectID
    let property: PropertyNumber
  }

  private struct Run {
    let store: TestStore
    var random: SeededGenerator
    /// By revision.
    var states = [[ObjectID: ObjectImage]]()
    private var lastName = 0

    init(seed: UInt64) throws {
      random = SeededGenerator(seed: seed)
      store = try TestStore(try Fixtures.stickies(), sliceObjects: 1_000)
      states = [[:]]
      _ = try store.insert("Board", ["name": .string("home")])
      states.append(try graph())
    }

    func graph() throws -> [ObjectID: ObjectImage] {
      var all = [ObjectID: ObjectImage]()
      for entity in ["Board", "Note", "Tag", "Link"] {
        for image in try store.all(entity) { all[image.id] = image }
      }
      return all
    }

    mutating func revision() -> Revision { Revision.random(in: 0..<Revision(states.count), using: &random) }

    mutating func commit(_ count: Int, undoes: Bool = true) throws {
      for _ in 0..<count {
        let author = random.pick(["ann", "bob", "zoe"]) ?? "ann"
        let result = try store.by(author) {
          if undoes, random.chance(10) { return try store.undo() }
          return try store.commit(changes(), policy: .overwrite)
        }
        if case .committed = result.outcome { states.append(try graph()) }
      }
    }

    mutating func batch() throws {
      let z = Value.double(Double(random.next() % 1_000))
      let property = try store.property("Note.z").number
      let result = try store.batch("Note", .update(.always, [Batch.Assignment(property, .value(z))]))
      try store.taken(result)
      // Without notes the batch changes nothing.
      if result.record != nil { states.append(try graph()) }
    }

    private mutating func changes() throws -> [Change] {
      let (boards, notes, tags) = (try store.all("Board"), try store.all("Note"), try store.all("Tag"))
      var changes = [Change]()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        lastName += 1
        let note = random.pick(notes)?.id
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
          guard let board = random.pick(boards) else { continue }
          var values: [String: Value] = ["board": .object(board.id), "text": .string("the cat sat")]
          if let tag = random.pick(tags) { values["tags"] = .objects([tag.id]) }
          changes.append(try store.insertion("Note", values))
        case 2: changes.append(try store.insertion("Board", ["name": .string("board \(lastName)")]))
        case 3: changes.append(try store.insertion("Tag", ["name": .string("tag \(lastName)")]))
        case 4:
          guard let note, let other = random.pick(notes)?.id else { continue }
          changes.append(try store.insertion("Link", ["from": .object(note), "to": .object(other)]))
        case 5:
          let victims = [note, random.pick(tags)?.id, boards.count > 1 ? random.pick(boards)?.id : nil]
          if let victim = random.pick(victims.compactMap { $0 }), random.chance(60) {
            changes.append(Change(.delete, victim))
          }
        case 6:
          guard let note, let board = random.pick(boards) else { continue }
          changes.append(try store.update(note, "Note.board", .object(board.id)))
        case 7:
          guard let note else { continue }
          let ids = tags.map(\.id).filter { _ in random.chance(50) }
          changes.append(try store.update(note, "Note.tags", .objects(ids)))
        case 8:
          guard let note else { continue }
          changes.append(try store.update(note, "Note.text", .string("the cat \(lastName)")))
        default:
          guard let note else { continue }
          let name = random.pick(["x", "y", "z"]) ?? "x"
          changes.append(try store.update(note, "Note.\(name)", .double(Double(random.next() % 100))))
        }
      }
      // A transaction deletes nothing that it needs.
      let deleted = Set(changes.filter { $0.kind == .delete }.map(\.id))
      return deleted.isEmpty ? changes : changes.filter { $0.kind == .delete }
    }

    /// Equal except for the revisions of the last change.
    func expectEqual(
      _ expected: [ObjectID: ObjectImage], _ found: [ObjectID: ObjectImage], _ words: String
    ) throws {
      let updated = try store.property("Note.updated").number
      #expect(expected.keys.sorted() == found.keys.sorted(), "\(words)")
      for (id, image) in expected {
        for property in store.model.entity(id.entity)?.storedProperties ?? [] where property.number != updated {
          #expect(found[id]?[property] == image[property], "\(words): \(property.name)")
        }
      }
    }

    func fitting(_ request: LogRequest, _ all: [CommitRecord]) -> [CommitRecord] {
      let filter = request.filter
      let family = filter.family(in: store.model)
      var fitting = all.compactMap { record -> CommitRecord? in
        guard record.revision > request.after, request.through == 0 || record.revision <= request.through,
          filter.authors.isEmpty || filter.authors.contains(record.author), record.time >= filter.since ?? .min,
          record.time < filter.until ?? .max
        else { return nil }
        var record = record
        record.changes.removeAll { change in
          family?.contains(change.id.entity) == false
            || !filter.object.isEmpty && change.id.description != filter.object
        }
        guard filter.selectsWholeCommits || !record.changes.isEmpty else { return nil }
        let shown = Array(record.changes.prefix(request.changes.map { Int(clamping: $0) } ?? .max))
        (record.changes, record.more) = (shown, record.changes.count - shown.count)
        return record
      }
      if !request.oldestFirst { fitting.reverse() }
      return request.limit == 0 ? fitting : Array(fitting.prefix(Int(request.limit)))
    }
  }
}
