/// A value of a row as SQLite stores it.
package enum StoreValue: Hashable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  /// The bytes of a text; SQLite does not check that they are UTF-8.
  case text([UInt8])
  case blob([UInt8])

  package var isNull: Bool { self == .null }

  /// The integer; nil for anything else.
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// The name of the type in messages.
  package var kind: String {
    switch self {
    case .null: "null"
    case .integer: "an integer"
    case .real: "a floating-point number"
    case .text: "a text"
    case .blob: "bytes"
    }
  }
}
