import ArgumentParser
import GraphModel
import StickiesKit

extension GraphCommand {
  struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the objects of an entity and of those that inherit from it.",
      discussion: "They are printed as they come, however many there are.")

    @OptionGroup var options: Options
    @Argument(help: "The entity.")
    var entity: String
    @Option(name: .customLong("where"), help: "A predicate, such as 'name BEGINSWITH \"A\" AND age > 30'.")
    var condition: String?
    @Option(parsing: .unconditional, help: "Attributes to sort by, a minus for descending: -age,name.")
    var sort = ""
    @OptionGroup var limit: Limit
    @Option(parsing: .unconditional, help: "Pass over this many first.")
    var offset = 0
    @Flag(help: "Print only how many there are.")
    var count = false
    @Flag(help: "Print only the ids.")
    var ids = false
    @Option(help: "What to print of each, with commas between; to-many relationships only when they stand here.")
    var properties: String?

    func validate() throws {
      if offset < 0 { throw ValidationError("--offset takes a number from 0") }
      if count, ids { throw ValidationError("--count and --ids exclude each other") }
      if count || ids, properties != nil { throw ValidationError("--properties goes without --count and --ids") }
    }

    @MainActor
    func run() async throws {
      try await options.withGraph { shell in
        let entity = try shell.known(entity)
        let predicate = try shell.predicate(condition, on: entity)
        let order = try shell.order(sort, of: entity)
        let columns = try Columns(properties, of: entity, in: shell.model)
        var number = 0
        var printer = ListPrinter(shell: shell, columns: columns, ids: ids)
        let objects = shell.client.images(
          of: entity, where: predicate, sort: order, limit: limit.number, offset: offset)
        for try await chunk in objects {
          number += chunk.count
          if !count { try await printer.print(chunk) }
        }
        if count {
          shell.output.json
            ? shell.output.print(JSON.object([.init("count", .integer(Int64(number)))]))
            : shell.output.print("\(number)")
        } else {
          printer.end()
          if number == 0, !shell.output.json { StandardError.write("no \(entity.name) matches") }
        }
      }
    }
  }
}

/// What is printed of each object, by name: subentities have properties that their parent has not.
struct Columns {
  /// Nil when nobody chose.
  let chosen: [String]?
  /// For a table.
  let names: [String]
  /// Several kinds of objects may come.
  let hasKinds: Bool
  private let model: Model

  init(_ list: String?, of entity: Entity, in model: Model) throws {
    self.model = model
    let family = entity.family.compactMap { model.entity($0) }
    hasKinds = family.count { !$0.isAbstract } > 1
    guard let list else {
      chosen = nil
      // As many as fit beside the id: the first that fit into one cell.
      let room = TextTable.terminalWidth
      let most = room == .max ? 6 : max(2, min(6, (room - 12) / 16))
      let simple = entity.attributes.filter { ![.data, .json].contains($0.attribute?.kind) }
      names = simple.prefix(most).map(\.name)
      return
    }
    let known = family.flatMap(\.properties).map(\.name)
    var chosen = [String]()
    for part in list.split(separator: ",") {
      let name = String(part.filter { !$0.isWhitespace })
      guard known.contains(name) || ["id", "entity", "revision"].contains(name) else {
        let own = entity.properties.map(\.name)
        let more = Suggestion.sentence(for: name, among: known) ?? "; it has \(own.joined(separator: ", "))"
        throw Refusal(.malformed, "\(entity.name) has no property \"\(name)\"\(more)")
      }
      if !chosen.contains(name) { chosen.append(name) }
    }
    self.chosen = chosen
    names = chosen.filter { !["id", "entity", "revision"].contains($0) }
  }

  /// The chosen to-manys of the entity that are stored at their other end.
  func unstored(of entity: Entity) -> [Property] {
    (chosen ?? []).compactMap { entity.property(named: $0) }.filter { $0.slot == nil }
  }
}

/// To-many relationships that are part of no image, by property and owner.
typealias Members = [PropertyNumber: [ObjectID: [ObjectID]]]

/// Prints objects chunk by chunk: a JSON array on one line, or a table.
@MainActor
private struct ListPrinter {
  private let shell: Shell
  private let columns: Columns
  private let ids: Bool
  private var table: TextTable
  private var isFirst = true

  init(shell: Shell, columns: Columns, ids: Bool) {
    self.shell = shell
    self.columns = columns
    self.ids = ids
    table = TextTable(
      ["ID"] + (columns.hasKinds ? ["ENTITY"] : []) + columns.names.map { $0.uppercased() })
  }

  mutating func print(_ images: [ObjectImage]) async throws {
    guard !images.isEmpty else { return }
    if ids {
      return print(images.map { JSON.string($0.id.description) }, lines: images.map(\.id.description))
    }
    var members = Members()
    for (number, owners) in Dictionary(grouping: images, by: \.id.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = shell.model.entity(number) else { continue }
      for property in columns.unstored(of: entity) {
        members[property.number, default: [:]].merge(
          try await shell.members(of: property, owners: owners.map(\.id))
        ) { $1 }
      }
    }
    guard shell.output.json else {
      for image in images { table.append(cells(image, members)) }
      return shell.output.print(table.take())
    }
    let objects = images.map { ObjectJSON.object($0, shell.model, only: columns.chosen, members: members) }
    print(objects, lines: [])
  }

  private mutating func print(_ items: [JSON], lines: [String]) {
    guard shell.output.json else { return shell.output.print(lines.joined(separator: "\n")) }
    shell.output.print((isFirst ? "[" : ",") + items.map(\.text).joined(separator: ","), terminator: "")
    isFirst = false
  }

  func end() {
    if shell.output.json { shell.output.print(isFirst ? "[]" : "]") }
  }

  private func cells(_ image: ObjectImage, _ members: Members) -> [String] {
    let entity = shell.model.entity(image.id.entity)
    let kind = columns.hasKinds ? [entity?.name ?? ""] : []
    return [String(image.id.description.prefix(8))] + kind
      + columns.names.map { name in
        guard let property = entity?.property(named: name) else { return "" }
        if property.slot == nil { return ValueText.cell(.objects(members[property.number]?[image.id] ?? []), property) }
        return ValueText.cell(image[property], property)
      }
  }
}

/// Values on one line, for a person.
enum ValueText {
  static func cell(_ value: Value, _ property: Property) -> String {
    switch value {
    case .null: ""
    case .string(let text) where property.attribute?.kind != .json: TextTable.firstLine(text)
    case .data(let bytes): Output.count(bytes.count, "byte")
    case .object(let id): String(id.description.prefix(8))
    case .objects(let ids): ids.map { String($0.description.prefix(8)) }.joined(separator: " ")
    default:
      TextTable.firstLine(
        value.json(kind: property.attribute?.kind).stringValue ?? value.json(kind: property.attribute?.kind).text)
    }
  }
}

extension ObjectJSON {
  /// An object with some of its properties, and with to-manys that are stored elsewhere.
  /// - Parameter only: nil for all that is stored and whatever `members` has.
  static func object(_ image: ObjectImage, _ model: Model, only names: [String]?, members: Members) -> JSON {
    guard names != nil || !members.isEmpty else { return object(image, model) }
    guard let entity = model.entity(image.id.entity) else { return .null }
    var json = [
      JSON.Member("id", .string(image.id.description)), JSON.Member("entity", .string(entity.name)),
      JSON.Member("revision", .integer(image.revision)),
    ]
    let properties =
      names?.compactMap { entity.property(named: $0) }
      ?? entity.properties.filter { $0.slot != nil || members[$0.number] != nil }
    for property in properties {
      if property.slot != nil {
        json.append(.init(property.name, image[property].json(kind: property.attribute?.kind)))
      } else {
        let ids = members[property.number]?[image.id] ?? []
        json.append(.init(property.name, .array(ids.map { .string($0.description) })))
      }
    }
    return .object(json)
  }
}
