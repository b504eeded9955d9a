import GraphModel
import GraphShell

/// Finds the notes and boards that a user names.
@MainActor
struct NoteFinder {
  private let shell: CommandContext

  init(_ shell: CommandContext) { self.shell = shell }

  /// The note with a number, or with a prefix of an id.
  func note(_ name: String) async throws -> ObjectImage {
    if let provisional = ProvisionalNumber.number(name) { return try await note(provisional) }
    if let digits = ObjectFinder.digits(of: name) {
      // No note has a number beyond 64 bits.
      guard let number = Int64(digits) else { throw noNote(digits) }
      let found = try await shell.images(
        of: NoteProperties.entity, where: .equal(NoteProperties.number, .integer(number)))
      guard let note = found.first else { throw noNote(digits) }
      return note
    }
    return try await object(NoteProperties.entity, name)
  }

  /// The note that was made without the daemon and had a number of the replica then.
  private func note(_ provisional: Int64) async throws -> ObjectImage {
    let number = try OfflineConnection.assignedNumber(for: provisional, by: shell.server) ?? provisional
    let found = try await shell.images(
      of: NoteProperties.entity, where: .equal(NoteProperties.number, .integer(number)))
    if let note = found.first { return note }
    if shell.isPartOfCopy, number != provisional {
      throw Refusal(
        .notFound, "the note +\(provisional - ProvisionalNumber.base), #\(number), is not in this computer's copy")
    }
    throw Refusal(
      .notFound,
      "there is no note +\(provisional - ProvisionalNumber.base) that this computer has made without the daemon")
  }

  private func object(_ entity: Entity, _ prefix: String) async throws -> ObjectImage {
    guard !prefix.isEmpty, UniqueID.range(ofPrefix: prefix) != nil else {
      throw Refusal(
        .malformed,
        "\"\(prefix)\" is neither a number nor the beginning of an id; stickies search finds notes by their words")
    }
    return try await ObjectFinder(shell).object(prefix, of: [entity], called: entity.name.lowercased())
  }

  /// A board by its name, otherwise by a prefix of its id.
  func board(_ name: String) async throws -> ObjectImage {
    let isNamed = GraphPredicate.equal(BoardProperties.name, .string(name))
    if let board = try await shell.images(of: BoardProperties.entity, where: isNamed).first {
      return board
    }
    guard UniqueID.range(ofPrefix: name) != nil, name.utf8.count >= 4 else {
      throw noBoard(name)
    }
    do {
      return try await object(BoardProperties.entity, name)
    } catch let refusal as Refusal where refusal.code == .notFound {
      throw noBoard(name)
    }
  }

  /// The existing tags with these names.
  func tags(_ names: [String]) async throws -> [ObjectImage] {
    if names.isEmpty { return [] }
    return try await shell.images(
      of: TagProperties.entity, where: .in(TagProperties.name, names.map(Value.string)))
  }

  /// The refusal has no advice about a past state, because the present one is searched too.
  private func noNote(_ digits: String) -> Refusal {
    if shell.isPartOfCopy {
      return Refusal(.notFound, "there is no note number \(digits) in this computer's copy")
    }
    if shell.seesPart { return Refusal(.notFound, "there is no note number \(digits) for you") }
    let advice =
      shell.revision == nil
      ? ": stickies list shows the notes, and stickies restore \(digits) restores a deleted one" : ""
    return Refusal(.notFound, "there is no note number \(digits)\(advice)")
  }

  private func noBoard(_ name: String) -> Refusal {
    if shell.isPartOfCopy {
      return Refusal(.notFound, "there is no board called \"\(name)\" in this computer's copy")
    }
    return Refusal(
      .notFound,
      "there is no board called \"\(name)\": stickies board list shows the boards, and stickies board add adds one"
    )
  }
}
