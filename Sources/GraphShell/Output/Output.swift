import CommandLineIO
import GraphJSON
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
  /// The revision above which objects have edits that wait for the server; nil with a server.
  private let unsentAfter: Revision?

  package init(
    json: Bool, ansi: CommonOptions.ANSI, model: Model, program: any ShellProgram, unsentAfter: Revision? = nil
  ) {
    self.json = json
    self.model = model
    self.unsentAfter = unsentAfter
    self.program = program
    switch ansi {
    case .always: usesColor = true
    case .never: usesColor = false
    case .auto: usesColor = !Self.wantsNoColor && isatty(1) == 1
    }
  }

  /// Whether the environment variable `NO_COLOR` has a value.
  private static var wantsNoColor: Bool { getenv("NO_COLOR").map { $0.pointee != 0 } == true }

  /// Writes a message to standard error, after the program's name. It may quote names and texts, whose control
  /// characters must not reach the terminal.
  package func message(_ text: String) { StandardError.write("\(program.name): \(TextTable.visibleLines(text))") }

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
    if json { print(object(image)) } else { print(text ?? line(image)) }
  }

  /// The JSON of an object, which says whether it has unsent edits.
  private func object(_ image: ObjectImage) -> JSON { marked(ObjectJSON.object(image, model), of: image.revision) }

  /// JSON of a revision, which says whether the revision is that of an unsent edit.
  private func marked(_ json: JSON, of revision: Revision) -> JSON {
    guard let unsentAfter, revision > unsentAfter, case .object(let members) = json else { return json }
    return .object(members + [.init("unsent", .bool(true))])
  }

  package func show(_ images: [ObjectImage], else table: @autoclosure () -> String) {
    if json { return print(JSON.array(images.map { object($0) })) }
    let text = table()
    if !text.isEmpty { print(text) }
  }

  package func show(_ commit: CommitEntry, else text: @autoclosure () -> String) {
    if json { print(marked(ObjectJSON.commit(commit, model), of: commit.revision)) } else { print(text()) }
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
