import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

@testable import GraphClient

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Every error of a request has a kind, names instead of numbers, and a sentence.
@MainActor
@Suite(.timeLimit(.minutes(1))) struct GraphErrorTests {
  private let model = FixtureModel.model

  @Test(arguments: Refusal.Code.allCases)
  func everyCodeHasKindAndSentence(code: Refusal.Code) throws {
    let project = try #require(model.entity(named: "Project"))
    let title = try #require(project.property(named: "title")).number
    let id = ObjectID(key: UniqueID(high: 1, low: 2), entity: project.number)
    let refusal = Refusal(
      code, "a sentence", conflicts: [Conflict(kind: .changed, id: id, property: title, author: "bob")],
      violations: [Violation(id: id, property: title, rule: "required", value: .object(id), message: "a title")])
    let kind = GraphError(refusal, in: model)
    let expected =
      switch code {
      case .conflict:
        "bob changed title of Project meanwhile; fetch again and repeat the edit, or save under another policy"
      case .invalid, .unique: "a title"
      case .denied: "the object can't be deleted: another object refers to it; delete or change that object first"
      case .notFound, .malformed, .limit, .pruned, .unavailable, .notAllowed: "a sentence"
      case .cancelled: "the request was cancelled"
      }
    #expect("\(kind)" == expected)
    let isKind =
      switch (code, kind) {
      case (.conflict, .conflict(let values, let authors)):
        authors == ["bob"] && values.map(\.property) == ["title"] && values.map(\.entity) == ["Project"]
      case (.invalid, .invalid(let violations)), (.unique, .notUnique(let violations)):
        violations.map(\.properties) == [["title"]] && violations.map(\.rule) == ["required"]
      case (.denied, .denied(let objects)): objects == [id]
      case (.notFound, .notFound), (.pruned, .notFound): true
      case (.malformed, .notAllowed), (.limit, .notAllowed), (.notAllowed, .notAllowed): true
      case (.unavailable, .unavailable), (.cancelled, .cancelled): true
      default: false
      }
    #expect(isKind, "\(code) became \(kind)")
  }

  @Test func errorsOfOtherTypesHaveKinds() throws {
    let failure = ConnectFailure(address: .unix(path: "/none"), cause: "no such file")
    #expect(GraphError(failure, in: model) == .unavailable("no server answers at unix:///none (no such file)"))
    #expect(GraphError(CancellationError(), in: model) == .cancelled)
    #expect(GraphError(GraphError.cancelled, in: model) == .cancelled)
    let mistake = #expect(throws: PredicateSyntaxError.self) {
      _ = try GraphPredicate(
        parsing: "nothing == 1", entity: try #require(model.entity(named: "Project")), model: model)
    }
    #expect(GraphError(try #require(mistake), in: model) == .notAllowed("\(try #require(mistake))"))
    let column = RowValueError(column: "c", message: "no such column")
    #expect(GraphError(column, in: model) == .notAllowed("no such column"))
    struct Foreign: Error {}
    #expect(GraphError(Foreign(), in: model) == nil)
  }

  @Test func conflictWithoutValuesKeepsItsSentence() {
    let undone = Refusal(.conflict, "revision 5 is undone already")
    #expect(GraphError(undone, in: model) == .notAllowed("revision 5 is undone already"))
  }

  @Test func localizedDescriptionIsSentence() {
    let failure: any Error = ConnectFailure(address: .unix(path: "/none"), cause: "no such file")
    #expect((failure as? any LocalizedError)?.errorDescription == "no server answers at unix:///none (no such file)")
    #expect(GraphError.cancelled.errorDescription == "the request was cancelled")
    #expect(Refusal(.notFound, "no such object").errorDescription == "no such object")
  }

  @Test func valueHasTextForPeople() throws {
    let project = try #require(model.entity(named: "Project"))
    let id = ObjectID(key: UniqueID(high: 1, low: 2), entity: project.number)
    let values: [Value] = [.null, .string("say \"hi\""), .integer(-5), .bool(true), .object(id)]
    #expect(values.map(\.text) == ["", "say \"hi\"", "-5", "true", id.description])
  }

  @Test func modelNamesKindOfConnectionFailure() async throws {
    enum Served: ServedModel {
      static let model = FixtureModel.model
      static let classes: [ManagedObject.Type] = []
    }
    let failure = ConnectFailure(address: .unix(path: "/none"), cause: "no such file")
    await #expect(throws: GraphError.unavailable("\(failure)")) { try await Served.attempt { throw failure } }
    #expect(try await Served.attempt { 1 } == 1)
  }

  @Test func deletedAndChangedObjectsAreInOneSentence() throws {
    let project = try #require(model.entity(named: "Project"))
    func id(_ low: UInt64) -> ObjectID { ObjectID(key: UniqueID(high: 1, low: low), entity: project.number) }
    let (title, year) = (FixtureModel.property("title"), FixtureModel.property("year"))
    let kind = GraphError(
      Refusal(
        .conflict, "",
        conflicts: [
          Conflict(kind: .changed, id: id(1), property: title, author: "bob"),
          Conflict(kind: .changed, id: id(1), property: year, author: "cleo"),
          Conflict(kind: .changed, id: id(2), property: year, author: "bob"),
          Conflict(kind: .deleted, id: id(3), author: ""),
        ]), in: model)
    #expect(
      "\(kind)".hasPrefix(
        "bob changed title of Project, year of Project and cleo changed year of Project and another client deleted "
          + "Project meanwhile; fetch again"))
  }

  /// An update against a delete: repeating the edit would have no effect.
  @Test func editOfDeletedObjectNamesTheAuthorAndTheRemedy() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let project = graph.insert("one", into: ann)
      try await ann.save()
      bob.context.delete(try #require(try await bob.fetchOne(Project.self, id: project.id)))
      try await bob.save()

      project["title"] = .string("two")
      let error = await #expect(throws: GraphError.self) { try await ann.attempt { try await ann.save() } }
      guard case .conflict(let values, let authors)? = error else {
        Issue.record("\(String(describing: error)) is no conflict")
        return
      }
      #expect(authors == ["bob"] && values.map(\.kind) == [.deleted] && values.map(\.object) == [project.id])
      #expect(values.map(\.property) == [nil] && values.map(\.author) == ["bob"])
      #expect(
        error?.description == "bob deleted Project meanwhile; no edit brings it back: discard the edits, or restore it "
          + "and repeat them")
      // The remedy works.
      ann.context.rollback()
      try await ann.restore(project.id)
      let restored = try #require(try await ann.fetchOne(Project.self, id: project.id))
      restored["title"] = .string("two")
      try await ann.save()
      #expect(try await bob.titles == ["two"])
      await ann.close()
      await bob.close()
    }
  }

  @Test func failedSaveIsCaughtByKind() async throws {
    try await ServedGraph.serve { graph in
      let (ann, bob) = (try await graph.connect(), try await graph.connect { $0.author = "bob" })
      let project = graph.insert("one", into: ann)
      try await ann.save()

      let theirs = try #require(try await bob.fetchOne(Project.self, id: project.id))
      theirs["title"] = .string("two")
      try await bob.save()
      project["title"] = .string("three")
      var conflict: ([GraphError.ConflictingValue], [String])?
      do {
        try await ann.attempt { try await ann.save() }
      } catch GraphError.conflict(let values, let authors) {
        conflict = (values, authors)
      }
      let (values, authors) = try #require(conflict)
      #expect(authors == ["bob"] && values.map(\.property) == ["title"])
      #expect(values.map(\.mine) == [.string("three")] && values.map(\.theirs) == [.string("two")])
      ann.context.rollback()
      _ = try await ann.fetchOne(Project.self, id: project.id)

      project["title"] = .null
      var properties = [[String]]()
      do {
        try await ann.attempt { try await ann.save() }
      } catch GraphError.invalid(let violations) {
        properties = violations.map(\.properties)
      }
      #expect(properties == [["title"]])
      ann.context.rollback()

      _ = graph.insert("two", into: ann)
      var keys = [[String]]()
      do {
        try await ann.attempt { try await ann.save() }
      } catch GraphError.notUnique(let violations) {
        keys = violations.map(\.properties)
      }
      #expect(keys == [["title", "year"]])
      await ann.close()
      let closed = await #expect(throws: GraphError.self) {
        try await ann.attempt { try await ann.count(of: graph.project) }
      }
      #expect(closed == .unavailable("the connection is closed"))
      struct Foreign: Error {}
      await #expect(throws: Foreign.self) { try await bob.attempt { throw Foreign() } }
      await bob.close()
    }
  }
}
