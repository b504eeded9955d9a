import ArgumentParser
import CommandLineIO
import GraphJSON
import GraphModel
import GraphWire

struct Why: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Show who set a property, when, and which value it replaced.",
    discussion: "Also lists the values of other authors that lost a conflict to it.")

  @OptionGroup var options: CommonOptions
  @Argument(
    help: ArgumentHelp(
      "An object, by number or the beginning of its id, and a property: 3.text, b6yvgbpa.name.",
      valueName: "object.property"))
  var path: String

  func validate() throws {
    let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count != 2 || parts.contains("") { throw ValidationError("why takes OBJECT.PROPERTY, such as 3.text") }
  }

  @MainActor
  func run() async throws {
    try await options.withHistory { shell in
      let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
      let id = try await ObjectFinder(shell).past(parts[0])
      let entity = try shell.model.entity(of: id)
      guard let property = entity.property(named: parts[1]) else {
        throw Refusal(.malformed, Suggestion.sentence(forProperty: parts[1], of: entity))
      }
      let origin = try await shell.client.why(property, of: id)
      if shell.output.json { return shell.output.print(ObjectJSON.origin(origin, of: property, id, shell.model)) }
      for line in origin.lines(of: property) { shell.output.print(line) }
    }
  }
}

extension ValueOrigin {
  /// The origin in text form, a line each.
  fileprivate func lines(of property: Property) -> [String] {
    func text(_ value: Value) -> String { value.isNull ? "null" : ValueText.cell(value, property) }
    let what: String
    switch kind {
    case .inserted: what = "set with the object"
    case .updated: what = "set"
    case .revived: what = "set as the object came back"
    }
    var commit = "  \(what) by \(TextTable.visible(author)), \(LocalTime.text(time)), revision \(revision)"
    if let name = undo?.shownName { commit += " (\(TextTable.visible(name)))" }
    if let redoes {
      commit += ", redo of \(redoes)"
    } else if let undoes {
      commit += ", undo of \(undoes)"
    }
    var lines = [text(value), commit]
    if kind != .inserted, isReplacedKnown {
      lines.append("  replaced: \(ValueText.change(from: replaced, to: value, property).was)")
    }
    for loser in overwrittenValues {
      lines.append(
        "  lost to it: \(text(loser.value)) of "
          + "\(loser.author.isEmpty ? "an unknown author" : TextTable.visible(loser.author)), "
          + "\(loser.isPruned ? "at a time that was pruned" : LocalTime.text(loser.time)), "
          + "revision \(loser.revision)")
    }
    if let deletion = deletion { lines.append("  the object was deleted in revision \(deletion)") }
    return lines
  }
}

extension ObjectJSON {
  fileprivate static func origin(
    _ origin: ValueOrigin, of property: Property, _ id: ObjectID, _ model: Model
  ) -> JSON {
    func json(_ value: Value) -> JSON { value.json(kind: property.attribute?.kind) }
    let kind =
      switch origin.kind {
      case .inserted: "inserted"
      case .updated: "updated"
      case .revived: "revived"
      }
    var members = [
      JSON.Member("id", .string(id.description)), JSON.Member("entity", entity(of: id, model)),
      JSON.Member("property", .string(property.name)), JSON.Member("value", json(origin.value)),
      JSON.Member("kind", .string(kind)), JSON.Member("author", .string(origin.author)),
      JSON.Member("time", .string(RFC3339.text(origin.time))), JSON.Member("revision", .integer(origin.revision)),
      JSON.Member(
        "transaction",
        .object([
          .init("replica", .string(origin.transaction.replica.description)),
          .init("sequence", .integer(Int64(clamping: origin.transaction.sequence))),
        ])),
    ]
    if let undoes = origin.undoes { members.append(.init("undoes", .integer(undoes))) }
    if let redoes = origin.redoes { members.append(.init("redoes", .integer(redoes))) }
    if let name = origin.undo?.shownName { members.append(.init("group", .string(name))) }
    if origin.kind != .inserted, origin.isReplacedKnown { members.append(.init("replaced", json(origin.replaced))) }
    members.append(
      .init(
        "lost",
        .array(
          origin.overwrittenValues.map {
            .object([
              .init("value", json($0.value)), .init("author", .string($0.author)),
              .init("time", $0.isPruned ? .null : .string(RFC3339.text($0.time))),
              .init("revision", .integer($0.revision)),
            ])
          })))
    if let deletion = origin.deletion { members.append(.init("deleted", .integer(deletion))) }
    return .object(members)
  }
}
