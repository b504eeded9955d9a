/// The Swift side of a schema, from the mapping file. It lists the exceptions from the rule that a message is a type
/// with its name, and a field a property with its name.
struct SwiftMapping {
  /// The form of a message in Swift.
  enum Role {
    /// A type that conforms to `BinaryCodable`; the generator writes the conformance.
    case type
    /// The values of an enumeration's case.
    case payload
    /// A message around one value. The value's functions of `BinaryWriter` and `BinaryReader.Field` have this name.
    case wrapper(String)
    /// A type whose conformance is written by hand.
    case handwritten
  }

  /// A named pair of functions of `BinaryWriter` and `BinaryReader.Field`, written by hand.
  struct Form {
    var proto: String
    var swift: String
    var zero: String
    var line: Int
  }

  struct Field {
    var line: Int
    /// The property, or a path to it.
    var property: String?
    /// Whether a case's value has no label.
    var isUnlabeled = false
    /// The name of a form.
    var form: String?
    /// The type of a oneof.
    var type: String?
    /// The error if the field is absent.
    var required: String?
    /// Whether the message is always written, and an absent one is read as the empty value.
    var isPresent = false
    /// The initial value.
    var zero: String?
    /// A condition for writing the field.
    var condition: String?
    /// The optional property that the field says to be present.
    var flags: String?
    /// The optional tuple that the field is an element of.
    var part: String?
    /// Another property to set, and the key path to its value.
    var also: (property: String, value: String)?
    /// The most elements, and the error for more.
    var limit: (maximum: String, error: String)?
    /// The error for a number of more than 32 bits. It is checked after the message is read.
    var narrow: String?
    /// A function that the value passes before it is used.
    var filter: String?
    /// Whether one call writes all elements.
    var isWrittenTogether = false
  }

  struct Message {
    var name: String
    var line: Int
    var role: Role
    var type: String
    /// The output file, relative to Sources; nil above the first line of a file.
    var file: String?
    /// The arguments of the initializer that makes an empty value.
    var start: String?
    /// The expression of an empty value.
    var empty: String?
    /// The error for an unknown field.
    var unknown: String?
    /// Whether a method `verify` checks the decoded value.
    var isVerified = false
    var fields = [String: Field]()
  }

  let path: String
  var forms = [String: Form]()
  var messages = [Message]()
  /// The first line of each output file, in their order.
  var files = [(path: String, summary: String)]()

  func message(_ name: String) -> Message? { messages.first { $0.name == name } }
}
