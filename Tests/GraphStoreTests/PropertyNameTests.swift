import GraphModel
import GraphTesting
import Testing

/// Properties with the names of the index table's own columns, or of SQLite's row numbers.
@Suite struct PropertyNameTests {
  private func album() throws -> TestStore {
    let attributes = ["owner", "member", "rowid", "oid"]
      .map { #"{"name": "\#($0)", "type": "integer", "default": 0}"# }
      .joined(separator: ", ")
    return try TestStore(
      try Model(
        parsing: """
          {"format": 1, "name": "Album", "version": 1,
           "entities": [
             {"name": "Album", "attributes": [\(attributes)],
              "relationships": [{"name": "photos", "destination": "Photo", "inverse": "albums", "toMany": true}]},
             {"name": "Photo", "attributes": [\(attributes)],
              "relationships": [{"name": "albums", "destination": "Album", "inverse": "photos", "toMany": true}]}]}
          """.utf8))
  }

  @Test func deletedMemberLeavesListsOfOwnersWithSuchProperties() throws {
    let store = try album()
    let photo = try store.insert("Photo")
    let albums = try (1...2).map {
      try store.insert("Album", ["owner": .integer($0), "photos": .objects([photo])])
    }
    try store.must([Change(.delete, photo, base: .max)])
    for id in albums { #expect(try store.value(id, "Album.photos") == .objects([])) }
    #expect(try store.taken(store.undo()).conflicts.isEmpty)
    for id in albums { #expect(try store.value(id, "Album.photos") == .objects([photo])) }
    try store.expectSound()
  }

  @Test func otherEndOfRelationshipIsReadAndSet() throws {
    let store = try album()
    let photos = try (0..<2).map { _ in try store.insert("Photo") }
    let albums = try (1...2).map { try store.insert("Album", ["member": .integer($0)]) }
    try store.must([try store.update(photos[0], "Photo.albums", .objects(albums.sorted()))])
    try store.must([try store.update(photos[0], "Photo.albums", .objects([albums[1]]))])
    #expect(try store.all("Album", "photos.@count == 1").map(\.id) == [albums[1]])
    #expect(try store.all("Photo", "ANY albums.member == 2").map(\.id) == [photos[0]])
    #expect(try store.all("Album", "owner == 0 AND ANY photos.member == 0").map(\.id) == [albums[1]])
    let result = try store.batch("Photo", .delete(.always))
    try store.taken(result)
    #expect(try store.all("Album", "photos.@count == 0").count == 2)
  }
}
