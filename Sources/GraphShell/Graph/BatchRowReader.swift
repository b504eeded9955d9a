import GraphModel

/// Reads lines of JSON as the rows of one batch. All lines have the members of the first one, and only the number of
/// each line is retained.
@MainActor
final class BatchRowReader {
  let properties: [Property]
  /// The line number of each row.
  private(set) var numbers = [Int32]()
  private let entity: Entity
  private let reader: LineReader
  private let names: Set<ByteKey>
  private var lines: ArraySlice<InputLine>

  /// The number of lines that are read at a time.
  private static let linesAtOnce = 1_000

  /// Reads the first lines to determine the properties; nil if there are no lines.
  init?(_ reader: LineReader, _ entity: Entity) async throws {
    let lines = try await reader.lines(atMost: Self.linesAtOnce)
    guard let first = lines.first else { return nil }
    self.reader = reader
    self.entity = entity
    self.lines = lines[...]
    properties = try Self.mistake(at: first) { () throws(InvalidInputError) in
      var properties = [Property]()
      for member in try Self.members(of: first) {
        properties.append(try PropertyInput.property(member.name, of: entity))
      }
      return properties
    }
    names = Set(properties.map { ByteKey($0.name) })
  }

  /// The next row; nil at the end.
  func next() async throws -> [Value]? {
    if lines.isEmpty { lines = try await reader.lines(atMost: Self.linesAtOnce)[...] }
    guard let line = lines.popFirst() else { return nil }
    numbers.append(Int32(clamping: line.number))
    return try Self.mistake(at: line) { () throws(InvalidInputError) in try row(line) }
  }

  private func row(_ line: InputLine) throws(InvalidInputError) -> [Value] {
    let members = try Self.members(of: line)
    let values = Dictionary(members.map { (ByteKey($0.name), $0.value) }, uniquingKeysWith: { $1 })
    guard values.count == names.count, names.allSatisfy({ values[$0] != nil }) else {
      throw InvalidInputError(
        "--one-commit needs the same members in all lines: \(names.sorted().map(\.text).joined(separator: ", "))"
      )
    }
    var row = [Value]()
    row.reserveCapacity(properties.count)
    for property in properties {
      let input = try PropertyInput(property, values[property.name] ?? .null, entity: entity)
      let edit = try input.edit { name throws(InvalidInputError) in
        guard case .text(let text) = name, let key = UniqueID(text) else {
          throw InvalidInputError("\(property.name) takes a complete id with --one-commit")
        }
        return ObjectID(key: key, entity: property.relationship?.destination ?? 0)
      }
      guard case .set(let value) = edit.action else {
        throw InvalidInputError("\(property.name) takes a complete value")
      }
      row.append(value)
    }
    return row
  }

  private static func members(of line: InputLine) throws(InvalidInputError) -> [JSON.Member] {
    let members = try line.members()
    if let label = members.first(where: { $0.name.hasPrefix("$") }) {
      throw InvalidInputError("\(label.name) can't be used with --one-commit")
    }
    return members
  }

  private static func mistake<Result>(at line: InputLine, _ body: () throws(InvalidInputError) -> Result) throws
    -> Result
  {
    do throws(InvalidInputError) {
      return try body()
    } catch {
      throw InvalidLinesError(
        mistakes: [LinePlanner.Mistake(line: line.number, reason: error.description)], done: "nothing is committed")
    }
  }
}
