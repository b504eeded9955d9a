import Foundation
import GRDB
import GraphModel
import GraphStore
import GraphTesting
import Testing

import struct GraphModel.FetchRequest

/// The cost of the past: it grows with the changes since, not with the size of the store and not with the number of
/// reads.
@Suite struct PastCostTests {
  @Test func pastOfObjectIsReadFromNearestKeyframe() throws {
    let count = StatementCounter()
    let store = try TestStore(try Fixtures.company()) { options in
      options.hooks.willRunStatement = count.add
    }
    let person = try store.insert("Person", ["name": .string("Ann"), "age": .integer(0)])
    var images = [try #require(try store.image(person))]
    for number in 1...400 {
      try store.must([store.update(person, "Person.age", .integer(Int64(number % 150)))])
      images.append(try #require(try store.image(person)))
    }
    _ = count.reset()
    var most = 0
    for (index, image) in images.enumerated() {
      let request = FetchRequest(entity: person.entity, predicate: .identifiers([person]))
      #expect(try store.answer(request, at: Revision(index + 1)).parts == [.object(image)])
      most = max(most, count.reset())
    }
    // About one change in eight of this object is a keyframe: 190 changes in a row without one are practically
    // impossible. A walk from the present would read 400 changes for the oldest state.
    #expect(most < 200)
    #expect(try StoreCheckRun(store).findings.isEmpty)
  }

  @Test func historySizeIsBounded() throws {
    let store = try TestStore(try Fixtures.company(), keyframeInterval: SQLiteStore.Options().keyframeInterval)
    let bio = String(repeating: "All that is known of her. ", count: 40)
    let person = try store.insert("Person", ["name": .string("Ann"), "bio": .string(bio)])
    var wire = 0
    for number in 1...2_000 {
      let change = try store.update(person, "Person.name", .string("Ann \(10_000 + number)"), base: Revision(number))
      wire += change.binary.count
      try store.must([change])
    }
    try store.store.close()
    let (changes, keyframes) = try DatabaseQueue(path: store.directory.path + "/graph.sqlite").read { database in
      (
        try Int.fetchOne(database, sql: "SELECT sum(length(changes)) FROM _commit WHERE revision > 1") ?? 0,
        try Int.fetchOne(database, sql: "SELECT count(*) FROM _whole") ?? 0
      )
    }
    #expect(keyframes > 0)
    // Ten bytes of the old name, and what a row of `_whole` takes.
    let bytes = changes - 2_000 * 10 + keyframes * 32
    #expect(bytes <= 2 * wire + 2_000 * 64, "\(bytes / 2_000) bytes for a change of \(wire / 2_000)")
  }

  @Test func pastTableUsesIndexes() throws {
    let store = try TestStore(try Fixtures.company())
    let bosses = try store.must((0..<5).map { try store.insertion("Person", ["name": .string("boss \($0)")]) })
    try store.must(
      (0..<200).map {
        try store.insertion(
          "Person", ["name": .string("n\($0)"), "manager": .object(bosses[$0 % 5]), "age": .integer(3)])
      })
    let revision = try store.store.head.revision
    try store.must([store.update(bosses[1], "Person.age", .integer(50))])
    let person = try store.entity("Person")
    func explanation(_ text: String, _ result: FetchResult = .objects) throws -> FetchExplanation {
      let predicate = try GraphPredicate(parsing: text, entity: person, model: store.model)
      let request = FetchRequest(entity: person.number, predicate: predicate, result: result, explains: true)
      return try #require(try store.answer(request, at: revision).end.explanation)
    }
    let own = try explanation("manager == \"\(bosses[1])\"")
    #expect(own.count == 40 && own.indexes.contains("Party.Person.manager"))
    #expect(own.plan.contains { $0.contains("rows that have not changed since") })
    #expect(own.plan.contains { $0.contains("that have changed since") })
    #expect(!own.plan.contains { $0.contains("reads all") }, "\(own.plan)")
    let counted = try explanation("age == 50 OR id == \"\(bosses[2])\" AND reports.@count > 10", .count)
    #expect(counted.count == 1 && counted.indexes.contains("Party.Person.manager"))
    // Unchanged objects are read from the present.
    let project = try store.entity("Project")
    let request = FetchRequest(entity: project.number, explains: true)
    let untouched = try #require(try store.answer(request, at: revision).end.explanation)
    #expect(!untouched.plan.contains { $0.contains("changed since") })
  }

  @Test func cachedRevisionIsNotReadAgain() throws {
    let count = StatementCounter()
    let store = try TestStore(try Fixtures.company()) { options in
      options.hooks.willRunStatement = count.add
    }
    let people = try store.must((0..<50).map { try store.insertion("Person", ["name": .string("n\($0)")]) })
    for person in people { try store.must([store.update(person, "Person.age", .integer(7))]) }
    let request = FetchRequest(entity: people[0].entity)
    _ = count.reset()
    let first = try store.answer(request, at: 5)
    let whole = count.reset()
    #expect(try store.answer(request, at: 5).parts == first.parts)
    let again = count.reset()
    #expect(whole > 100 && again < 10)
  }

  @Test func concurrentPastReadsSucceed() async throws {
    let store = try TestStore(try Fixtures.company())
    let people = try store.must((0..<20).map { try store.insertion("Person", ["name": .string("n\($0)")]) })
    for person in people { try store.must([store.update(person, "Person.age", .integer(7))]) }
    let (open, entity, age) = (store.store, people[0].entity, try store.property("Person.age"))
    // More than there are connections, of more revisions than they keep.
    try await withThrowingTaskGroup(of: (Int, Int).self) { group in
      for number in 0..<40 {
        let aged = number % 7
        group.addTask {
          var found = 0
          let request = FetchRequest(entity: entity, at: Revision(1 + aged))
          _ = try open.answer(request) { part in
            if case .object(let image) = part, image[age] == .integer(7) { found += 1 }
          }
          return (aged, found)
        }
      }
      for try await (aged, found) in group { #expect(aged == found) }
    }
  }
}
