// Tests: LiveSequenceTests.swift
import GraphControllers
import GraphReplica

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ResultsDifference {
  /// The commit's date; nil for a first or reloaded result.
  public var date: Date? { time == 0 ? nil : Date(microseconds: time) }
}
