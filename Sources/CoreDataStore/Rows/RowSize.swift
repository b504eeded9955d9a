import GraphModel

/// The size of a row's object. A value that does not fit is left out; without a required value the row is not taken.
enum RowSize {
  /// The maximum size of an object in bytes, with all its values.
  static let maximum = ObjectImage.maximumSize
  /// The bytes that an object has beside the contents of texts and data, at most, without those of each property.
  private static let reserved = 4_096
  private static let reservedPerProperty = 32

  /// The reason why a value is left out.
  /// - Parameter bytes: its size, as in `20971520` or `more than 67108864`.
  static func reason(_ bytes: String, file: String? = nil) -> String {
    let place: String = if let file { " in the external file \(file)" } else { "" }
    return "its \(bytes) bytes\(place) do not fit into an object, which has at most \(maximum) with all its values"
  }

  /// Leaves out the largest optional values of a row until the others fit.
  /// - Throws: `UnreadableRow` if the required ones alone do not fit.
  static func fit(_ row: inout SourceRow) throws(SourceReader.UnreadableRow) {
    let overhead = reserved + row.entity.properties.count * reservedPerProperty
    var size = row.fields.reduce(overhead) { $0 + bytes($1.content) }
    while size > maximum {
      let candidates = row.fields.indices.filter {
        row.fields[$0].property.isOptional && bytes(row.fields[$0].content) > 0
      }
      guard let largest = candidates.max(by: { bytes(row.fields[$0].content) < bytes(row.fields[$1].content) }) else {
        throw SourceReader.UnreadableRow(
          reason: "its required values have about \(size) bytes; an object has at most \(maximum)")
      }
      let field = row.fields.remove(at: largest)
      size -= bytes(field.content)
      row.problems.append(
        SourceRow.Problem(property: field.property, reason: reason(String(bytes(field.content)))))
    }
  }

  /// The size of a text or of data; 0 for anything else.
  static func bytes(_ content: SourceRow.Content) -> Int {
    switch content {
    case .value(.data(let bytes)): bytes.count
    case .value(.string(let text)): text.utf8.count
    default: 0
    }
  }
}
