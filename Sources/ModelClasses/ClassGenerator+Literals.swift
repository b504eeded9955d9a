import ModelFiles

/// Generates Swift names, values and string literals.
extension ClassGenerator {
  /// The Swift name of a property, with `_` appended if it collides with a member of `ManagedObject` or a keyword.
  func name(of property: Property) -> String { name(property.name) }

  func name(_ name: String) -> String {
    let taken = [
      "context", "isInserted", "isDeleted", "hasChanges", "value", "setValue", "objects", "add", "remove", "insert",
      "move", "observe", "self", "Self", "Type", "Protocol", "init", "entityName", "hashValue",
      "isFault", "isLoaded", "load", "loadedValue", "loadedObject",
    ]
    return taken.contains(name) ? name + "_" : name
  }

  /// The getter's result for a required attribute without a value: the model's default, or else the type's empty
  /// value.
  func fallback(_ attribute: Attribute) -> String {
    switch attribute.defaultValue {
    case .null, .object, .objects: break
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .date(let value): return "\(library("Date"))(microseconds: \(value))"
    case .double(let value): return "\(value)"
    case .decimal(let value):
      return "\(library("Decimal"))(\(library("DecimalValue"))(\(literal(value.description))) ?? 0)"
    case .string(let value):
      return switch attribute.kind {
      case .enumeration: ".`\(value)`"
      case .uri: "\(library("URL"))(string: \(literal(value)))"
      default: literal(value)
      }
    case .uuid(let value): return "\(library("UUID"))(\(library("UniqueID"))(high: \(value.high), low: \(value.low)))"
    case .data(let value):
      return "\(library("Data"))([\(value.map { "\($0)" }.joined(separator: ", "))] as [\(library("UInt8"))])"
    }
    switch attribute.kind {
    case .bool: return "false"
    case .integer, .double, .decimal: return "0"
    case .date: return "\(library("Date"))(microseconds: 0)"
    case .uuid: return "\(library("UUID"))(\(library("UniqueID")).zero)"
    case .data: return "\(library("Data"))()"
    case .uri: return "nil"
    case .string, .text, .json: return "\"\""
    case .enumeration:
      guard let first = attribute.cases.first else { preconditionFailure("an enumeration has a case") }
      return ".`\(first)`"
    }
  }

  /// The default for the attribute's documentation; nil if there is none, or if it is too long.
  func defaultComment(_ attribute: Attribute) -> String? {
    guard !attribute.defaultValue.isNull, attribute.defaultValue != .string("") else { return nil }
    let text = attribute.defaultValue.json(kind: attribute.kind).text
    guard text.utf8.count <= 60, !text.contains("`") else { return nil }
    return "By default `\(text)`."
  }

  /// A single-line string literal.
  func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case " "..."~": result.unicodeScalars.append(scalar)
      default: result += scalar.properties.isAlphabetic ? "\(scalar)" : "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return result + "\""
  }

  /// A raw multi-line string literal, with more `#` than any run of them in the text.
  func rawLiteral(_ text: String, indent: String) -> [String] {
    var (longest, run) = (0, 0)
    for byte in text.utf8 {
      run = byte == UInt8(ascii: "#") ? run + 1 : 0
      longest = max(longest, run)
    }
    let marks = String(repeating: "#", count: longest + 1)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { indent + $0 }
    return ["\(marks)\"\"\""] + lines + ["\(indent)\"\"\"\(marks)"]
  }
}
