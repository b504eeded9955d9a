import GraphModel

/// Rows of the guide in which the edits are of different kinds.
extension EditPair {
  static var crossings: [EditPair] { [ofTexts, ofBoards, ofLists, ofUndos].flatMap { $0 } }

  private static var ofTexts: [EditPair] {
    [
      EditPair(
        name: "a text × the same place of the text", mine: save { [$0.update($0.note, [$0.splice(8, " now")])] },
        theirs: { $0.theirUpdate($0.note, [$0.splice(8, ", please")]) },
        holds: { ["buy milk now, please", "buy milk, please now"].contains($0.text(in: $1)) }),
      EditPair(
        name: "a part of a text is taken out × words are written in that part",
        mine: save { [$0.update($0.note, [$0.splice(4, "", removing: 4)])] },
        theirs: { $0.theirUpdate($0.note, [$0.splice(6, "-oat-")]) }, holds: { $0.text(in: $1) == "buy -oat-" }),
    ]
  }

  // MARK: - Boards

  private static func moved(_ scene: EditScene, to board: ObjectID) -> Edit {
    scene.edit("Note.board", .object(board))
  }

  private static var ofBoards: [EditPair] {
    [
      EditPair(
        name: "a property × the object is moved to another board", mine: blue(),
        theirs: { $0.theirUpdate($0.note, [moved($0, to: $0.attic)]) },
        holds: { $0.color(in: $1) == "blue" && $0.value("Note.board", of: $0.note, in: $1) == .object($0.attic) }),
      EditPair(
        name: "a note is moved to another board × it is moved to a third one",
        mine: save { [$0.update($0.note, [moved($0, to: $0.attic)])] },
        theirs: { [$0.work()] + $0.theirUpdate($0.note, [moved($0, to: $0.work().id)]) },
        holds: { scene, served in
          let board = scene.value("Note.board", of: scene.note, in: served)?.objectID
          return board.flatMap { scene.value("Board.name", of: $0, in: served) } == .string("Work")
        }),
      EditPair(
        name: "any edit of a note × its board is deleted", mine: blue(), theirs: { [Change(.delete, $0.board)] },
        holds: { !$1.has($0.board) && !$1.has($0.note) }),
      EditPair(
        name: "a delete of a board × an edit of a note on the board",
        mine: save { [Change(.delete, $0.board, base: $0.seen)] }, theirs: green,
        holds: { !$1.has($0.board) && !$1.has($0.note) }),
      EditPair(
        name: "a delete of a board × the board's name", mine: save { [Change(.delete, $0.attic, base: $0.seen)] },
        theirs: { $0.theirUpdate($0.attic, [$0.edit("Board.name", .string("Loft"))]) },
        holds: { boards($0, $1) == ["Home", "Loft"] }),
      EditPair(
        name: "a reference to an object × the object is deleted",
        mine: save { [$0.update($0.attic, [$0.edit("Board.shelf", .object($0.shelf))])] },
        theirs: { [Change(.delete, $0.shelf)] },
        holds: { !$1.has($0.shelf) && $0.value("Board.shelf", of: $0.attic, in: $1) == .null }),
      EditPair(
        name: "a new object × another new object", mine: save { [$0.fixture.insertion(1, "mine", on: $0.board)] },
        theirs: { [$0.fixture.insertion(1, "theirs", on: $0.board)] },
        holds: { scene, served in
          let texts = served.objects.keys.compactMap { scene.value("Note.text", of: $0, in: served)?.stringValue }
          return Set(texts) == ["buy milk", "second", "third", "mine", "theirs"]
        }),
    ]
  }

  // MARK: - Lists

  private static var ofLists: [EditPair] {
    [
      EditPair(
        name: "an object is added to a list × the same object is added",
        mine: save { [$0.update($0.note, [$0.tags(added: [$0.food])])] },
        theirs: { $0.theirUpdate($0.note, [$0.tags(added: [$0.food])]) },
        holds: { tags($0, $1) == [$0.old, $0.food] }),
      EditPair(
        name: "an object is taken out of a list × the same object is taken out",
        mine: save { [$0.update($0.note, [$0.tags(removed: [$0.old])])] },
        theirs: { $0.theirUpdate($0.note, [$0.tags(removed: [$0.old])]) }, holds: { tags($0, $1) == [] }),
      EditPair(
        name: "an object is taken out of a list × another one is added",
        mine: save { [$0.update($0.note, [$0.tags(removed: [$0.old])])] },
        theirs: { $0.theirUpdate($0.note, [$0.tags(added: [$0.food])]) }, holds: { tags($0, $1) == [$0.food] }),
      EditPair(
        name: "an object is added to a list × the owner of the list is deleted",
        mine: save { [$0.update($0.note, [$0.tags(added: [$0.food])])] }, theirs: { [Change(.delete, $0.note)] },
        holds: { !$1.has($0.note) && $1.has($0.food) }),
      EditPair(
        name: "a place in an ordered list × the object is deleted",
        mine: save { [$0.update($0.board, [$0.first($0.third)])] }, theirs: { [Change(.delete, $0.third)] },
        holds: { !$1.has($0.third) && $1.has($0.note) && $1.has($0.second) }),
    ]
  }

  // MARK: - Undo

  /// Ann's delete of a note, which the server has committed.
  private static func delete(_ scene: EditScene) async throws {
    let ann = try await scene.fixture.connect("ann")
    _ = try await ann.commit([Change(.delete, scene.note, base: .max)], policy: .error)
    await ann.close()
  }

  private static var ofUndos: [EditPair] {
    [
      EditPair(
        name: "an undo × the object is deleted", before: step, mine: undo, theirs: { [Change(.delete, $0.note)] },
        holds: { !$1.has($0.note) }),
      EditPair(
        name: "an undo of a delete × another object of its board", before: delete, mine: undo,
        theirs: { $0.theirUpdate($0.second, [$0.color("green")]) },
        holds: { $0.text(in: $1) == "buy milk" && $0.value("Note.color", of: $0.second, in: $1) == .string("green") }),
      EditPair(
        name: "an undo of a delete × its board is deleted", before: delete, mine: undo,
        theirs: { [Change(.delete, $0.board)] }, holds: { !$1.has($0.note) && !$1.has($0.board) }),
    ]
  }
}
