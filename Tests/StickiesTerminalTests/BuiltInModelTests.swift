import GraphModel
import StickiesKit
import StickiesModel
import Testing

@testable import StickiesTerminal

/// Lookups in the model of the notes by the classes' typed paths.
@Suite @MainActor struct BuiltInModelTests {
  private let model = StickiesModel.model

  @Test func frameHasPositionAndSize() throws {
    let note = try #require(model.entity(named: "Note"))
    #expect(model.builtIn(Note.self) === note)
    let frame = try ["x", "y", "z", "width", "height"].map { try #require(note.property(named: $0)).number }
    #expect(model.framePropertyNumbers == Set(frame))
    #expect(frame.count == 5)
  }

  /// The daemon migrates a store of an earlier version without being asked, and serves programs of that version.
  @Test func versionsOnlyAdd() throws {
    let versions = StickiesModel.versions
    #expect(versions.map(\.version) == Array(1...versions.count) && versions.count > 1)
    #expect(versions.last?.hash == model.hash)
    for (earlier, later) in zip(versions, versions.dropFirst()) {
      let plan = try MigrationPlan.infer(from: earlier, to: later)
      #expect(plan.steps.allSatisfy { $0.kind == .addProperty || $0.kind == .addEntity }, "\(plan.steps)")
      #expect(plan.unfilled.isEmpty && plan.tightened.isEmpty && plan.required.isEmpty)
    }
    let lenses = ModelLenses(to: model, from: versions.dropLast())
    for version in versions.dropLast() {
      guard case .lens = lenses[version.hash] else {
        Issue.record("there is no lens for version \(version.version)")
        continue
      }
    }
  }

  @Test func tagsAreSharedAndTheRestBelongsToABoard() throws {
    func scope(_ name: String) throws -> EntityScope? { try #require(model.entity(named: name)).scope }
    #expect(try scope("Board") == .container && scope("Tag") == .shared)
    #expect(try scope("Note") == .reference(model.property(Note.self, \.board).number))
    guard case .stored? = try scope("Link") else {
      Issue.record("a link has no board of its own")
      return
    }
    for entity in model.entities { #expect(model.accessRules(of: entity.number)?.creator?.name == "creator") }
  }
}
