// Tests: DateExactnessTests.swift, TypedColumnTests.swift
import GraphModel
import GraphWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The dates of the interface. The store and the wire count microseconds since 1970, which `Date(microseconds:)` keeps
// exactly.

extension DateTime {
  /// The value of a column of typed rows.
  public typealias ColumnValue = Date

  /// The date of a column of typed rows.
  public static func columnValue(_ value: Value) -> Date? { Date(value) }
}

extension ObjectsDidChange {
  /// The commit's date; nil for a loaded result.
  public var date: Date? { time == 0 ? nil : Date(microseconds: time) }
}

extension CommitEntry {
  /// The commit's date.
  public var date: Date { Date(microseconds: time) }
}

extension ValueOrigin {
  /// The date of the commit that set the value.
  public var date: Date { Date(microseconds: time) }
}

extension RevisionAtTime {
  /// The commit's date; nil for revision 0, the empty graph.
  public var date: Date? { revision == 0 ? nil : Date(microseconds: time) }
}
