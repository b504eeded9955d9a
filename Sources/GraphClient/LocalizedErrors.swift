// Tests: GraphErrorTests.swift
import GraphModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// `localizedDescription`, which alerts of front ends show, is the sentence of an error.

extension GraphError: LocalizedError {
  /// The sentence of the kind.
  public var errorDescription: String? { description }
}

extension ConnectFailure: LocalizedError {
  /// The address and the cause.
  public var errorDescription: String? { description }
}

extension SecurityFailure: LocalizedError {
  /// The failure and the advice.
  public var errorDescription: String? { message }
}

extension Refusal: LocalizedError {
  /// The server's sentence.
  public var errorDescription: String? { message }
}
