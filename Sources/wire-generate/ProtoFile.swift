/// A schema file of protobuf: the part of the language that graph.proto uses.
///
/// Messages have fields, at most one level of `oneof`, and no messages inside. A field is singular, `optional` or
/// `repeated`. Enumerations begin with 0.
struct ProtoFile {
  struct Field {
    var name: String
    var type: String
    var number: Int
    var isRepeated: Bool
    /// Whether an absent field is distinguished from zero.
    var isOptional: Bool
    /// The name of the oneof that the field belongs to.
    var choice: String?
    var line: Int
  }

  struct Message {
    var name: String
    var line: Int
    /// In the order of their numbers, in which they are encoded.
    var fields: [Field]

    /// The names of the oneofs.
    var choices: [String] {
      var names = [String]()
      for case let name? in fields.map(\.choice) where !names.contains(name) { names.append(name) }
      return names
    }
  }

  struct Enumeration {
    var name: String
    /// The cases, in the order of their numbers, from 0.
    var cases: [String]
  }

  let path: String
  var messages = [Message]()
  var enumerations = [Enumeration]()

  func message(_ name: String) -> Message? { messages.first { $0.name == name } }
}

/// A mistake in one of the two source files, in the form in which compilers report it.
struct SourceError: Error, CustomStringConvertible {
  var path: String
  var line: Int
  var message: String

  var description: String { "\(path):\(line): error: \(message)" }
}
