import GraphModel
import GraphStore
import GraphTesting
import Testing

/// The head at which the rules about what users see have changed.
@Suite struct ReadRulesMarkTests {
  private let rule = #""read": "isPrivate == false OR creator == $user","#

  private func model(_ replacement: String) throws -> Model {
    try Model(parsing: Fixtures.teamSource.replacing(rule, with: replacement).utf8)
  }

  @Test func changeOfRulesIsKeptWithTheHeadOfItsStart() throws {
    let first = try TestStore(try Fixtures.team())
    _ = try first.insert("Board")
    try first.reopen()
    #expect(first.store.accessRulesSince == 0)
    try first.store.close()
    // The same hash, other rules.
    let open = try TestStore(try model(""), directory: first.directory)
    #expect(open.model.hash == first.model.hash && open.store.accessRulesSince == 1)
    // Otherwise the insert would be the repetition of the first one.
    open.replica = UniqueID(high: 2, low: 1)
    _ = try open.insert("Board")
    try open.reopen()
    #expect(open.store.accessRulesSince == 1, "later starts with the same rules keep it")
    #expect(try StoreCheckRun(open).findings.isEmpty)
    try open.store.close()
    // Back to the former rules, which is another change.
    let back = try TestStore(try Fixtures.team(), directory: first.directory)
    #expect(back.store.accessRulesSince == 2)
    #expect(try StoreCheckRun(back).findings.isEmpty)
  }

  @Test func rulesForWritingAreNoReason() throws {
    let first = try TestStore(try Fixtures.team())
    _ = try first.insert("Board")
    try first.store.close()
    let source = Fixtures.teamSource.replacing("isLocked == false OR $role == 'owner'", with: "isLocked == false")
    let other = try TestStore(try Model(parsing: source.utf8), directory: first.directory)
    #expect(other.model.source != first.model.source && other.store.accessRulesSince == 0)
  }
}
