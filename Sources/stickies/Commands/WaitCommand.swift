import ArgumentParser
import GraphClient
import GraphModel
import GraphShell
import GraphWire

/// `stickies wait`: lets a script wait for changes of others without polling.
struct WaitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait", abstract: "Wait until matching notes exist, or until a revision exists.",
    discussion: """
      Ends with exit code 0 as soon as the condition holds, at once if it already does, and with 124 after --timeout. \
      <id> can name notes that do not exist yet; all of them must match. If the connection is lost, the command \
      connects again and misses nothing.
      """)

  @OptionGroup var options: CommonOptions
  @Argument(help: "Numbers or complete ids of notes.")
  var id: [String] = []
  @OptionGroup var filter: NoteFilterArguments
  @OptionGroup var goal: WaitOptions

  func validate() throws {
    let asksForNotes = !id.isEmpty || filter.condition != nil || filter.board != nil
    try goal.check(asksForObjects: asksForNotes, "notes by --where, --board or their ids")
    let named = namedCount
    if named > 0, let count = goal.count, count > named {
      throw ValidationError(
        "\(Output.count(named, "note")) can never be \(count): --count can be at most the number of named notes")
    }
  }

  /// The number of different notes: `3` and `#3` are the same.
  private var namedCount: Int { Set(id.map { ObjectFinder.digits(of: $0) ?? $0 }).count }

  @MainActor
  func run() async throws {
    try await goal.run {
      try await options.withShell(reconnects: true, $0)
    } forObjects: { wait in
      var parts = [try await filter.predicate(wait.shell)]
      if !id.isEmpty { parts.append(try await NoteFinder(wait.shell).predicate(id)) }
      try await wait.until(
        goal.count(otherwise: max(1, namedCount)), of: NoteProperties.entity, where: .all(parts), called: "note")
    }
  }
}

extension NoteFinder {
  /// A predicate for notes that may not exist yet. A prefix of an id must belong to an existing note.
  fileprivate func predicate(_ names: [String]) async throws -> GraphPredicate {
    var numbers = [Value]()
    var ids = [ObjectID]()
    for name in names {
      if let number = ObjectFinder.digits(of: name).flatMap({ Int64($0) }) {
        numbers.append(.integer(number))
      } else if let key = UniqueID(name) {
        ids.append(ObjectID(key: key, entity: NoteProperties.entity.number))
      } else {
        ids.append(try await note(name).id)
      }
    }
    let parts = [
      numbers.isEmpty ? nil : GraphPredicate.in(NoteProperties.number, numbers),
      ids.isEmpty ? nil : GraphPredicate.identifiers(ids),
    ]
    return .or(parts.compactMap(\.self))
  }
}
