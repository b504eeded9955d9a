import CommandLineIO
import GraphClient
import GraphJSON
import GraphModel

/// A JSON array on one line, printed incrementally. A page is an object with the array and the cursor of the next
/// page.
@MainActor
struct PageOutput {
  let output: Output
  /// The array's name; nil to print the array alone.
  let name: String?
  private(set) var isEmpty = true

  init(output: Output, name: String?) {
    self.output = output
    self.name = name
  }

  private var start: String { if let name { "{\"\(name)\":[" } else { "[" } }

  mutating func append(_ items: [JSON]) {
    guard !items.isEmpty else { return }
    output.print((isEmpty ? start : ",") + items.map(\.text).joined(separator: ","), terminator: "")
    isEmpty = false
  }

  /// Ends the array, or shows the cursor to the user.
  /// - Parameter next: the cursor of the next page; nil for the last one.
  func end(_ next: FetchCursor?) {
    let cursor = next.map { Base64.text($0.bytes) }
    guard output.json else {
      if let cursor { StandardError.write("there are more: --after \(cursor)") }
      return
    }
    let tail = name == nil ? "]" : "],\"next\":\(cursor.map(JSON.string)?.text ?? "null")}"
    output.print((isEmpty ? start : "") + tail)
  }
}

/// Prints objects chunk by chunk: a JSON array on one line, or a table.
@MainActor
struct ListPrinter {
  private let shell: CommandContext
  private let columns: PrintedColumns
  private let ids: Bool
  private var table: TextTable
  private var list: PageOutput

  init(shell: CommandContext, columns: PrintedColumns, ids: Bool, isPage: Bool) {
    self.shell = shell
    self.columns = columns
    self.ids = ids
    list = PageOutput(output: shell.output, name: isPage ? (ids ? "ids" : "objects") : nil)
    table = TextTable(
      ["ID"] + (columns.hasKinds ? ["ENTITY"] : []) + columns.names.map { $0.uppercased() })
  }

  mutating func print(_ images: [ObjectImage]) async throws {
    guard !images.isEmpty else { return }
    if ids {
      return shell.output.json
        ? list.append(images.map { .string($0.id.description) })
        : shell.output.print(images.map(\.id.description).joined(separator: "\n"))
    }
    var members = ToManyMembers()
    for (number, owners) in Dictionary(grouping: images, by: \.id.entity).sorted(by: { $0.key < $1.key }) {
      guard let entity = shell.model.entity(number) else { continue }
      for property in columns.unstored(of: entity) {
        members.add(try await shell.members(of: property, owners: owners.map(\.id)), of: property)
      }
    }
    guard shell.output.json else {
      for image in images { table.append(cells(image, members)) }
      return shell.output.print(table.newRowsText())
    }
    list.append(images.map { ObjectJSON.object($0, shell.model, only: columns.chosen, members: members) })
  }

  func end(_ next: FetchCursor?) { list.end(next) }

  private func cells(_ image: ObjectImage, _ members: ToManyMembers) -> [String] {
    let entity = shell.model.entity(image.id.entity)
    let kind = columns.hasKinds ? [shell.model.entityName(image.id.entity)] : []
    return [String(image.id.description.prefix(8))] + kind
      + columns.names.map { name in
        guard let property = entity?.property(named: name) else { return "" }
        if property.slot == nil { return ValueText.cell(.objects(members.ids(of: property, in: image.id)), property) }
        return ValueText.cell(image[property], property)
      }
  }
}

/// Prints rows chunk by chunk: JSON objects, or a table.
@MainActor
struct RowPrinter {
  private let shell: CommandContext
  private var table: TextTable?
  private var list: PageOutput
  private(set) var isEmpty = true

  init(shell: CommandContext, isPage: Bool) {
    self.shell = shell
    list = PageOutput(output: shell.output, name: isPage ? "rows" : nil)
  }

  mutating func print(_ rows: [FetchedRow]) throws {
    guard let columns = rows.first?.columns else { return }
    guard !columns.isEmpty, rows.allSatisfy({ $0.values.count == columns.count }) else {
      throw Refusal(.unavailable, "the daemon sent rows that do not match their columns")
    }
    isEmpty = false
    guard shell.output.json else {
      var table = table ?? TextTable(columns.map { $0.name.uppercased() })
      for row in rows { table.append(zip(row.values, columns).map { ValueText.cell($0, $1.kind) }) }
      shell.output.print(table.newRowsText())
      self.table = table
      return
    }
    list.append(
      rows.map { row in
        .object(zip(columns, row.values).map { JSON.Member($0.name, $1.json(kind: $0.kind)) })
      })
  }

  func end(_ next: FetchCursor?) { list.end(next) }
}
