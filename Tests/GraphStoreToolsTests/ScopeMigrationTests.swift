import GraphModel
import GraphStore
import GraphStoreTools
import GraphTesting
import Testing

/// Migrations to versions that add scopes, or another way to the container.
@Suite struct ScopeMigrationTests {
  /// The team's model in a version of its own, with these scopes.
  private func model(_ version: Int, link: String? = "from", scoped: Bool = true) throws -> Model {
    var source = Fixtures.teamSource.replacing(#""version": 1"#, with: #""version": \#(version)"#)
    if let link { source = source.replacing(#""scope": "from""#, with: #""scope": "\#(link)""#) }
    if !scoped {
      for scope in ["self", "board", "from", "link"] { source = source.replacing(#""scope": "\#(scope)","#, with: "") }
    }
    return try Model(parsing: source.utf8)
  }

  /// A store with a link from the first board to the second one, a remark on it, and a link without a board.
  private func filled(_ model: Model) throws -> (store: TestStore, boards: [ObjectID], link: ObjectID) {
    let store = try TestStore(model)
    let boards = [try store.insert("Board"), try store.insert("Board")]
    let notes = try boards.map { try store.insert("Note", ["board": .object($0)]) }
    let link = try store.insert("Link", ["from": .object(notes[0]), "to": .object(notes[1])])
    _ = try store.insert("Remark", ["link": .object(link)])
    let loose = try store.insert("Note")
    _ = try store.insert("Link", ["from": .object(loose), "to": .object(loose)])
    return (store, boards, link)
  }

  private func scopes(_ store: TestStore, _ entity: String, at revision: Revision? = nil) throws -> [UniqueID?] {
    let request = FetchRequest(entity: try store.entity(entity).number, predicate: .always)
    return try store.answer(request, at: revision).parts.compactMap { part in
      if case .object(let image) = part { .some(store.model.scope(of: image)) } else { nil }
    }
  }

  private func expectSound(_ store: TestStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let findings = try StoreCheckRun(store).findings
    #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
    if let differences = try store.redoDifferences() { #expect(differences == [], sourceLocation: sourceLocation) }
  }

  @Test func newScopesAreComputedForEveryObject() throws {
    let (old, boards, link) = try filled(model(1, scoped: false))
    let before = try old.store.head.revision
    try old.store.close()
    let second = try model(2)
    let report = try ShopVersions.migrate(old.directory, to: [second])
    #expect(report.lost.isEmpty)
    let store = try ShopVersions.opened(second, old.directory)
    #expect(try scopes(store, "Link") == [boards[0].key, nil] && scopes(store, "Remark") == [boards[0].key])
    try expectSound(store)
    // An object that has not changed since is read from the present, with the scope that the migration computed.
    let past = try scopes(store, "Link", at: before)
    #expect(past == [boards[0].key, nil], "\(past)")
    #expect(try scopes(store, "Note", at: before) == [boards[0].key, boards[1].key, nil])
    // And the migrated objects move.
    let note = try #require(try store.all("Note", "board == \"\(boards[0].key)\"").first?.id)
    try store.must([try store.update(note, "Note.board", .object(boards[1]))])
    #expect(try scopes(store, "Link") == [boards[1].key, nil] && scopes(store, "Remark") == [boards[1].key])
    #expect(try store.image(link)?.revision == store.store.head.revision)
    try expectSound(store)
  }

  @Test func otherWayToTheContainerIsComputedAgain() throws {
    let (old, boards, _) = try filled(model(1))
    #expect(try scopes(old, "Remark") == [boards[0].key])
    try old.store.close()
    let second = try model(2, link: "to")
    try ShopVersions.migrate(old.directory, to: [second])
    let store = try ShopVersions.opened(second, old.directory)
    #expect(try scopes(store, "Link") == [boards[1].key, nil] && scopes(store, "Remark") == [boards[1].key])
    try expectSound(store)
  }

  @Test func removedScopesLoseNothing() throws {
    let (old, _, link) = try filled(model(1))
    try old.store.close()
    let second = try model(2, scoped: false)
    let report = try ShopVersions.migrate(old.directory, to: [second])
    #expect(report.lost.isEmpty)
    let store = try ShopVersions.opened(second, old.directory)
    try store.must([try store.update(link, "Link.label", .string("x"))])
    #expect(try scopes(store, "Link") == [nil, nil])
    try expectSound(store)
  }
}
