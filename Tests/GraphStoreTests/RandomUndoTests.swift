import GraphModel
import GraphTesting
import Testing

/// Random steps of one author, with others' edits between them, undone one after the other and redone, several times.
/// The naive twin keeps the whole graph as it was after each step: everything that others have not touched must be as
/// it was.
@Suite struct RandomUndoTests {
  @Test(arguments: UInt64(1)...12) func undoAndRedoOfAllStepsPassSameStates(seed: UInt64) throws {
    var run = try Run(seed: seed)
    for _ in 0..<12 { try run.step() }
    for _ in 0..<3 {
      try run.undoEverything()
      try run.redoEverything()
    }
    #expect(run.compared > 200, "seed \(seed)")
    try run.store.expectSound()
  }

  @Test(arguments: UInt64(1)...6) func stackFollowsAnyMixOfEditsUndosAndRedos(seed: UInt64) throws {
    var run = try Run(seed: 1_000 + seed)
    for _ in 0..<60 {
      switch run.random.next() % 5 {
      case 0, 1: try run.step()
      case 2, 3: try run.undo()
      default: try run.redo()
      }
      if run.random.chance(8) { try run.store.reopen() }
    }
    #expect(run.compared > 200, "seed \(seed)")
    try run.store.expectSound()
  }

  /// Restores are steps like any other: what one brought back and its undo took away is as its delete had left it.
  @Test(arguments: UInt64(1)...12) func restoresAreUndoneLikeOtherSteps(seed: UInt64) throws {
    var run = try Run(seed: 2_000 + seed, withRestores: true)
    for _ in 0..<20 { try run.step() }
    for _ in 0..<2 {
      try run.undoEverything()
      try run.redoEverything()
    }
    for _ in 0..<40 {
      switch run.random.next() % 5 {
      case 0, 1: try run.step()
      case 2, 3: try run.undo()
      default: try run.redo()
      }
    }
    #expect(run.compared > 200 && run.restored > 2, "seed \(seed)")
    try run.store.expectSound()
  }

  private struct Run {
    let seed: UInt64
    let store: TestStore
    var random: SeededGenerator
    /// The graph before the first step and after each that is not undone, or was and can be redone.
    var states = [[ObjectID: ObjectImage]]()
    /// How many steps are not undone.
    var position = 0
    var compared = 0
    /// The number of steps that were restores; they belong to no group, and others do not edit between them.
    var restored = 0
    private let withRestores: Bool
    private var scope: UniqueID? { withRestores ? nil : .test }
    private var touched = Set<PropertyKey>()
    /// Objects that other authors edited. The undo of their insert keeps them and the objects that they refer to.
    private var foreign = Set<ObjectID>()
    private var lastName = 0
    private var lastGroup: UInt64 = 0
    /// Each step changes it, and the other author does not: something of every step can be taken back.
    private let counter: ObjectID

    private struct PropertyKey: Hashable {
      let id: ObjectID
      let property: PropertyNumber
    }

    init(seed: UInt64, withRestores: Bool = false) throws {
      self.seed = seed
      self.withRestores = withRestores
      random = SeededGenerator(seed: seed)
      store = try TestStore(try Fixtures.stickies())
      store.author = "zoe"
      for name in ["one", "two"] {
        let board = try store.insert("Board", ["name": .string(name)])
        for _ in 0..<3 { _ = try store.insert("Note", ["board": .object(board), "text": .string("the cat sat")]) }
      }
      for name in ["a", "b"] { _ = try store.insert("Tag", ["name": .string(name)]) }
      counter = try store.insert("Tag", ["name": .string("no steps")])
      store.author = "ann"
      states = [try graph()]
    }

    private func graph() throws -> [ObjectID: ObjectImage] {
      var all = [ObjectID: ObjectImage]()
      for entity in ["Board", "Note", "Tag", "Link"] {
        for image in try store.all(entity) { all[image.id] = image }
      }
      return all
    }

    // MARK: - Random steps

    mutating func step() throws {
      if withRestores, random.chance(40) { return try restore() }
      lastGroup += 1
      var isEmpty = true
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        var changes = try changes()
        if isEmpty { changes.append(try store.update(counter, "Tag.name", .string("\(lastGroup) steps"))) }
        let group = UndoGroup(scope: .test, group: lastGroup, name: "step \(lastGroup)")
        if try store.commit(changes, policy: .overwrite, undo: group).record?.changes.isEmpty == false {
          isEmpty = false
        }
        try interfere()
      }
      guard !isEmpty else { return }
      states = Array(states.prefix(position + 1)) + [try graph()]
      position += 1
    }

    private mutating func restore() throws {
      var scope = RestoreRequest.Scope.everything
      var revision: Revision? = Revision(Int.random(in: 5...Int(try store.store.head.revision), using: &random))
      if random.chance(50), let gone = random.pick(Set(states.flatMap(\.keys)).subtracting(try graph().keys).sorted()) {
        (scope, revision) = (.contents(gone), nil)
      }
      guard let record = try store.restore(scope, at: revision).record, !record.changes.isEmpty else { return }
      restored += 1
      states = Array(states.prefix(position + 1)) + [try graph()]
      position += 1
    }

    mutating func undo() throws {
      let result = try store.undo(scope: scope)
      guard position > 0 else { return #expect(try store.refused(result).code == .notFound, "seed \(seed)") }
      try store.taken(result)
      position -= 1
      try compare("undo")
      try interfere()
    }

    mutating func redo() throws {
      let result = try store.redo(scope: scope)
      guard position < states.count - 1 else {
        return #expect(try store.refused(result).code == .notFound, "seed \(seed)")
      }
      try store.taken(result)
      position += 1
      try compare("redo")
      try interfere()
    }

    mutating func undoEverything() throws { for _ in 0...position { try undo() } }

    mutating func redoEverything() throws { for _ in position..<states.count { try redo() } }

    private mutating func changes() throws -> [Change] {
      let notes = try store.all("Note")
      let boards = try store.all("Board")
      let tags = try store.all("Tag").filter { $0.id != counter }
      var changes = [Change]()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let note = random.pick(notes)
        lastName += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
          guard let board = random.pick(boards) else { continue }
          var values: [String: Value] = ["board": .object(board.id), "text": .string("new")]
          if let tag = random.pick(tags) { values["tags"] = .objects([tag.id]) }
          changes.append(try store.insertion("Note", values))
        case 2:
          let board = try store.insertion("Board", ["name": .string("board \(lastName)")])
          changes.append(board)
          if let note { changes.append(try store.update(note.id, "Note.board", .object(board.id))) }
        case 3: changes.append(try store.insertion("Tag", ["name": .string("tag \(lastName)")]))
        case 4, 5, 6:
          guard let note else { continue }
          changes.append(try edit(of: note))
        case 7:
          if let note, let board = random.pick(boards) {
            changes.append(try store.update(note.id, "Note.board", .object(board.id)))
          }
        case 8:
          guard let note, let tag = random.pick(tags) else { continue }
          let wears = try note[store.property("Note.tags")].objectIDs.contains(tag.id)
          let action = Edit.Action.members(added: wears ? [] : [tag.id], removed: wears ? [tag.id] : [])
          changes.append(
            Change(.update, note.id, base: .max, edits: [Edit(try store.property("Note.tags").number, action)]))
        case 9:
          guard let note, let other = random.pick(notes) else { continue }
          changes.append(try store.insertion("Link", ["from": .object(note.id), "to": .object(other.id)]))
        case 10: if let note { changes.append(Change(.delete, note.id)) }
        default:
          if let object = random.pick(random.chance(70) ? tags : boards) { changes.append(Change(.delete, object.id)) }
        }
      }
      return changes
    }

    private mutating func edit(of note: ObjectImage) throws -> Change {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return try store.update(note.id, "Note.x", .double(Double(Int.random(in: 0...3, using: &random))))
      case 1: return try store.update(note.id, "Note.color", .string(random.pick(["pink", "blue", "red"]) ?? "red"))
      default:
        let text = try store.property("Note.text")
        let length = (note[text].stringValue ?? "").utf8.count
        let start = Int.random(in: 0...length, using: &random)
        let splice = TextSplice(
          offset: start, length: Int.random(in: 0...(length - start), using: &random),
          insertion: random.pick(["", "x", "hello ", "dog"]) ?? "")
        return Change(.update, note.id, base: .max, edits: [Edit(text.number, .splice([splice]))])
      }
    }

    /// Another author edits a note.
    private mutating func interfere() throws {
      guard !withRestores, random.chance(30), let note = random.pick(try store.all("Note")) else { return }
      let change = try edit(of: note)
      let record = try store.by("bob") { try store.commit([change]).record }
      guard record?.changes.isEmpty == false else { return }
      foreign.insert(note.id)
      for edit in change.edits { touched.insert(PropertyKey(id: note.id, property: edit.property)) }
    }

    // MARK: - The twin

    private mutating func compare(_ what: String) throws {
      let (now, wanted) = (try graph(), states[position])
      // Others' edits stay, and so does everything that they require.
      var kept = foreign
      for image in now.values where kept.contains(image.id) {
        if let board = image[try store.property("Note.board")].objectID { kept.insert(board) }
      }
      for id in Set(now.keys).union(wanted.keys).sorted() {
        guard let image = now[id], let old = wanted[id] else {
          #expect(
            kept.contains(id), "seed \(seed): \(what) to \(position): \(id) is \(now[id] == nil ? "gone" : "there")")
          continue
        }
        for property in store.model.entity(id.entity)?.storedProperties ?? [] {
          if property.attribute?.assignment == .updated { continue }
          if touched.contains(PropertyKey(id: id, property: property.number)) { continue }
          compared += 1
          #expect(image[property] == old[property], "seed \(seed): \(what) to \(position): \(property.name) of \(id)")
        }
      }
    }
  }
}
