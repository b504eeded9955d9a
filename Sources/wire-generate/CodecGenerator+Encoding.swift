extension CodecGenerator {
  /// The statements of `encode(to:)`.
  func encoding(_ message: ProtoFile.Message, _ mapped: SwiftMapping.Message) throws(SourceError) -> [String] {
    var lines = [String]()
    let parts = try parts(of: message, mapped)
    for part in parts {
      switch part {
      case .choice(let choice): lines += try encoding(choice, empty: mapped.empty)
      case .field(let field):
        if field.options.part != nil { continue }
        guard let flagged = field.options.flags else {
          lines += encoding(field, to: "writer", column: 4)
          continue
        }
        let elements = self.elements(of: flagged, in: parts)
        if elements.isEmpty {
          lines.append("writer.field(\(field.field.number), \(flagged) != nil)")
        } else {
          lines.append("if let \(flagged) {")
          lines.append("  writer.field(\(field.field.number), true)")
          for element in elements {
            var element = element
            element.property = "\(flagged).\(element.property)"
            element.cardinality = .plain
            lines += SwiftCode.indented(encoding(element, to: "writer", column: 6))
          }
          lines.append("}")
        }
      }
    }
    return lines
  }

  /// The fields that are elements of an optional tuple.
  func elements(of property: String, in parts: [Part]) -> [FieldCode] {
    parts.compactMap { part in
      guard case .field(let field) = part, field.options.part == property else { return nil }
      return field
    }
  }

  /// The statements that write one field.
  /// - Parameters:
  ///   - writer: the name of the writer.
  ///   - column: the indentation that is added later.
  func encoding(_ field: FieldCode, to writer: String, column: Int) -> [String] {
    func call(_ value: String, always: Bool) -> String {
      let argument = field.argument.replacing("$", with: value)
      let addition = always && field.omitsZero ? ", always: true" : ""
      return "\(writer).\(field.writes)(\(field.field.number), \(argument)\(addition))"
    }
    let property = field.property
    var lines: [String]
    switch field.cardinality {
    case .plain, .required: lines = [call(property, always: false)]
    case .optional:
      lines = SwiftCode.block("if let \(property)", [call(property, always: field.field.isOptional)], column: column)
    case .list:
      lines =
        field.options.isWrittenTogether
        ? ["\(writer).fields(\(field.field.number), \(property))"]
        : SwiftCode.block("for element in \(property)", [call("element", always: true)], column: column)
    }
    if let condition = field.options.condition { lines = SwiftCode.block("if \(condition)", lines, column: column) }
    return lines
  }

  /// The switch that writes the case of a oneof.
  private func encoding(_ choice: ChoiceCode, empty: String?) throws(SourceError) -> [String] {
    var lines = ["switch \(choice.property) {"]
    if choice.isSelf, let empty { lines.append("case \(empty): break") }
    for field in choice.fields {
      let number = field.field.number
      guard case .payload? = field.role, let payload = codec.proto.message(field.field.type) else {
        var value = field
        (value.property, value.cardinality) = ("value", .plain)
        var statement = encoding(value, to: "writer", column: 4)[0]
        if field.omitsZero { statement = statement.dropLast() + ", always: true)" }
        lines += SwiftCode.label("case .\(field.property)(let value)", [statement], column: 4)
        continue
      }
      let fields = try fields(of: payload)
      if fields.isEmpty {
        lines.append("case .\(field.property): writer.message(\(number)) { _ in }")
        continue
      }
      let pattern = fields.map { "let \($0.property)" }.joined(separator: ", ")
      let body = fields.flatMap { encoding($0, to: "$0", column: 8) }
      lines += SwiftCode.label(
        "case .\(field.property)(\(pattern))", SwiftCode.block("writer.message(\(number))", body, column: 6), column: 4)
    }
    return lines + ["}"]
  }
}
