import GraphModel

/// Prints a model file for people: a part on one line where it fits, otherwise a line for each of its members.
enum ModelFileText {
  private static let width = 120

  static func text(_ json: JSON) -> String { lines(json, indent: 0, reserved: 0) + "\n" }

  /// - Parameter reserved: the characters before the value on its line, and the comma after it.
  private static func lines(_ json: JSON, indent: Int, reserved: Int) -> String {
    let compact = line(json)
    // A list of entities always has its own lines.
    if indent > 0, indent + reserved + compact.count <= width { return compact }
    let blanks = String(repeating: " ", count: indent + 2)
    let end = String(repeating: " ", count: indent)
    switch json {
    case .object(let members) where !members.isEmpty:
      let parts = members.map { member in
        let name = JSON.string(member.name).text + ": "
        return blanks + name + lines(member.value, indent: indent + 2, reserved: name.count + 1)
      }
      return "{\n\(parts.joined(separator: ",\n"))\n\(end)}"
    case .array(let items) where !items.isEmpty:
      let parts = items.map { blanks + lines($0, indent: indent + 2, reserved: 1) }
      return "[\n\(parts.joined(separator: ",\n"))\n\(end)]"
    default: return compact
    }
  }

  private static func line(_ json: JSON) -> String {
    switch json {
    case .object(let members):
      "{\(members.map { "\(JSON.string($0.name).text): \(line($0.value))" }.joined(separator: ", "))}"
    case .array(let items): "[\(items.map(line).joined(separator: ", "))]"
    default: json.text
    }
  }
}
