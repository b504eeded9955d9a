/// An element of an XML document, with the places of its parts.
struct XMLElement {
  struct Attribute {
    var name, value: String
    var place: SourcePlace
  }

  var name: String
  /// The place of its `<`.
  var place: SourcePlace
  var attributes = [Attribute]()
  var children = [XMLElement]()
  /// The character data between the children, in one piece.
  var text = ""
}

/// A place in a file.
public struct SourcePlace: Sendable, Hashable, Comparable {
  /// The line, from 1.
  public let line: Int
  /// The column in bytes, from 1.
  public let column: Int

  /// The beginning of a file.
  static let start = SourcePlace(line: 1, column: 1)

  public static func < (left: SourcePlace, right: SourcePlace) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// A document that is not well-formed XML, or beyond the limits.
struct XMLError: Error {
  let place: SourcePlace
  let reason: String
}
