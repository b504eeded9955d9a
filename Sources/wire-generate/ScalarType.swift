/// A scalar type of protobuf, and the calls of `BinaryWriter` and `BinaryReader.Field` for it.
struct ScalarType {
  /// The Swift type of a value.
  var swift: String
  /// The value of an absent field.
  var zero: String
  /// The writer's function.
  var writes = "field"
  /// The argument for a value, with `$` for the value.
  var argument = "$"
  /// The expression that reads a field.
  var reads: String

  static let all: [String: ScalarType] = [
    "uint64": ScalarType(swift: "UInt64", zero: "0", reads: "try field.unsigned()"),
    "uint32": ScalarType(swift: "UInt32", zero: "0", argument: "UInt64($)", reads: "try field.uint32()"),
    "int64": ScalarType(swift: "Int64", zero: "0", reads: "try field.integer()"),
    "sint64": ScalarType(swift: "Int64", zero: "0", writes: "signed", reads: "try field.zigzag()"),
    "fixed64": ScalarType(swift: "UInt64", zero: "0", writes: "fixed", reads: "try field.fixed64()"),
    "double": ScalarType(
      swift: "Double", zero: "0", writes: "fixed", argument: "$.bitPattern",
      reads: "Double(bitPattern: try field.fixed64())"),
    "bool": ScalarType(swift: "Bool", zero: "false", reads: "try field.bool()"),
    "string": ScalarType(swift: "String", zero: "\"\"", reads: "try field.string()"),
    "bytes": ScalarType(swift: "[UInt8]", zero: "[]", reads: "try field.array()"),
  ]

  /// The names, for messages.
  static var names: String { all.keys.sorted().joined(separator: ", ") }
}
