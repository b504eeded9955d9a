import GraphClient
import GraphModel

/// A row of the guide: an edit without the server, an edit on the server meanwhile, and the server's state at the end.
@MainActor
struct EditPair {
  typealias Commit = @MainActor (EditScene, GraphClient) async throws -> Void

  /// Both edits, in the words of the guide.
  let name: String
  var before: @MainActor (EditScene) async throws -> Void = { _ in }
  let mine: Commit
  let theirs: @MainActor (EditScene) -> [Change]
  let holds: @MainActor (EditScene, ServedObjects) -> Bool

  static var all: [EditPair] {
    [properties, policies, texts, deletes, deniedDeletes, lists, moves, keys, undos, crossings].flatMap { $0 }
  }

  static func save(
    _ policy: MergePolicy = .error, _ changes: @escaping @MainActor (EditScene) -> [Change]
  ) -> Commit {
    { scene, ann in _ = try await ann.commit(changes(scene), policy: policy) }
  }

  static func blue(_ policy: MergePolicy = .error) -> Commit {
    save(policy) { [$0.update($0.note, [$0.color("blue")])] }
  }

  static func green(_ scene: EditScene) -> [Change] { scene.theirUpdate(scene.note, [scene.color("green")]) }

  private static func pinned(_ scene: EditScene) -> [Change] {
    scene.theirUpdate(scene.note, [scene.edit("Note.pinned", .bool(true))])
  }

  private static func greenAndPinned(_ scene: EditScene) -> [Change] {
    scene.theirUpdate(scene.note, [scene.color("green"), scene.edit("Note.pinned", .bool(true))])
  }

  private static func blueAndMoved(_ policy: MergePolicy) -> Commit {
    save(policy) { [$0.update($0.note, [$0.color("blue"), $0.edit("Note.x", .double(5))])] }
  }

  // MARK: - Properties

  private static var properties: [EditPair] {
    [
      EditPair(
        name: "a property × another property of the object", mine: blue(), theirs: pinned,
        holds: { $0.color(in: $1) == "blue" && $0.isPinned(in: $1) }),
      EditPair(
        name: "a property × the same property, the same value", mine: blue(),
        theirs: { $0.theirUpdate($0.note, [$0.color("blue")]) }, holds: { $0.color(in: $1) == "blue" }),
      EditPair(
        name: "a property, policy `error` × the same property, another value", mine: blue(), theirs: green,
        holds: { $0.color(in: $1) == "green" }),
      EditPair(
        name: "any edit of an object × the object is deleted", mine: blue(),
        theirs: { [Change(.delete, $0.note)] }, holds: { !$1.has($0.note) && $1.has($0.second) }),
    ]
  }

  private static var policies: [EditPair] {
    [
      EditPair(
        name: "a property, policy `objectTrump` × the same property, another value", mine: blue(.objectTrump),
        theirs: green, holds: { $0.color(in: $1) == "blue" }),
      EditPair(
        name: "a property, policy `storeTrump` × the same property, another value", mine: blue(.storeTrump),
        theirs: green, holds: { $0.color(in: $1) == "green" }),
      EditPair(
        name: "two properties, policy `overwrite` × one of them and a third one", mine: blueAndMoved(.overwrite),
        theirs: greenAndPinned,
        holds: {
          $0.color(in: $1) == "blue" && !$0.isPinned(in: $1) && $0.value("Note.x", of: $0.note, in: $1) == .double(5)
        }),
      EditPair(
        name: "two properties, policy `rollback` × one of them and a third one", mine: blueAndMoved(.rollback),
        theirs: greenAndPinned,
        holds: {
          $0.color(in: $1) == "green" && $0.isPinned(in: $1) && $0.value("Note.x", of: $0.note, in: $1) == .double(0)
        }),
    ]
  }

  private static var texts: [EditPair] {
    [
      EditPair(
        name: "a text × the same text at another place", mine: save { [$0.update($0.note, [$0.splice(8, ", bread")])] },
        theirs: { $0.theirUpdate($0.note, [$0.splice(0, "today: ")]) },
        holds: { $0.text(in: $1) == "today: buy milk, bread" }),
      EditPair(
        name: "a text × the whole text is replaced", mine: save { [$0.update($0.note, [$0.splice(8, ", bread")])] },
        theirs: { $0.theirUpdate($0.note, [$0.edit("Note.text", .string("call Bob"))]) },
        holds: { $0.text(in: $1) == "call Bob, bread" }),
    ]
  }

  // MARK: - Deletes

  private static func deleted(_ policy: MergePolicy = .error) -> Commit {
    save(policy) { [Change(.delete, $0.note, base: $0.seen)] }
  }

  private static var deletes: [EditPair] {
    [
      EditPair(
        name: "a delete × the object is deleted", mine: deleted(), theirs: { [Change(.delete, $0.note)] },
        holds: { !$1.has($0.note) && $1.has($0.second) }),
      EditPair(
        name: "a delete, policy `error` × an edit of the object", mine: deleted(), theirs: green,
        holds: { $0.color(in: $1) == "green" }),
      EditPair(
        name: "a delete, policy `objectTrump` × an edit of the object", mine: deleted(.objectTrump), theirs: green,
        holds: { !$1.has($0.note) && $1.has($0.second) }),
      EditPair(
        name: "a delete of a board × a new note on the board",
        mine: save { [Change(.delete, $0.board, base: $0.seen)] },
        theirs: { [$0.fixture.insertion(1, "late", on: $0.board)] },
        holds: { scene, served in
          let notes = scene.fixture.entity("Note").number
          return !served.has(scene.board) && !served.objects.keys.contains { $0.entity == notes }
        }),
    ]
  }

  private static var deniedDeletes: [EditPair] {
    [
      EditPair(
        name: "a delete that the model denies while others refer to the object × a new reference to it",
        mine: save { [Change(.delete, $0.shelf, base: $0.seen)] },
        theirs: { $0.theirUpdate($0.board, [$0.edit("Board.shelf", .object($0.shelf))]) },
        holds: { $1.has($0.shelf) && $0.value("Board.shelf", of: $0.board, in: $1) == .object($0.shelf) })
    ]
  }

  // MARK: - Lists

  static func tags(_ scene: EditScene, _ served: ServedObjects) -> Set<ObjectID>? {
    scene.value("Note.tags", of: scene.note, in: served).map { Set($0.objectIDs) }
  }

  private static var lists: [EditPair] {
    [
      EditPair(
        name: "an object is added to a list × another one is added",
        mine: save { [$0.update($0.note, [$0.tags(added: [$0.food])])] },
        theirs: { $0.theirUpdate($0.note, [$0.tags(added: [$0.drink])]) },
        holds: { tags($0, $1) == [$0.old, $0.food, $0.drink] }),
      EditPair(
        name: "an object is added to a list × it is deleted",
        mine: save { [$0.update($0.note, [$0.tags(added: [$0.food])])] },
        theirs: { [Change(.delete, $0.food)] }, holds: { !$1.has($0.food) && tags($0, $1) == [$0.old] }),
      EditPair(
        name: "an object is taken out of a list × it is deleted",
        mine: save { [$0.update($0.note, [$0.tags(removed: [$0.old])])] },
        theirs: { [Change(.delete, $0.old)] }, holds: { !$1.has($0.old) && tags($0, $1) == [] }),
      EditPair(
        name: "a place in an ordered list × another place in the list",
        mine: save { [$0.update($0.board, [$0.first($0.third)])] },
        theirs: { $0.theirUpdate($0.board, [$0.first($0.second)]) },
        holds: { (try? $0.order(in: $1)) == [$0.third, $0.second, $0.note] }),
    ]
  }

  private static var moves: [EditPair] {
    [
      EditPair(
        name: "a note is moved to another board × that board is deleted",
        mine: save { [$0.update($0.note, [$0.edit("Note.board", .object($0.attic))])] },
        theirs: { [Change(.delete, $0.attic)] },
        holds: { !$1.has($0.attic) && $0.value("Note.board", of: $0.note, in: $1) == .object($0.board) }),
      EditPair(
        name: "a link between two notes × one of them is deleted",
        mine: save { scene in
          [
            Change(
              .insert, .temporary(1, entity: scene.fixture.entity("Link").number),
              edits: [
                scene.edit("Link.from", .object(scene.note)), scene.edit("Link.to", .object(scene.second)),
              ])
          ]
        },
        theirs: { [Change(.delete, $0.second)] },
        holds: { scene, served in
          let links = scene.fixture.entity("Link").number
          return !served.objects.keys.contains { $0.entity == links }
        }),
      EditPair(
        name: "a new object on a board × the board is deleted",
        mine: save { [$0.fixture.insertion(1, "new", on: $0.board)] },
        theirs: { [Change(.delete, $0.board)] }, holds: { !$1.has($0.board) && !$1.has($0.note) }),
    ]
  }

  // MARK: - Unique keys

  static func boards(_ scene: EditScene, _ served: ServedObjects) -> [String] {
    let boards = scene.fixture.entity("Board").number
    return served.objects.keys.filter { $0.entity == boards }
      .compactMap { scene.value("Board.name", of: $0, in: served)?.stringValue }.sorted()
  }

  private static var keys: [EditPair] {
    [
      EditPair(
        name: "a unique key × another object with that key",
        mine: save { [$0.update($0.attic, [$0.edit("Board.name", .string("Work"))])] }, theirs: { [$0.work()] },
        holds: { boards($0, $1) == ["Attic", "Home", "Work"] }),
      EditPair(
        name: "a new object with a unique key × another one with that key",
        mine: { scene, ann in
          let made = try await ann.commit([scene.work()], policy: .error).committed
          let color = scene.edit("Board.color", .string("blue"))
          _ = try await ann.commit(
            [Change(.update, made.identities[0].permanent, base: made.revision, edits: [color])], policy: .error)
        },
        theirs: { [$0.work()] }, holds: { boards($0, $1) == ["Attic", "Home", "Work"] }),
    ]
  }

  // MARK: - Undo

  /// Ann's step, which the server has committed.
  static func step(_ scene: EditScene) async throws {
    let ann = try await scene.fixture.connect("ann")
    _ = try await ann.commit([scene.theirUpdate(scene.note, [scene.color("blue")])[0]], policy: .error)
    await ann.close()
  }

  static func undo(_ scene: EditScene, _ ann: GraphClient) async throws { _ = try await ann.undo(scope: nil) }

  private static var undos: [EditPair] {
    [
      EditPair(
        name: "an undo × another property of the object", before: step, mine: undo, theirs: pinned,
        holds: { $0.color(in: $1) == "yellow" && $0.isPinned(in: $1) }),
      EditPair(
        name: "an undo × the property that it sets back", before: step, mine: undo, theirs: green,
        holds: { $0.color(in: $1) == "green" }),
    ]
  }
}
