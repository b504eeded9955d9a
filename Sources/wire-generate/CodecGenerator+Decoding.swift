extension CodecGenerator {
  /// The statements of `init(from:)`.
  func decoding(_ message: ProtoFile.Message, _ mapped: SwiftMapping.Message) throws(SourceError) -> [String] {
    let parts = try parts(of: message, mapped)
    var lines = [String]()
    if let start = mapped.start { lines.append("self.init(\(start))") }
    lines += parts.flatMap { beginning(of: $0, among: parts, hasStart: mapped.start != nil) }
    lines += ["while let (number, field) = try reader.next() {", "  switch number {"]
    var cases = [(number: Int, lines: [String])]()
    for part in parts {
      switch part {
      case .field(let field):
        let label = SwiftCode.label(
          "case \(field.field.number)", decoding(field, into: target(of: field)), column: 6)
        cases.append((field.field.number, label))
      case .choice(let choice): cases += choice.fields.map { ($0.field.number, decodingCase($0, of: choice)) }
      }
    }
    for item in cases.sorted(by: { $0.number < $1.number }) { lines += SwiftCode.indented(item.lines) }
    let unknown = mapped.unknown.map { "throw MalformedMessage(\"\($0)\")" } ?? "break"
    lines += ["  default: \(unknown)", "  }", "}"]
    lines += parts.flatMap { ending(of: $0, among: parts) }
    if mapped.isVerified { lines.append("try verify()") }
    return lines
  }

  /// The variable or property that a field of a type is read into.
  private func target(of field: FieldCode) -> String {
    let isLocal = field.options.required != nil || field.options.flags != nil || field.options.part != nil
    return isLocal ? field.property : "self.\(field.property)"
  }

  /// The declaration of a variable, or the initial value of a property.
  private func beginning(of part: Part, among parts: [Part], hasStart: Bool) -> [String] {
    switch part {
    case .choice(let choice):
      if choice.required != nil { return ["var \(local(of: choice)): \(choice.type)?"] }
      guard let zero = choice.zero else { return [] }
      return ["\(choice.property) = \(zero)"]
    case .field(let field):
      if let flagged = field.options.flags {
        let isTuple = !elements(of: flagged, in: parts).isEmpty && !hasStart
        return (isTuple ? ["\(flagged) = nil"] : []) + ["var \(field.property) = false"]
      }
      if field.options.part != nil || field.options.required != nil { return [declaration(of: field)] }
      return hasStart ? [] : ["\(field.property) = \(field.initial ?? "nil")"]
    }
  }

  private func declaration(of field: FieldCode) -> String {
    let head = "var \(field.property): \(field.type)"
    guard let initial = field.initial, initial != "nil" else { return head }
    return "\(head) = \(initial)"
  }

  private func local(of choice: ChoiceCode) -> String { choice.isSelf ? "result" : choice.property }

  /// The statements after the last field: errors for missing fields, and properties that depend on several fields.
  private func ending(of part: Part, among parts: [Part]) -> [String] {
    switch part {
    case .choice(let choice):
      guard let error = choice.required else { return [] }
      let name = local(of: choice)
      let property = choice.isSelf ? "self" : "self.\(choice.property)"
      return SwiftCode.check("let \(name)", orThrow: error, column: 4) + ["\(property) = \(name)"]
    case .field(let field):
      if let flagged = field.options.flags {
        let elements = self.elements(of: flagged, in: parts)
        if elements.isEmpty { return ["if !\(field.property) { self.\(flagged) = nil }"] }
        let values = elements.map(\.property).joined(separator: ", ")
        return ["if \(field.property) {"]
          + SwiftCode.indented(elements.flatMap { missing($0, column: 6) } + ["self.\(flagged) = (\(values))"]) + ["}"]
      }
      if field.options.part != nil { return [] }
      guard field.options.required != nil else { return excess(field, "self.\(field.property)") }
      return missing(field, column: 4) + ["self.\(field.property) = \(field.property)"]
    }
  }

  private func missing(_ field: FieldCode, column: Int) -> [String] {
    guard let error = field.options.required else { return [] }
    return SwiftCode.check("let \(field.property)", orThrow: error, column: column)
  }

  private func excess(_ field: FieldCode, _ name: String) -> [String] {
    guard let limit = field.options.limit else { return [] }
    return SwiftCode.check("\(name).count <= \(limit.maximum)", orThrow: limit.error, column: 4)
  }

  /// The statements that read one field.
  func decoding(_ field: FieldCode, into target: String) -> [String] {
    if case .list = field.cardinality { return ["\(target).append(\(field.reads))"] }
    guard let also = field.options.also else { return ["\(target) = \(field.reads)"] }
    return [
      "let value: \(field.swift) = \(field.reads)", "\(target) = value", "self.\(also.property) = value.\(also.value)",
    ]
  }

  private func decodingCase(_ field: FieldCode, of choice: ChoiceCode) -> [String] {
    let target = choice.required != nil ? local(of: choice) : choice.isSelf ? "self" : "self.\(choice.property)"
    guard case .payload? = field.role, let payload = codec.proto.message(field.field.type) else {
      return SwiftCode.label(
        "case \(field.field.number)", ["\(target) = .\(field.property)(\(field.reads))"], column: 6)
    }
    let body =
      payload.fields.isEmpty
      ? ["try field.skipMessage()", "\(target) = .\(field.property)"]
      : ["\(target) = try Self.\(field.property)(field)"]
    return SwiftCode.label("case \(field.field.number)", body, column: 6)
  }

  /// The function that reads the values of a case.
  func payloadDecoder(
    _ field: FieldCode, _ payload: ProtoFile.Message, _ choice: ChoiceCode
  ) throws(SourceError) -> [String] {
    let fields = try fields(of: payload)
    var lines = fields.map(declaration)
    lines += ["var reader = try field.reader()", "while let (number, field) = try reader.next() {"]
    if fields.count == 1 {
      let head = "if number == \(fields[0].field.number)"
      lines += SwiftCode.indented(SwiftCode.block(head, decoding(fields[0], into: fields[0].property), column: 6))
    } else {
      lines.append("  switch number {")
      for field in fields {
        let body = decoding(field, into: field.property)
        lines += SwiftCode.indented(SwiftCode.label("case \(field.field.number)", body, column: 6))
      }
      lines += ["  default: break", "  }"]
    }
    lines.append("}")
    for field in fields { lines += excess(field, field.property) + missing(field, column: 4) }
    let values = fields.map { $0.options.isUnlabeled ? $0.property : "\($0.property): \($0.property)" }
    lines.append("return .\(field.property)(\(values.joined(separator: ", ")))")
    let head = "private static func \(field.property)(_ field: BinaryReader.Field) throws(MalformedMessage)"
    return ["/// `message \(payload.name)`", "\(head) -> \(choice.type) {"] + SwiftCode.indented(lines) + ["}"]
  }
}
