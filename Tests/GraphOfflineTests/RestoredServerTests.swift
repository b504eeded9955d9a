import GraphClient
import GraphModel
import GraphReplicaStore
import GraphTesting
import Testing

@testable import GraphOffline

/// A server that is restored from a backup while a replica has unsent edits: its revisions are others than those that
/// the user has seen.
@MainActor
@Suite(.timeLimit(.minutes(2))) struct RestoredServerTests {
  /// A replica that has received commits which the server loses.
  private func fixture(knowsBackup: Bool = true) async throws -> OfflineFixture {
    let fixture = try await OfflineFixture()
    if knowsBackup { try await fixture.turnOn() }
    try await fixture.backUp()
    try await fixture.other([splice(fixture, 0, "today: ")])
    for color in ["pink", "red"] { try await fixture.other([set(fixture, color)]) }
    if knowsBackup { try await fixture.synchronize() } else { try await fixture.turnOn() }
    return fixture
  }

  private func set(_ fixture: OfflineFixture, _ color: String, base: Revision = .max) -> Change {
    Change(.update, fixture.note, base: base, edits: [fixture.edit("Note.color", .string(color))])
  }

  private func splice(
    _ fixture: OfflineFixture, _ offset: Int, _ insertion: String, base: Revision = .max
  ) -> Change {
    let splice = TextSplice(offset: offset, length: 0, insertion: insertion)
    return Change(
      .update, fixture.note, base: base, edits: [Edit(fixture.property("Note.text").number, .splice([splice]))])
  }

  private func edit(_ fixture: OfflineFixture, _ change: (Revision) -> Change) async throws {
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    _ = try await ann.commit([change(seen)], policy: .error)
    await ann.close()
  }

  private func color(_ fixture: OfflineFixture) async throws -> Value? {
    let bob = try await fixture.connect("bob")
    let color = try await fixture.notes(bob).first?[fixture.property("Note.color")]
    await bob.close()
    return color
  }

  private func code(_ fixture: OfflineFixture) throws -> String? {
    guard case .parked(let parking)? = try fixture.entries().first?.intent?.state else { return nil }
    return parking.code
  }

  @Test func valueThatOthersSetAfterTheRestoreConflicts() async throws {
    let fixture = try await fixture()
    try await edit(fixture) { set(fixture, "blue", base: $0) }
    try await fixture.restore()
    try await fixture.other([set(fixture, "green")])
    #expect(try await fixture.synchronize().parked == 1)
    #expect(try await color(fixture) == .string("green"))
    #expect(try code(fixture) == Refusal.Code.conflict.rawValue)
    await fixture.stop()
  }

  @Test func valueThatNobodyHasSetSinceTheBackupIsSent() async throws {
    let fixture = try await fixture()
    try await edit(fixture) { set(fixture, "blue", base: $0) }
    try await fixture.restore()
    let report = try await fixture.synchronize()
    #expect(report.sent == 1 && report.isReloaded)
    #expect(try await color(fixture) == .string("blue"))
    await fixture.stop()
  }

  @Test func spliceInALostTextIsMoved() async throws {
    let fixture = try await fixture()
    try await edit(fixture) { splice(fixture, "today: buy".utf8.count, " oat", base: $0) }
    try await fixture.restore()
    #expect(try await fixture.synchronize().sent == 1)
    #expect(try await fixture.served() == ["buy oat milk"])
    await fixture.stop()
  }

  @Test func undoOfALostStepIsParkedForGood() async throws {
    let fixture = try await fixture()
    try await edit(fixture) { set(fixture, "blue", base: $0) }
    try await fixture.synchronize()
    let ann = try await fixture.offline()
    _ = try await ann.undo(scope: nil)
    await ann.close()
    try await fixture.restore()
    #expect(try await fixture.synchronize().parked == 1)
    #expect(try code(fixture) == Parking.restored)
    let number = try #require(try fixture.entries().first).number
    #expect(throws: Refusal.self) { try fixture.replica.retry(number, policy: nil, model: fixture.model) }
    await fixture.stop()
  }

  @Test(arguments: ["blue", "pink", nil]) func withoutACommonStateTheUserDecides(wanted: String?) async throws {
    let fixture = try await fixture(knowsBackup: false)
    try await edit(fixture) { set(fixture, "blue", base: $0) }
    try await fixture.restore()
    let before = try await color(fixture)
    #expect(try await fixture.synchronize().parked == 1)
    #expect(try code(fixture) == Parking.restored)
    let (model, replica) = (fixture.model, fixture.replica)
    let parked = try #require(try replica.conflicts(of: model).first)
    #expect(parked.message.contains("was restored from a backup") && parked.message.contains("send the edit again"))
    #expect(parked.undisputed.map(\.edit) == [fixture.edit("Note.color", .string("blue"))])
    switch wanted {
    case "blue"?: try replica.retry(parked.number, policy: nil, model: model)
    case let wanted?:
      let form = parked.form.replacing("\"blue\"", with: "\"\(wanted)\"")
      try replica.replace(parked.number, by: form, model: model)
    case nil: #expect(try replica.discard(parked.number, model: model) == [parked.form])
    }
    #expect(try await fixture.synchronize().sent == (wanted == nil ? 0 : 1))
    #expect(try await color(fixture) == (wanted.map { Value.string($0) } ?? before))
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }

  /// It may have been committed before the backup, so it is sent. The first revision, its base now, is from before the
  /// note was made.
  @Test(arguments: [true, false]) func editThatHadLeftIsComparedWithThePresentPast(isSetByOthers: Bool) async throws {
    let fixture = try await OfflineFixture()
    try await fixture.other([fixture.insertion(3, "call Ann", on: fixture.board)])
    try await fixture.backUp()
    try await fixture.other([set(fixture, "pink")])
    try await fixture.turnOn()
    let ann = try await fixture.offline()
    let made = try #require(try await fixture.notes(ann).first { $0.id != fixture.note })
    func color(_ color: String, base: Revision) -> Change {
      Change(.update, made.id, base: base, edits: [fixture.edit("Note.color", .string(color))])
    }
    _ = try await ann.commit([color("blue", base: made.revision)], policy: .error)
    await ann.close()
    let unsent = try fixture.replica.openUnsent()
    _ = try unsent.markLeft(try fixture.entries().map(\.number), at: 1, form: IntentForm(fixture.model))
    unsent.close()
    try await fixture.restore()
    if isSetByOthers { try await fixture.other([color("green", base: .max)]) }
    let report = try await fixture.synchronize()
    #expect(report.sent == (isSetByOthers ? 0 : 1) && report.parked == (isSetByOthers ? 1 : 0))
    #expect(try code(fixture) == (isSetByOthers ? Refusal.Code.conflict.rawValue : nil))
    await fixture.stop()
  }

  /// Its edits would have bases that the server has lost.
  @Test func programThatHasTheEarlierCopyOpenCantSave() async throws {
    let fixture = try await fixture()
    let ann = try await fixture.offline()
    let seen = try #require(try await fixture.notes(ann).first).revision
    try await edit(fixture) { set(fixture, "blue", base: $0) }
    try await fixture.restore()
    #expect(try await fixture.synchronize().sent == 1)
    let refusal = await #expect(throws: Refusal.self) {
      _ = try await ann.commit([set(fixture, "green", base: seen)], policy: .error)
    }
    #expect(refusal?.code == .unavailable)
    await ann.close()
    #expect(try fixture.entries().isEmpty)
    await fixture.stop()
  }
}
