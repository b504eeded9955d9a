// Tests: OlderServerTests.swift
import GraphWire

/// The features of the server of the last welcome.
struct ServerFeatures {
  private(set) var knowsUndoSteps = false
  private(set) var knowsBatches = false
  private(set) var knowsWindows = false
  private(set) var knowsPreconditions = false

  /// The features of an unknown server: none.
  init() {}

  init(_ welcome: Welcome) {
    (knowsUndoSteps, knowsBatches) = (welcome.knowsUndoSteps, welcome.knowsBatches)
    (knowsWindows, knowsPreconditions) = (welcome.knowsWindows, welcome.knowsPreconditions)
  }
}
