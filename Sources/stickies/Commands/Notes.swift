import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import StickiesKit
import StickiesModel

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a note.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "The note's text, in one word or several; - reads standard input.")
  var text: [String]
  @Option(parsing: .unconditional, help: "The board, by name or id; default: the oldest board.")
  var board: String?
  @Option(parsing: .unconditional, help: "The note's color; default: yellow.")
  var color: Color?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The note's top left corner, in points, such as -40,120; default: beside the newest note.", valueName: "X,Y"))
  var position: Point?
  @Option(parsing: .unconditionalSingleValue, help: "A tag, which is created if it is missing; may be repeated.")
  var tag: [String] = []

  @MainActor
  func run() async throws {
    let text = try TextInput.read(text.joined(separator: " "))
    try await options.withShell { shell in
      var changes = [Change]()
      let boardID = try await board(shell, &changes)
      let note = ObjectID.temporary(1, entity: NoteProperties.entity.number)
      let tags = TagInserts(tag, known: try await NoteFinder(shell).tags(tag), first: 10)
      changes += tags.changes
      var edits: [Edit] = [.set(NoteProperties.text, .string(text)), .set(NoteProperties.board, .object(boardID))]
      if let color { edits.append(.set(NoteProperties.color, .string(color.rawValue))) }
      if let position {
        edits += [.set(NoteProperties.x, .double(position.x)), .set(NoteProperties.y, .double(position.y))]
      } else {
        edits += try await place(shell)
      }
      if let z = try await height(on: boardID, shell) { edits.append(.set(NoteProperties.z, .double(z))) }
      if !tags.ids.isEmpty {
        edits.append(Edit(NoteProperties.tags.number, .members(added: tags.ids, removed: [])))
      }
      changes.append(Change(.insert, note, edits: edits))
      shell.output.show(try await shell.commit(changes, returning: note))
    }
  }

  /// The position of a note without a given one. Such notes are staggered in groups of ten, so that none covers
  /// another one's title.
  @MainActor
  private func place(_ shell: CommandContext) async throws -> [Edit] {
    let newest = try await shell.images(
      of: NoteProperties.entity, sort: [SortKey](Note.self, [\.number.descending]), limit: 1
    ).first
    guard case .integer(let number)? = newest.map({ $0[NoteProperties.number] }) else { return [] }
    let step = Double(number % 10)
    return [.set(NoteProperties.x, .double(24 * step)), .set(NoteProperties.y, .double(32 * step))]
  }

  /// A stacking order above the board's notes; nil for the first note there.
  @MainActor
  private func height(on board: ObjectID, _ shell: CommandContext) async throws -> Double? {
    guard !board.isTemporary else { return nil }
    let others = GraphPredicate.equal(NoteProperties.board, .object(board))
    let highest = try await shell.images(
      of: NoteProperties.entity, where: others, sort: [SortKey](Note.self, [\.z.descending]), limit: 1
    ).first
    guard case .double(let z)? = highest.map({ $0[NoteProperties.z] }) else { return nil }
    return z + 1
  }

  /// The board for the note. In an empty store one is created; two clients that do so concurrently share one.
  @MainActor
  private func board(_ shell: CommandContext, _ changes: inout [Change]) async throws -> ObjectID {
    if let board { return try await NoteFinder(shell).board(board).id }
    if let oldest = try await shell.images(
      of: BoardProperties.entity, sort: [SortKey](Board.self, [\.created.ascending]), limit: 1
    ).first {
      return oldest.id
    }
    let id = ObjectID.temporary(2, entity: BoardProperties.entity.number)
    changes.append(Change(.insert, id, edits: [.set(BoardProperties.name, .string("Notes"))]))
    return id
  }
}

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show everything about one note.")

  @OptionGroup var note: NoteChangeArguments
  @OptionGroup var past: PastOption

  @MainActor
  func run() async throws {
    try await note.options.withShell { shell in
      let note = try await ObjectFinder(past.shell(shell)).find("note") {
        try await NoteFinder($0.shell).note(self.note.id)
      }
      shell.output.show(note, else: text(note, shell))
    }
  }

  @MainActor
  private func text(_ note: ObjectImage, _ shell: CommandContext) -> String {
    var lines = [shell.output.dim("\(note.id), revision \(note.revision)")]
    for property in NoteProperties.entity.storedProperties where property.number != NoteProperties.text.number {
      if property.number == NoteProperties.number.number {
        lines.append("\(property.name): \(NoteLine.digits(of: note[property]))")
        continue
      }
      let value = note[property].json(kind: property.attribute?.kind)
      lines.append("\(property.name): \(TextTable.visible(value.stringValue ?? value.text))")
    }
    let body = note.text(of: NoteProperties.text)
    return (lines + ["", TextTable.whole(body)]).joined(separator: "\n")
  }
}

struct EditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change a note's text, in your editor or with --text.")

  @OptionGroup var note: NoteChangeArguments
  @Option(parsing: .unconditional, help: "The new text; - reads standard input.")
  var text: String?

  @MainActor
  func run() async throws {
    // An editor may be open for hours, so the command waits for a daemon that is down when it closes.
    try await note.options.withShell(reconnects: text == nil) { shell in
      let note = try await NoteFinder(shell).note(note.id)
      let property = NoteProperties.text
      let old = note.text(of: property)
      guard let text else { return try await edit(note, old, property, shell) }
      shell.output.show(try await save(TextInput.read(text), note, old, property, shell))
    }
  }

  /// Sends only the difference to the text that was read, so that concurrent edits are kept.
  @MainActor
  private func save(
    _ new: String, _ note: ObjectImage, _ old: String, _ property: Property, _ shell: CommandContext
  ) async throws -> ObjectImage {
    guard !UTF8Comparison.equal(new, old) else { return note }
    let edits = [Edit(property.number, .splice(TextSplice.differences(from: old, to: new)))]
    return try await shell.commit([note.update(edits)], returning: note.id)
  }

  @MainActor
  private func edit(_ note: ObjectImage, _ old: String, _ property: Property, _ shell: CommandContext) async throws {
    let editor = try await Editor.edit(old)
    guard editor.wasWritten else {
      shell.output.message("the editor saved nothing; a text that it saves later stays in \(editor.file)")
      return shell.output.show(note)
    }
    let place = "your text is in \(editor.file)"
    let interruption = Interruption(place)
    defer { withExtendedLifetime(interruption) {} }
    // Set only now, because the editor had the terminal before.
    let report = { (state: GraphClient.State) in
      if case .reconnecting = state {
        shell.output.message("the connection was lost; trying again; \(place)")
        shell.client.stateDidChange = nil
      }
    }
    if !UTF8Comparison.equal(editor.text, old) {
      shell.client.stateDidChange = report
      report(shell.client.state)
    }
    let image: ObjectImage
    do {
      image = try await save(editor.text, note, old, property, shell)
    } catch {
      shell.output.message("\(place)")
      throw error
    }
    editor.discard()
    shell.output.show(image)
  }
}

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete notes and their links in one commit; undo restores them.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "The notes' numbers or ids.")
  var id: [String]

  @MainActor
  func run() async throws {
    try await options.withShell { shell in
      var notes = [ObjectImage]()
      for name in id {
        let note = try await NoteFinder(shell).note(name)
        if !notes.contains(where: { $0.id == note.id }) { notes.append(note) }
      }
      let commit = try await shell.delete(notes.map(\.id))
      shell.output.show(commit, else: notes.map { "deleted \(shell.output.line($0))" }.joined(separator: "\n"))
    }
  }
}
