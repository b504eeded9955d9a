// Tests: LiveSequenceTests.swift
import FoundationEssentials
import GraphControllers
import GraphReplica

extension ResultsDifference {
  /// The commit's date; nil for a first or reloaded result.
  public var date: Date? { time == 0 ? nil : Date(microseconds: time) }
}
