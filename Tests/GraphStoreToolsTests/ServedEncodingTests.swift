import GraphModel
import GraphStore
import GraphTesting
import GraphWire
import Testing

/// The encodings that a fetch passes on with its objects, so that an answer does not encode them again.
@Suite struct ServedEncodingTests {
  private typealias Part = (image: ObjectImage, encoding: [UInt8]?)

  private func parts(_ store: TestStore, _ entity: String, seenBy rights: Rights? = nil) throws -> [Part] {
    var parts = [Part]()
    let request = FetchRequest(entity: try store.entity(entity).number)
    let visibility = rights.flatMap { Visibility($0, model: store.model) }
    _ = try store.store.answer(request, seenBy: visibility, while: { true }) { part, encoding in
      if case .object(let image) = part { parts.append((image, encoding)) }
    }
    return parts
  }

  @Test func encodingIsTheObject() throws {
    let store = try TestStore(try ScopedGraph.model())
    let board = try store.insert("Board")
    let tags = [try store.insert("Tag"), try store.insert("Tag")]
    for text in ["", "milk", String(repeating: "long ", count: 300_000), "bread"] {
      _ = try store.insert("Note", ["board": .object(board), "text": .string(text), "tags": .objects(tags)])
    }
    try store.reopen()
    let parts = try parts(store, "Note")
    #expect(parts.count == 4 && parts.allSatisfy { $0.encoding == $0.image.binary })
  }

  /// The checksum covers references that the user does not see, so it is no encoding of what the user gets.
  @Test func reducedObjectHasNoEncoding() throws {
    let store = try TestStore(try ScopedGraph.model())
    let boards = [try store.insert("Board"), try store.insert("Board")]
    let hidden = try store.insert("Note", ["board": .object(boards[1])])
    let reduced = try store.insert("Note", ["board": .object(boards[0]), "next": .object(hidden)])
    let whole = try store.insert("Note", ["board": .object(boards[0]), "next": .object(reduced)])
    try store.reopen()
    let parts = try parts(store, "Note", seenBy: Rights(user: "ann", grants: [Grant(.reader, on: boards[0].key)]))
    #expect(Set(parts.map(\.image.id)) == [reduced, whole])
    for part in parts { #expect(part.encoding == (part.image.id == whole ? part.image.binary : nil)) }
  }

  private static func club(_ version: Int, _ entities: String) throws -> Model {
    try Model(
      parsing: """
        {"format": 1, "name": "Club", "version": \(version), "entities": [
          \(entities){"name": "P", "attributes": [{"name": "n", "type": "integer"}]}]}
        """.utf8)
  }

  /// After a migration, the store can have other numbers of entities than the model.
  @Test(arguments: [(#"{"name": "A"},"#, false), (#"{"name": "Z"},"#, true)])
  func numbersOfTheStoreAreNotSent(added: String, isKept: Bool) throws {
    let old = try TestStore(try Self.club(1, ""))
    _ = try old.insert("P", ["n": .integer(7)])
    try old.store.close()
    let model = try Self.club(2, added)
    try ShopVersions.migrate(old.directory, to: [model])
    let store = try ShopVersions.opened(model, old.directory)
    let parts = try parts(store, "P")
    #expect(parts.map(\.image.values) == [[.integer(7)]])
    #expect(parts.map(\.encoding) == [isKept ? parts[0].image.binary : nil])
  }

  @Test func chunksOfEncodingsAreThoseOfObjects() throws {
    let store = try TestStore(try ScopedGraph.model())
    let board = try store.insert("Board")
    for size in [0, 1, 50, 127, 128, 300, 20_000] {
      _ = try store.insert("Note", ["board": .object(board), "text": .string(String(repeating: "x", count: size))])
    }
    try store.reopen()
    var (plain, encoded) = (ChunkEncoder(request: 1, chunkSize: 400), ChunkEncoder(request: 1, chunkSize: 400))
    var chunks = 0
    for part in try parts(store, "Note") {
      let expected = try plain.append(.object(part.image))
      if expected != nil { chunks += 1 }
      #expect(try encoded.append(.object(part.image), encoding: try #require(part.encoding)) == expected)
    }
    #expect(chunks >= 2)
    let head = try store.store.head
    #expect(encoded.finish(at: head) == plain.finish(at: head))
  }
}
