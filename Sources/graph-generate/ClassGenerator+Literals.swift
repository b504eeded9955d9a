import GraphModel

/// What of a model must be written as Swift: names, values and texts.
extension ClassGenerator {
  /// The name of a property in Swift: with `_` behind it where every managed object has something of its name.
  func name(of property: Property) -> String { name(property.name) }

  func name(_ name: String) -> String {
    let taken = [
      "context", "isInserted", "isDeleted", "hasChanges", "value", "setValue", "objects", "add", "remove", "insert",
      "move", "observe", "self", "Self", "Type", "Protocol", "init", "entityName",
    ]
    return taken.contains(name) ? name + "_" : name
  }

  /// What the getter of a required attribute returns while there is no value: the model's default, else the type's own
  /// nothing.
  func fallback(_ attribute: Attribute) -> String {
    switch attribute.defaultValue {
    case .null, .object, .objects: break
    case .bool(let value): return "\(value)"
    case .integer(let value), .date(let value): return "\(value)"
    case .double(let value): return "\(value)"
    case .decimal(let value): return "DecimalValue(\(literal(value.description))) ?? 0"
    case .string(let value): return attribute.kind == .enumeration ? ".`\(value)`" : literal(value)
    case .uuid(let value): return "UniqueID(high: \(value.high), low: \(value.low))"
    case .data(let value): return "[\(value.map { "\($0)" }.joined(separator: ", "))]"
    }
    return switch attribute.kind {
    case .bool: "false"
    case .integer, .double, .decimal, .date: "0"
    case .uuid: ".zero"
    case .data: "[]"
    case .string, .text, .uri, .json: "\"\""
    case .enumeration: ".`\(attribute.cases.first ?? "")`"
    }
  }

  /// For the documentation of an attribute; nil when there is no default that says anything.
  func defaultComment(_ attribute: Attribute) -> String? {
    guard !attribute.defaultValue.isNull, attribute.defaultValue != .string("") else { return nil }
    let text = attribute.defaultValue.json(kind: attribute.kind).text
    guard text.utf8.count <= 60, !text.contains("`") else { return nil }
    return "By default `\(text)`."
  }

  /// A string literal of one line.
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

  /// A string literal of many lines, raw: with more `#` than anything in the text that could end it.
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
