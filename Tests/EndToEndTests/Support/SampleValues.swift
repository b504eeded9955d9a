import Foundation
import GraphModel
import GraphTesting
import Testing

/// A model with one attribute of every type and a relationship of either kind, and values of every kind to try on them.
enum SampleValues {
  static let source = """
    {"format": 1, "name": "Specimens", "version": 1,
     "enumerations": [{"name": "Level", "cases": ["low", "high"]}],
     "entities": [
       {"name": "Specimen",
        "attributes": [
          {"name": "flag", "type": "bool", "optional": true},
          {"name": "count", "type": "integer", "optional": true},
          {"name": "size", "type": "double", "optional": true},
          {"name": "price", "type": "decimal", "optional": true},
          {"name": "name", "type": "string", "optional": true},
          {"name": "story", "type": "text", "optional": true},
          {"name": "page", "type": "uri", "optional": true},
          {"name": "level", "type": "enumeration", "enumeration": "Level", "optional": true},
          {"name": "extra", "type": "json", "optional": true},
          {"name": "found", "type": "date", "optional": true},
          {"name": "badge", "type": "uuid", "optional": true},
          {"name": "photo", "type": "data", "optional": true}],
        "relationships": [
          {"name": "shelf", "destination": "Shelf", "inverse": "specimens"},
          {"name": "labels", "destination": "Label", "inverse": "specimens", "toMany": true}]},
       {"name": "Shelf", "attributes": [{"name": "place", "type": "string", "optional": true}],
        "relationships": [{"name": "specimens", "destination": "Specimen", "inverse": "shelf", "toMany": true}]},
       {"name": "Label", "attributes": [{"name": "word", "type": "string", "optional": true}],
        "relationships": [{"name": "specimens", "destination": "Specimen", "inverse": "labels", "toMany": true}]}]}
    """

  /// The values that each attribute accepts, by the table in docs/protocol.md, which is repeated here.
  static let takes: [(attribute: String, kinds: Set<String>)] = [
    ("flag", ["bool"]), ("count", ["integer"]), ("size", ["double", "integer"]), ("price", ["decimal"]),
    ("name", ["string"]), ("story", ["string"]), ("page", ["string"]), ("level", ["string"]), ("extra", ["string"]),
    ("found", ["date"]), ("badge", ["uuid"]), ("photo", ["data"]),
  ]

  /// A value of every kind there is; the ids are of a shelf and of a label that exist.
  static func values(shelf: ObjectID, label: ObjectID) throws -> [(kind: String, value: Value)] {
    [
      ("bool", .bool(true)), ("integer", .integer(5)), ("double", .double(1.5)),
      ("decimal", .decimal(try #require(DecimalValue("12.5")))), ("string", .string("low")), ("date", .date(0)),
      ("uuid", .uuid(UniqueID(high: 1, low: 2))), ("data", .data([1, 2])), ("object", .object(shelf)),
      ("objects", .objects([label])),
    ]
  }

  /// A specimen with every property set, as it is stored.
  static func whole(shelf: ObjectID, label: ObjectID) throws -> [(String, Value)] {
    [
      ("flag", .bool(false)), ("count", .integer(.min)), ("size", .double(-0.1)),
      ("price", .decimal(try #require(DecimalValue("-12345678901234567890.123456789012345678")))),
      ("name", .string("a\u{0}b")), ("story", .string("")), ("page", .string("https://example.org/a?b#c")),
      ("level", .string("high")), ("extra", .string(#"{"a":[1,null,true]}"#)), ("found", .date(-1)),
      ("badge", .uuid(UniqueID(high: .max, low: .max))), ("photo", .data([0, 255])), ("shelf", .object(shelf)),
      ("labels", .objects([label])),
    ]
  }

  /// Values of the right kind that are invalid anyway.
  static let misshapen: [(attribute: String, value: Value)] = [
    ("size", .double(.nan)), ("size", .double(.signalingNaN)), ("size", .double(.infinity)),
    ("size", .double(-.infinity)), ("level", .string("middle")), ("level", .string("")), ("page", .string("no scheme")),
    ("page", .string("https://a b")), ("extra", .string("{broken")), ("extra", .string("")), ("extra", .string("NaN")),
    ("extra", .string("null")), ("found", .date(.max)), ("found", .date(.min)),
  ]

  /// A folder to start a daemon with.
  static func schema() throws -> TemporaryDirectory {
    let folder = try TemporaryDirectory()
    try source.write(toFile: folder.path + "/1.json", atomically: true, encoding: .utf8)
    return folder
  }
}
