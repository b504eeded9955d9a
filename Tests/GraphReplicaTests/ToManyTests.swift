import GraphModel
import GraphReplica
import GraphTesting
import GraphWire
import Testing

/// To-many relationships as collections: their known members, their reports, and their edits.
@Suite struct ToManyTests {
  /// A context of albums in shelves: `albums` is stored at the albums and ordered, `styles` at this end and unordered.
  private struct Shelf {
    static let source = """
      {"format": 1, "name": "Music", "version": 1, "entities": [
        {"name": "Shelf", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
          {"name": "albums", "destination": "Album", "inverse": "shelf", "toMany": true, "ordered": true}]},
        {"name": "Album", "attributes": [{"name": "title", "type": "string", "default": ""}], "relationships": [
          {"name": "shelf", "destination": "Shelf", "inverse": "albums"},
          {"name": "styles", "destination": "Style", "inverse": "albums", "toMany": true}]},
        {"name": "Style", "attributes": [{"name": "name", "type": "string", "default": ""}], "relationships": [
          {"name": "albums", "destination": "Album", "inverse": "styles", "toMany": true}]}]}
      """

    let script: ReplicaTranscript
    let shelf: Entity
    let style: Entity
    let reported = Reported()

    final class Reported {
      var errors = [UnloadedReadError]()
    }

    init(head: Revision = 0) throws {
      script = try ReplicaTranscript(Model(parsing: Self.source.utf8), entity: "Album")
      shelf = try #require(script.model.entity(named: "Shelf"))
      style = try #require(script.model.entity(named: "Style"))
      script.context.unloadedWasRead = { [reported] in reported.errors.append($0) }
      #expect(script.connect(head: head) == ["welcomed"])
    }

    var context: ObjectContext { script.context }

    func insert(_ entity: Entity, _ name: String = "") throws -> ManagedObject {
      let object = try #require(context.insert(entity))
      object[entity.name == "Album" ? "title" : "name"] = .string(name)
      return object
    }

    func albums(of object: ManagedObject) throws -> OrderedToMany<ManagedObject> {
      OrderedToMany(object, try #require(object.entity.property(named: "albums")).number)
    }

    func styles(of object: ManagedObject) throws -> ToMany<ManagedObject> {
      ToMany(object, try #require(object.entity.property(named: "styles")).number)
    }

    func fetched(_ entity: Entity, _ number: UInt64, _ values: [String: Value] = [:]) throws -> ManagedObject {
      var image = ObjectImage(
        id: ObjectID(key: UniqueID(high: UInt64(entity.number), low: number), entity: entity.number), revision: 1,
        values: entity.storedProperties.map { $0.relationship?.isToMany == true ? .objects([]) : .null })
      for (name, value) in values { image[try #require(entity.property(named: name))] = value }
      return try #require(context.register([image]).first)
    }
  }

  @Test func membersOfNewObjectsAreKnown() throws {
    let stage = try Shelf()
    let shelf = try stage.insert(stage.shelf, "Top")
    let albums = try stage.albums(of: shelf)
    #expect(albums.isEmpty && albums.isKnown && albums.first == nil)
    let (one, two, three) = (
      try stage.insert(stage.script.note, "1"), try stage.insert(stage.script.note, "2"),
      try stage.insert(stage.script.note, "3")
    )
    for album in [one, two, three] { albums.append(album) }
    #expect(albums.map(\.id) == [one.id, two.id, three.id])
    #expect(albums.count == 3 && albums[1] === two && albums.first === one)
    #expect(one["shelf"] == .object(shelf.id))
    albums.append(one)
    #expect(albums.map(\.id) == [two.id, three.id, one.id])
    albums.insert(one, after: nil)
    albums.insert(three, at: 1)
    #expect(albums.map(\.id) == [one.id, three.id, two.id])
    albums.move(one, to: 2)
    #expect(albums.map(\.id) == [three.id, two.id, one.id])
    albums.move(one, after: three)
    #expect(albums.map(\.id) == [three.id, one.id, two.id])
    albums.remove(one)
    #expect(Set(albums.map(\.id)) == [three.id, two.id] && !albums.contains(one) && albums.contains(two))
    albums.move(one, to: 0)
    #expect(albums.count == 2)
    #expect(stage.reported.errors.isEmpty)
  }

  @Test func unorderedMembersAreInsertedAndRemoved() throws {
    let stage = try Shelf()
    let album = try stage.insert(stage.script.note)
    let (jazz, soul) = (try stage.insert(stage.style, "Jazz"), try stage.insert(stage.style, "Soul"))
    let styles = try stage.styles(of: album)
    styles.insert(jazz)
    styles.insert(soul)
    styles.insert(jazz)
    #expect(styles.count == 2 && styles.contains(jazz))
    #expect(Set(styles.map { $0["name"].stringValue }) == ["Jazz", "Soul"])
    styles.remove(jazz)
    #expect(styles.map { $0["name"] } == [.string("Soul")])
    #expect(stage.reported.errors.isEmpty)
  }

  @Test func insertionAndKnownMembershipNeedNothingLoaded() throws {
    let stage = try Shelf()
    let shelf = try stage.fetched(stage.shelf, 1)
    let albums = try stage.albums(of: shelf)
    #expect(!albums.isKnown && !albums.isLoaded && albums.held.isEmpty)
    let album = try stage.fetched(stage.script.note, 7, ["title": .string("Blue")])
    // The album is loaded and stores the relationship.
    #expect(!albums.contains(album))
    albums.append(album)
    #expect(albums.contains(album) && albums.held.map(\.id) == [album.id])
    albums.remove(album)
    #expect(!albums.contains(album))
    #expect(stage.reported.errors.isEmpty && stage.script.lines() == [])
  }

  @Test func unknownMembersAreReported() throws {
    let stage = try Shelf()
    let shelf = try stage.fetched(stage.shelf, 1)
    let albums = try stage.albums(of: shelf)
    let fault = try #require(stage.context.fault(stage.script.id(9)))
    #expect(albums.map(\.id) == [] && albums.count == 0 && !albums.contains(fault))
    let errors = stage.reported.errors
    #expect(errors.count == 3 && errors.allSatisfy { $0.id == shelf.id && $0.isRelationship })
    #expect(
      errors[0].description
        == "the members of Shelf.albums were read before they were loaded: prefetch them, or await load() of the "
        + "relationship")
  }

  @Test func membersStoredHereAreKnownAsFaults() throws {
    let stage = try Shelf()
    let jazz = ObjectID(key: UniqueID(high: 1, low: 5), entity: stage.style.number)
    let album = try stage.fetched(stage.script.note, 7, ["styles": .objects([jazz])])
    let styles = try stage.styles(of: album)
    #expect(styles.isKnown && !styles.isLoaded && styles.count == 1)
    let style = try #require(styles.first)
    #expect(style.isFault && styles.contains(style))
    #expect(stage.reported.errors.isEmpty)
    // The members of the fault's own relationship are not known.
    let albums = ToMany<ManagedObject>(style, try #require(stage.style.property(named: "albums")).number)
    #expect(albums.map(\.id) == [album.id])
    #expect(stage.reported.errors.map(\.isRelationship) == [false])
  }

  @Test func deletedMembersAreNoMembers() throws {
    let stage = try Shelf(head: 1)
    let query = stage.context.follow(entity: stage.style)
    #expect(stage.script.lines() == ["> follow"])
    let ids = (5...7).map { ObjectID(key: UniqueID(high: 1, low: $0), entity: stage.style.number) }
    _ = stage.script.receive(.subscribed(query: 4, resumed: false), 2)
    let images = ids.map { ObjectImage(id: $0, revision: 1, values: [.string("Jazz")]) }
    _ = stage.script.receive(stage.script.last(images, at: 1), 2)
    _ = stage.script.receive(.advance(revision: 1, fingerprint: 1_000))
    // The album is not followed, so that the server does not report its change.
    let album = try stage.fetched(stage.script.note, 9, ["styles": .objects(ids)])
    let styles = try stage.styles(of: album)
    let held = Array(styles)
    #expect(held.count == 3 && styles.count == 3 && stage.context.isLoaded(query))

    let gone = Delta.Change(kind: .removed, id: ids[0], deleted: true)
    _ = stage.script.receive(stage.script.delta(4, 2, [gone]))
    #expect(styles.count == 2 && styles.map(\.id) == [ids[1], ids[2]])
    #expect(!styles.contains(held[0]) && styles.contains(held[1]))

    let child = stage.context.makeChild()
    let copies = try stage.styles(of: try #require(child.object(for: album)))
    #expect(copies.count == 2)
    child.delete(try #require(child.object(for: held[1])))
    #expect(copies.count == 1 && copies.map(\.id) == [ids[2]] && styles.count == 2)

    for style in held.suffix(2) { stage.context.delete(style) }
    #expect(styles.isEmpty && styles.first == nil && !styles.contains(held[2]) && copies.isEmpty)
    stage.context.rollback()
    #expect(styles.count == 2 && styles.contains(held[2]))
    #expect(stage.reported.errors.isEmpty)
  }

  @Test func liveQueryOfAllMembersMakesThemKnown() throws {
    let stage = try Shelf(head: 1)
    let shelf = try stage.fetched(stage.shelf, 1)
    let albums = try stage.albums(of: shelf)
    let query = stage.context.follow(entity: stage.script.note)
    #expect(stage.script.lines() == ["> follow"])
    #expect(!albums.isKnown)
    var image = try stage.script.image(7, 1)
    image[try #require(stage.script.note.property(named: "shelf"))] = .object(shelf.id)
    _ = stage.script.receive(.subscribed(query: 4, resumed: false), 2)
    _ = stage.script.receive(stage.script.last([image], at: 1), 2)
    _ = stage.script.receive(.advance(revision: 1, fingerprint: 1_000))
    #expect(stage.context.isLoaded(query) && albums.isKnown && albums.count == 1)
    stage.context.unfollow(query)
    #expect(!albums.isKnown)
    #expect(stage.reported.errors.isEmpty)
  }

  @Test func savedObjectKnowsTheMembersThatItWasSavedWith() throws {
    let stage = try Shelf()
    let shelf = try stage.insert(stage.shelf, "Top")
    let albums = try stage.albums(of: shelf)
    var album: ManagedObject? = try stage.insert(stage.script.note, "Blue")
    albums.append(try #require(album))
    #expect(stage.context.save() != nil)
    let shelfID = ObjectID(key: UniqueID(high: 3, low: 1), entity: stage.shelf.number)
    let identities = [
      CommitResult.IDAssignment(temporary: shelf.id, permanent: shelfID),
      CommitResult.IDAssignment(temporary: try #require(album).id, permanent: stage.script.id(7)),
    ]
    _ = stage.script.lines()
    var images = [try stage.script.image(7, 1, ["title": .string("Blue")])]
    images[0][try #require(stage.script.note.property(named: "shelf"))] = .object(shelfID)
    images.append(ObjectImage(id: shelfID, revision: 1, values: [.string("Top")]))
    #expect(stage.script.receive(stage.script.committed(1, identities, objects: images), 2) == ["saved 1 as 1"])
    #expect(shelf.id == shelfID && albums.isKnown)
    // The shelf keeps its member.
    album = nil
    #expect(albums.map { $0["title"] } == [.string("Blue")])
    #expect(stage.reported.errors.isEmpty)
  }
}
