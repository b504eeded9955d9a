import CommandLineIO
import ArgumentParser
import GraphJSON
import GraphModel
import GraphWire

struct Diff: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "diff", abstract: "Show the differences between two states of the graph or of one object.",
      usage: "\(GraphCommand.path("diff")) [<options>] [<object>] <from> [<to>]",
      discussion: """
        <from> and <to> are revisions or times; <to> defaults to now. Without <object> the whole graph is compared. \
        Write an object's number as '#3': if only one state follows, a plain 3 is a revision. A change that was \
        reverted is not a difference.
        """)
  }

  @OptionGroup var options: CommonOptions
  @Argument(
    help: ArgumentHelp("An object (optional), and one or two states: '#3', 5, \"1h ago\".", valueName: "words"))
  var words: [String] = []
  @Flag(help: "Compare the object alone, without its contents (the objects that are deleted with it).")
  var only = false
  @Option(
    name: .customLong("entity"), parsing: .unconditionalSingleValue,
    help: "Only objects of this entity; may be repeated.")
  var entities: [String] = []

  /// Two words are two states if both can be parsed so.
  private func parts() throws -> (object: String?, from: RevisionSpecifier, to: RevisionSpecifier?) {
    switch words.count {
    case 1: return (nil, try RevisionSpecifier(words[0], option: "diff"), nil)
    case 2:
      if let from = try? RevisionSpecifier(words[0], option: "diff") {
        return (nil, from, try RevisionSpecifier(words[1], option: "diff"))
      }
      return (words[0], try RevisionSpecifier(words[1], option: "diff"), nil)
    case 3:
      return (
        words[0], try RevisionSpecifier(words[1], option: "diff"), try RevisionSpecifier(words[2], option: "diff")
      )
    default: throw ValidationError("diff takes [OBJECT] FROM [TO], such as 5, or '#1' 5 9")
    }
  }

  func validate() throws {
    let parts = try parts()
    if only, parts.object == nil { throw ValidationError("--only requires an object") }
  }

  /// The message about a `<to>` before the first commit.
  static func emptyEnd(_ words: [String]) -> String {
    let order = "<to> is before the first commit: write the earlier state first"
    guard words.count == 2, let digits = ObjectFinder.digits(of: words[0]) else { return order }
    return "\(order), and the number of an object as '#\(digits)'"
  }

  @MainActor
  func run() async throws {
    let parts = try parts()
    try await options.withHistory { shell in
      var request = DifferenceRequest(
        from: try await parts.from.revision(in: shell.client), contents: !only,
        entities: try entities.map { try shell.known($0).number })
      if let object = parts.object {
        request.object = try await ObjectFinder(shell).past(object)
      } else {
        request.contents = false
      }
      if let to = parts.to {
        request.to = try await to.revision(in: shell.client)
        // In the protocol 0 means the head; revision 0 is the empty graph.
        guard request.to > 0 else { throw Refusal(.malformed, Self.emptyEnd(words)) }
      }
      var count = 0
      let differences = shell.client.differences(request, omitsDamage: true)
      for try await part in differences {
        count += part.count
        for difference in part { shell.output.show(difference) }
      }
      try IncompleteResult.check(differences.damage, shell.model)
      if count == 0, !shell.output.json { StandardError.write("no difference") }
    }
  }
}

extension Output {
  fileprivate func show(_ difference: ObjectDifference) {
    guard !json else { return print(ObjectJSON.difference(difference, model)) }
    let sign =
      switch difference.kind {
      case .inserted: "+"
      case .updated: "~"
      case .deleted: "-"
      }
    print("\(sign) \(line(difference.object))")
    for changed in difference.properties {
      guard let property = model.property(changed.number), !property.isHidden else { continue }
      let change = ValueText.change(from: changed.was, to: difference.object[property], property)
      print("    \(property.name): \(change.was) → \(change.is)")
    }
  }
}

extension ObjectJSON {
  fileprivate static func difference(_ difference: ObjectDifference, _ model: Model) -> JSON {
    let kind =
      switch difference.kind {
      case .inserted: "inserted"
      case .updated: "updated"
      case .deleted: "deleted"
      }
    var members = [JSON.Member("kind", .string(kind)), .init("object", object(difference.object, model))]
    if difference.kind == .updated {
      let changed = difference.properties.compactMap { changed -> JSON.Member? in
        guard let property = model.property(changed.number), !property.isHidden else { return nil }
        let kind = property.attribute?.kind
        return .init(
          property.name,
          .object([
            .init("from", changed.was.json(kind: kind)), .init("to", difference.object[property].json(kind: kind)),
          ]))
      }
      members.append(.init("changed", .object(changed)))
    }
    return .object(members)
  }
}
