import GraphJSON
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
  /// The first line, until its row is returned.
  private var first: InputLine?

  /// Reads the first line to determine the properties; nil if there is none.
  init?(_ reader: LineReader, _ entity: Entity) async throws {
    guard let first = try await reader.next() else { return nil }
    self.reader = reader
    self.entity = entity
    self.first = first
    properties = try first.reporting(done: Self.nothingDone) { () throws(InvalidInputError) in
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
    let read = if let first { first } else { try await reader.next() }
    first = nil
    guard let line = read else { return nil }
    numbers.append(Int32(clamping: line.number))
    return try line.reporting(done: Self.nothingDone) { () throws(InvalidInputError) in try row(line) }
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
      let edit = try input.edit { name, destination throws(InvalidInputError) in
        guard case .text(let text) = name, let key = UniqueID(text) else {
          throw InvalidInputError("\(property.name) takes a complete id with --one-commit")
        }
        return ObjectID(key: key, entity: destination)
      }
      guard case .set(let value) = edit.action else {
        preconditionFailure("the edit of a new object sets a value: \(property.name)")
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

  private static let nothingDone = "nothing is committed"
}
