// Tests: GraphErrorTests.swift
import GraphModel

extension Value {
  /// The value as a text for people, such as both sides of a conflict: a string as it is, a date in the format of RFC
  /// 3339, an object as its id. Empty for null.
  public var text: String {
    switch self {
    case .null: return ""
    case .string(let value): return value
    default:
      if case .string(let text) = json(kind: nil) { return text }
      return json(kind: nil).text
    }
  }
}
