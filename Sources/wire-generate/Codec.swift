/// A schema and its mapping, checked against each other.
struct Codec {
  let proto: ProtoFile
  let mapping: SwiftMapping

  init(proto: ProtoFile, mapping: SwiftMapping) throws(SourceError) {
    self.proto = proto
    self.mapping = mapping
    for message in proto.messages {
      guard let mapped = mapping.message(message.name) else {
        throw SourceError(
          path: proto.path, line: message.line,
          message: "\(mapping.path) has no line for \(message.name); add \"message \(message.name)\" under a file")
      }
      try check(message, mapped)
    }
    for mapped in mapping.messages where proto.message(mapped.name) == nil {
      throw sourceError("\(proto.path) has no message \(mapped.name); remove this line", at: mapped.line)
    }
  }

  /// The mapping of a message; every message has one.
  func mapped(_ message: ProtoFile.Message) -> SwiftMapping.Message {
    guard let mapped = mapping.message(message.name) else { preconditionFailure("\(message.name) was not checked") }
    return mapped
  }

  private func check(_ message: ProtoFile.Message, _ mapped: SwiftMapping.Message) throws(SourceError) {
    let names = Set(message.fields.map(\.name)).union(message.choices)
    for (name, options) in mapped.fields where !names.contains(name) {
      throw sourceError("\(message.name) has no field \(name); remove this line", at: options.line)
    }
    switch mapped.role {
    case .handwritten: return
    case .wrapper:
      guard message.fields.count == 1, message.choices.isEmpty else {
        throw sourceError("\(message.name) must have one field to be a wrapper", at: mapped.line)
      }
    case .payload:
      guard message.choices.isEmpty else { throw sourceError("a payload cannot have a oneof", at: mapped.line) }
    case .type: break
    }
    guard mapped.file != nil else { throw sourceError("a \"file\" line must come before this one", at: mapped.line) }
    for field in message.fields { _ = try code(of: field, in: mapped) }
    for choice in message.choices { _ = try choiceCode(choice, in: message, mapped) }
  }

  func sourceError(_ message: String, at line: Int) -> SourceError {
    SourceError(path: mapping.path, line: line, message: message)
  }
}

/// The Swift code of a field.
struct FieldCode {
  /// The number of occurrences of a field, and how Swift represents an absent one.
  enum Cardinality {
    /// One value; zero, or its equivalent, if the field is absent.
    case plain
    /// Nil if the field is absent.
    case optional
    /// An error if the field is absent.
    case required(error: String)
    /// Any number of elements.
    case list
  }

  var field: ProtoFile.Field
  var options: SwiftMapping.Field
  /// The property, or the name of the case.
  var property: String
  /// The type of a single value.
  var swift: String
  /// The value of an absent field.
  var zero: String?
  /// The writer's function.
  var writes = "field"
  /// The argument for a value, with `$` for the value.
  var argument = "$"
  /// The expression that reads a value.
  var reads: String
  /// Whether the writer's function omits zeros without the argument `always`.
  var omitsZero = false
  /// The role of the field's message, if its type is one.
  var role: SwiftMapping.Role?
  var cardinality = Cardinality.plain

  /// The type of the property or variable.
  var type: String {
    switch cardinality {
    case .plain: swift
    case .optional, .required: swift.hasSuffix("?") ? swift : swift + "?"
    case .list: "[\(swift)]"
    }
  }

  /// The value of the property or variable before anything is read.
  var initial: String? {
    switch cardinality {
    case .plain: options.zero ?? zero
    case .optional, .required: "nil"
    case .list: "[]"
    }
  }
}

/// The Swift code of a oneof.
struct ChoiceCode {
  /// The property; `self` if the message's type is the enumeration.
  var property: String
  /// The enumeration.
  var type: String
  var required: String?
  /// The value of an absent oneof.
  var zero: String?
  var fields: [FieldCode]

  var isSelf: Bool { property == "self" }
}

extension Codec {
  func code(of field: ProtoFile.Field, in message: SwiftMapping.Message) throws(SourceError) -> FieldCode {
    let options = message.fields[field.name] ?? SwiftMapping.Field(line: message.line)
    var code = try value(of: field, options)
    if field.isRepeated {
      code.cardinality = .list
    } else if let error = options.required {
      code.cardinality = .required(error: error)
    } else if field.choice == nil, field.isOptional || (code.role != nil && !options.isPresent) {
      code.cardinality = .optional
    }
    guard field.choice != nil || code.initial != nil || message.start != nil else {
      throw sourceError("the value of an absent \(field.name) is not defined; write zero and a value", at: options.line)
    }
    if case .payload? = code.role, field.choice == nil {
      throw sourceError("the type of \(field.name) is a payload, which only a oneof can have", at: options.line)
    }
    let isLocal = if case .type = message.role, options.required == nil { false } else { true }
    if isLocal, ["number", "field", "reader", "writer", "element"].contains(code.property) {
      throw sourceError("\(code.property) is a name of the generated code; write = and another", at: options.line)
    }
    return code
  }

  /// The code that writes and reads a single value of the field.
  private func value(of field: ProtoFile.Field, _ options: SwiftMapping.Field) throws(SourceError) -> FieldCode {
    var code = FieldCode(
      field: field, options: options, property: options.property ?? field.name.camelCased, swift: "", reads: "")
    if let name = options.form {
      guard let form = mapping.forms[name], form.proto == field.type else {
        throw sourceError("there is no form \(name) of \(field.type)", at: options.line)
      }
      (code.swift, code.zero, code.writes, code.reads) = (form.swift, form.zero, name, "try field.\(name)()")
    } else if let scalar = ScalarType.all[field.type] {
      (code.swift, code.zero, code.omitsZero) = (scalar.swift, scalar.zero, true)
      (code.writes, code.argument, code.reads) = (scalar.writes, scalar.argument, scalar.reads)
    } else if proto.enumerations.contains(where: { $0.name == field.type }) {
      (code.argument, code.reads, code.omitsZero) = ("UInt64($.rawValue)", "try field.choice()", true)
    } else if let message = mapping.message(field.type) {
      code.role = message.role
      (code.swift, code.zero, code.reads) = (message.type, message.empty, "try field.form()")
      if case .wrapper(let name) = message.role {
        (code.swift, code.writes, code.reads) = (try wrapped(message).type, name, "try field.\(name)()")
      }
    } else {
      throw sourceError("there is no line for the message \(field.type); add one", at: options.line)
    }
    return code
  }

  /// The only field of a wrapper.
  func wrapped(_ message: SwiftMapping.Message) throws(SourceError) -> FieldCode {
    guard let field = proto.message(message.name)?.fields.first else {
      throw sourceError("\(message.name) must have one field to be a wrapper", at: message.line)
    }
    return try code(of: field, in: message)
  }

  func choiceCode(
    _ name: String, in message: ProtoFile.Message, _ mapped: SwiftMapping.Message
  ) throws(SourceError) -> ChoiceCode {
    let options = mapped.fields[name] ?? SwiftMapping.Field(line: mapped.line)
    var choice = ChoiceCode(
      property: options.property ?? name.camelCased, type: options.type ?? "Self", required: options.required,
      zero: options.zero, fields: [])
    for field in message.fields where field.choice == name { choice.fields.append(try code(of: field, in: mapped)) }
    guard choice.required != nil || choice.zero != nil else {
      throw sourceError(
        "the value of an absent \(name) is not defined; write required and an error, or zero", at: options.line)
    }
    guard choice.isSelf || options.type != nil else {
      throw sourceError("the type of \(name) is missing; write type and a name, or = self", at: options.line)
    }
    return choice
  }
}

extension String {
  /// `whole_objects` is `wholeObjects` in Swift.
  var camelCased: String {
    split(separator: "_").reduce("") { $0.isEmpty ? String($1) : $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }
}
