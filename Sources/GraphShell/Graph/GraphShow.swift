import ArgumentParser
import GraphJSON
import GraphModel

struct GraphShow: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "show", abstract: "Show one object with all of its values and relationships.",
      usage: "\(RunningProgram.current.name) graph show [<options>] [<entity>] <id>")
  }

  @OptionGroup var options: CommonOptions
  @Argument(
    help: ArgumentHelp(
      "The beginning of the object's id; naming its entity makes the search faster.", valueName: "id"))
  var words: [String]
  @OptionGroup var past: PastOption

  func validate() throws {
    if words.count > 2 { throw ValidationError("show takes one object: [ENTITY] ID") }
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      let entity = words.count == 2 ? try shell.known(words[0]) : nil
      let shell = try await past.shell(shell)
      let image = try await ObjectFinder(shell).find(ObjectFinder.noun(for: entity)) {
        try await $0.object(words[words.count - 1], of: entity)
      }
      let whole = try await ObjectWithRelationships(image, shell)
      if let reason = whole.unreadable {
        shell.output.message("relationships that are stored at their other end are not shown: \(reason)")
      }
      if shell.output.json {
        shell.output.print(ObjectJSON.object(image, shell.model, only: nil, members: whole.members))
      } else {
        shell.output.print(try await whole.text(shell))
      }
    }
  }
}

/// An object with all of its relationships.
@MainActor
private struct ObjectWithRelationships {
  let image: ObjectImage
  let entity: Entity
  private(set) var members = ToManyMembers()
  /// The reason why some relationships could not be read; nil if all were read.
  private(set) var unreadable: String?

  /// Maximum number of a relationship's objects that are listed in text output.
  private static let named = 10

  init(_ image: ObjectImage, _ shell: CommandContext) async throws {
    self.image = image
    entity = try shell.model.entity(of: image.id)
    for property in entity.relationships where property.slot == nil {
      do {
        members.add(try await shell.members(of: property, owners: [image.id]), of: property)
      } catch let refusal as Refusal where refusal.code == .limit && shell.revision != nil {
        // An old state of an object and its references can be read, but a search for the objects that referred to it
        // may exceed the limit.
        unreadable = refusal.message
      }
    }
  }

  private func related(_ property: Property) -> [ObjectID] {
    property.slot == nil ? members.ids(of: property, in: image.id) : image[property].objectIDs
  }

  func text(_ shell: CommandContext) async throws -> String {
    var lines = [shell.output.dim("\(entity.name) \(image.id), revision \(image.revision)")]
    // Transient attributes exist only in a context, so the daemon has no value, as in JSON.
    for property in entity.attributes where property.slot != nil {
      let value = image[property]
      let text = value.isNull ? "null" : whole(value, property)
      lines.append("\(property.name): \(text)")
    }
    for property in entity.relationships {
      if property.slot == nil, !members.contains(property) {
        lines.append("\(property.name): not available")
        continue
      }
      let ids = related(property)
      guard !ids.isEmpty else {
        lines.append("\(property.name): none")
        continue
      }
      guard let relationship = property.relationship else {
        preconditionFailure("a relationship has its details: \(property.name)")
      }
      let names = try await shell.images(
        Array(ids.prefix(Self.named)), of: shell.model.destination(of: relationship)
      ).map(shell.reference)
      if !relationship.isToMany {
        lines.append("\(property.name): \(names.first ?? ids[0].description)")
        continue
      }
      lines.append("\(property.name): \(ids.count)")
      lines += names.map { "  " + $0 }
      if ids.count > Self.named { lines.append("  … and \(ids.count - Self.named) more") }
    }
    return lines.joined(separator: "\n")
  }

  /// All lines of a text, indented after the first.
  private func whole(_ value: Value, _ property: Property) -> String {
    guard case .string(let text) = value, property.attribute?.kind != .json else {
      return ValueText.cell(value, property)
    }
    var lines = String.UnicodeScalarView()
    // Iterates over scalars, because `\r\n` is one character.
    for scalar in TextTable.whole(text).unicodeScalars {
      lines.append(scalar)
      guard scalar == "\n" else { continue }
      // One by one: appending a sequence copies the text.
      lines.append(" ")
      lines.append(" ")
    }
    return String(lines)
  }
}
