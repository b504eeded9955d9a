import CommandLineIO
import ArgumentParser
import GraphClient
import GraphJSON
import GraphModel

struct GraphFetch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "List the objects of an entity and of the entities that inherit from it.",
    discussion: "If --limit ends the list, standard error shows the cursor with which --after continues it.")

  @OptionGroup var options: CommonOptions
  @Argument(help: "The entity; leave it out with --template.")
  var entity: String?
  @OptionGroup var template: TemplateOptions
  @OptionGroup var selection: SelectionOptions
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Continue after the page with this cursor; \"\" is the first page.", valueName: "cursor"))
  var after: String?
  @Flag(help: "Print only the number of objects, or of rows with --distinct or --group-by.")
  var count = false
  @Flag(help: "Print only the ids.")
  var ids = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      """
      The properties to print, separated by commas. A to-many that the daemon finds through its inverse is printed only \
      if it is named here. Expressions such as 'name, department.name, salary * 12 AS yearly' print rows instead of objects.
      """, valueName: "list"))
  var properties: String?
  @Flag(help: "Print equal rows once.")
  var distinct = false
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Print one row for each group of equal values; --properties can have @count, @sum.NAME, @avg.NAME, @min.NAME and "
        + "@max.NAME.", valueName: "list"))
  var groupBy: String?
  @OptionGroup var past: PastOption
  @Flag(help: "Print how the daemon finds the result, instead of the result.")
  var explain = false

  func validate() throws {
    if entity == nil, template.name == nil {
      throw ValidationError("name an entity, or a fetch request with --template")
    }
    if count, ids { throw ValidationError("--count and --ids exclude each other") }
    if ids, properties != nil || distinct || groupBy != nil {
      throw ValidationError("--ids prints ids alone: leave out --properties, --distinct and --group-by")
    }
    if count, properties != nil, !distinct, groupBy == nil {
      throw ValidationError(
        "--count counts objects: leave out --properties, or use --distinct to count the different rows")
    }
    if distinct, properties == nil, groupBy == nil { throw ValidationError("--distinct requires --properties") }
    if after != nil, distinct || groupBy != nil {
      throw ValidationError(Self.pagesOfRows)
    }
    if after != nil, count { throw ValidationError("--count counts all that match: leave out --after") }
    if after != nil, selection.offset > 0 {
      throw ValidationError("--after continues after a cursor; leave out --offset")
    }
  }

  private static let pagesOfRows =
    "groups and distinct rows have no cursor: leave out --after, and page them with --limit and --offset"

  /// The limit of the fetch: options can only narrow a fetch request of the model.
  private func limit(within asked: FetchRequest?) -> Int? {
    guard let most = asked?.limit else { return selection.limit.number }
    let left = most - min(most, selection.offset)
    return min(selection.limit.number ?? left, left)
  }

  @MainActor
  func run() async throws {
    try await options.withGraph { shell in
      let shell = try await past.shell(shell)
      let named = try entity.map { try shell.known($0) }
      let asked = try template.request(in: shell.model, of: named)
      guard let number = named?.number ?? asked?.entity else {
        preconditionFailure("the options have an entity or a template")
      }
      let entity = shell.model.ownEntity(number)
      let predicate = GraphPredicate.all(
        [asked?.predicate ?? .always, try shell.predicate(selection.condition, on: entity)])
      let sort =
        if selection.sort.isEmpty, let asked { asked.sort.text(in: shell.model) } else { selection.sort }
      var fetch = shell.client.wireFetch(
        entity, predicate, [], limit(within: asked), selection.offset, try cursor(), at: shell.revision)
      let rows = try rows(of: entity, sort, in: shell.model)
      // Aggregates without a group make a single row.
      if after != nil, rows?.isGrouped == true { throw Refusal(.malformed, Self.pagesOfRows) }
      if rows?.hasRowPerObject != false { _ = try shell.order(sort, of: entity) }
      fetch.sort = sort
      if rows != nil {
        fetch.result = .rows
        (fetch.properties, fetch.groupBy, fetch.distinct) = (columnText, groups, distinct)
      } else if count || ids {
        fetch.result = count ? .count : .identifiers
      }
      let columns = rows == nil ? try PrintedColumns(properties, of: entity, in: shell.model) : nil
      if explain {
        shell.output.show(try await shell.client.explain(fetch))
      } else if count {
        let found =
          rows == nil
          ? try await shell.client.readableCount(fetch)
          : (count: try await Self.number(of: shell.client.rows(fetch)), damage: DamageNotice())
        shell.output.json
          ? shell.output.print(JSON.object([.init("count", .integer(Int64(found.count)))]))
          : shell.output.print("\(found.count)")
        try IncompleteResult.check(found.damage, shell.model)
      } else if let columns {
        var printer = ListPrinter(shell: shell, columns: columns, ids: ids, isPage: after != nil)
        let objects = shell.client.stream(fetch)
        objects.omitsDamage = true
        for try await chunk in objects { try await printer.print(chunk) }
        printer.end(objects.next)
        try IncompleteResult.check(objects.damage, shell.model)
        if objects.count == 0, !shell.output.json { StandardError.write("no \(entity.name) matches") }
      } else {
        let stream = shell.client.rows(fetch)
        var printer = RowPrinter(shell: shell, isPage: after != nil)
        for try await chunk in stream { try printer.print(chunk) }
        printer.end(stream.next)
        if printer.isEmpty, !shell.output.json { StandardError.write("no \(entity.name) matches") }
      }
    }
  }

  /// Counts rows as they arrive: the daemon counts objects, but not groups or distinct rows.
  @MainActor
  private static func number(of rows: RowStream) async throws -> Int {
    var number = 0
    for try await chunk in rows { number += chunk.count }
    return number
  }

  /// Groups without properties are counted.
  private var columnText: String { if let properties { properties } else { "\(groups), @count" } }

  /// The text of `--group-by`; empty without it.
  private var groups: String { if let groupBy { groupBy } else { "" } }

  /// The cursor; nil for the first page.
  private func cursor() throws -> FetchCursor? {
    guard let after, !after.isEmpty else { return nil }
    guard let bytes = Base64.bytes(after) else {
      throw Refusal(.malformed, "--after takes the complete cursor of an earlier page")
    }
    return try FetchCursor(bytes: bytes)
  }

  /// The request for rows; nil if objects are printed, as for a list of plain properties.
  private func rows(of entity: Entity, _ sort: String, in model: Model) throws -> RowRequest? {
    let known = model.family(of: entity).flatMap(\.properties).map(\.name)
    func isName(_ item: Substring) -> Bool {
      let words = item.split(whereSeparator: \.isWhitespace)
      guard words.count == 1 else { return false }
      return known.contains(String(words[0])) || words[0].allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
    let isPlain = if let properties { properties.split(separator: ",").allSatisfy(isName) } else { true }
    guard groupBy != nil || distinct || !isPlain else { return nil }
    return try RowRequest(
      parsing: columnText, distinct: distinct, groups: groups, order: sort,
      entity: entity, model: model)
  }
}

/// The printed properties of each object, by name. Subentities have properties that their parent does not have.
struct PrintedColumns {
  /// The properties of the option; nil without it.
  let chosen: [String]?
  /// The columns of a table.
  let names: [String]
  /// Whether objects of several entities can be in the result.
  let hasKinds: Bool
  private let model: Model

  init(_ list: String?, of entity: Entity, in model: Model) throws {
    self.model = model
    let family = model.family(of: entity)
    hasKinds = family.count { !$0.isAbstract } > 1
    guard let list else {
      chosen = nil
      // As many as fit beside the id, of the types that fit into a cell.
      let room = TextTable.terminalWidth
      let most = room == .max ? 6 : max(2, min(6, (room - 12) / 16))
      let simple = entity.attributes.filter { $0.slot != nil && ![.data, .json].contains($0.attribute?.kind) }
      names = simple.prefix(most).map(\.name)
      return
    }
    let properties = family.flatMap(\.properties)
    let known = properties.filter { $0.slot != nil || $0.attribute == nil }.map(\.name)
    var chosen = [String]()
    for part in list.split(separator: ",") {
      let name = String(part.filter { !$0.isWhitespace })
      if let property = properties.first(where: { $0.name == name }), property.slot == nil, property.attribute != nil {
        throw Refusal(.malformed, "\(entity.name).\(name) is transient: it is not stored")
      }
      guard known.contains(name) || ["id", "entity", "revision"].contains(name) else {
        throw Refusal(.malformed, Suggestion.sentence(forProperty: name, of: entity, among: known))
      }
      if !chosen.contains(name) { chosen.append(name) }
    }
    self.chosen = chosen
    names = chosen.filter { !["id", "entity", "revision"].contains($0) }
  }

  /// The chosen to-many relationships of the entity that are stored at their other end.
  func unstored(of entity: Entity) -> [Property] {
    guard let chosen else { return [] }
    return chosen.compactMap { entity.property(named: $0) }.filter { $0.slot == nil }
  }
}
