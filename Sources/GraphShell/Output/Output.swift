import CommandLineIO
import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Prints text or JSON.
@MainActor
package struct Output {
  package let json: Bool
  package let usesColor: Bool
  /// The program, for the names in messages and lines.
  let program: any ShellProgram
  let model: Model

  package init(json: Bool, ansi: CommonOptions.ANSI, model: Model, program: any ShellProgram) {
    self.json = json
    self.model = model
    self.program = program
    switch ansi {
    case .always: usesColor = true
    case .never: usesColor = false
    case .auto: usesColor = !Self.wantsNoColor && isatty(1) == 1
    }
  }

  /// Whether the environment variable `NO_COLOR` has a value.
  private static var wantsNoColor: Bool { getenv("NO_COLOR").map { $0.pointee != 0 } == true }

  /// Writes a message to standard error, after the program's name.
  package func message(_ text: String) { StandardError.write("\(program.name): \(text)") }

  package func print(_ text: String, terminator: String = "\n") {
    StandardOutput.write(text, terminator: terminator) {
      CommandFailure.write(CommandFailure.Report(code: "failed", message: $0, exit: 1), json: json, of: program)
    }
  }

  package func print(_ json: JSON) { print(json.text) }

  /// Prints text unless JSON is requested.
  package func printText(_ text: String) { if !json { print(text) } }

  // MARK: Objects

  /// Prints a stored object: as JSON, or as one line unless `text` is given.
  package func show(_ image: ObjectImage, else text: String? = nil) {
    if json { print(ObjectJSON.object(image, model)) } else { print(text ?? line(image)) }
  }

  package func show(_ images: [ObjectImage], else table: @autoclosure () -> String) {
    if json { return print(JSON.array(images.map { ObjectJSON.object($0, model) })) }
    let text = table()
    if !text.isEmpty { print(text) }
  }

  package func show(_ commit: CommitEntry, else text: @autoclosure () -> String) {
    if json { print(ObjectJSON.commit(commit, model)) } else { print(text()) }
  }

  // MARK: Text

  /// As in `1 object`, `2 objects`.
  nonisolated package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
  }

  /// One line that identifies an object.
  package func line(_ image: ObjectImage) -> String {
    let name = "\(model.entityName(image.id.entity)) \(image.id.description.prefix(8))"
    guard let entity = model.entity(image.id.entity) else { return name }
    if let line = program.line(image, of: entity, isColored: usesColor) { return line }
    guard let title = ObjectTitle.text(image, in: model) else { return name }
    return "\(name) \(title)"
  }

  /// One line for a change of a commit. The daemon may have omitted the object because the commit is too large.
  func line(_ change: Delta.Change) -> String {
    if let image = change.object { return line(image) }
    return "\(model.entityName(change.id.entity)) \(change.id.description.prefix(8))"
  }

  package func dim(_ text: String) -> String { usesColor ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

  /// As in `14:03:22`, with the date if it was not today; local time.
  package static func localTime(_ time: Timestamp) -> String { LocalTime.text(time) }
}

/// The JSON form of objects and commits (docs/cli.md).
package enum ObjectJSON {
  package static func object(_ image: ObjectImage, _ model: Model) -> JSON {
    guard let entity = model.entity(image.id.entity) else { return .null }
    var members = [
      JSON.Member("id", .string(image.id.description)), JSON.Member("entity", .string(entity.name)),
      JSON.Member("revision", .integer(image.revision)),
    ]
    // In the order of the model file.
    for property in entity.properties where property.slot != nil {
      members.append(.init(property.name, image[property].json(kind: property.attribute?.kind)))
    }
    return .object(members)
  }

  /// The name of an object's entity; null for one that the model does not have.
  static func entity(of id: ObjectID, _ model: Model) -> JSON {
    model.entity(id.entity).map { .string($0.name) } ?? .null
  }

  static func commit(_ entry: CommitEntry, _ model: Model) -> JSON {
    commit(
      revision: entry.revision, author: entry.author, time: entry.time, undoes: entry.undoes, redoes: entry.redoes,
      group: entry.undo?.shownName, unlisted: entry.unlisted, more: entry.more, entry.changes, model)
  }

  static func commit(
    revision: Revision, author: String, time: Timestamp, undoes: Revision? = nil, redoes: Revision? = nil,
    group: String? = nil, unlisted: UInt64 = 0, more: UInt64 = 0, total: UInt64? = nil, _ changes: [Delta.Change],
    _ model: Model
  ) -> JSON {
    var members = [
      JSON.Member("revision", .integer(revision)), JSON.Member("author", .string(author)),
      JSON.Member("time", .string(RFC3339.text(time))),
    ]
    if let undoes { members.append(.init("undoes", .integer(undoes))) }
    if let redoes { members.append(.init("redoes", .integer(redoes))) }
    if let group { members.append(.init("group", .string(group))) }
    if unlisted > 0 { members.append(.init("unlisted", .integer(Int64(clamping: unlisted)))) }
    if more > 0 { members.append(.init("more", .integer(Int64(clamping: more)))) }
    if let total { members.append(.init("total", .integer(Int64(clamping: total)))) }
    members.append(.init("changes", .array(changes.map { change($0, model) })))
    return .object(members)
  }

  /// An undo or a redo, with what it skipped.
  static func commit(_ entry: CommitEntry, skipped: [Conflict], _ model: Model) -> JSON {
    guard case .object(let members) = commit(entry, model), !skipped.isEmpty else { return commit(entry, model) }
    let list = skipped.map { conflict in
      var members = [
        JSON.Member("kind", .string(conflict.kind == .deleted ? "deleted" : "changed")),
        JSON.Member("id", .string(conflict.id.description)),
        JSON.Member("entity", entity(of: conflict.id, model)),
      ]
      if let property = model.property(conflict.property) { members.append(.init("property", .string(property.name))) }
      if !conflict.author.isEmpty { members.append(.init("author", .string(conflict.author))) }
      if conflict.revision > 0 { members.append(.init("revision", .integer(conflict.revision))) }
      return JSON.object(members)
    }
    return .object(members + [.init("skipped", .array(list))])
  }

  static func change(_ change: Delta.Change, _ model: Model) -> JSON {
    var members = [JSON.Member("kind", .string(name(of: change.kind)))]
    if let object = change.object {
      members.append(.init("object", self.object(object, model)))
    } else {
      members.append(
        .init(
          "object",
          .object([
            .init("id", .string(change.id.description)),
            .init("entity", entity(of: change.id, model)),
          ])))
    }
    // Every update has edits; if there are none, the daemon omitted them with the object.
    if change.kind == .updated, change.object != nil || !change.edits.isEmpty {
      members.append(.init("changed", .array(change.edits.map { .string(model.propertyName($0.property)) })))
    }
    if change.kind == .removed, change.deleted { members.append(.init("deleted", .bool(true))) }
    if let place = change.place { members.append(.init("place", .integer(Int64(clamping: place)))) }
    return .object(members)
  }

  static func sign(_ kind: Delta.Change.Kind) -> String {
    switch kind {
    case .inserted: "+"
    case .updated: "~"
    case .removed: "-"
    }
  }

  static func name(of kind: Delta.Change.Kind) -> String {
    switch kind {
    case .inserted: "inserted"
    case .updated: "updated"
    case .removed: "removed"
    }
  }
}
