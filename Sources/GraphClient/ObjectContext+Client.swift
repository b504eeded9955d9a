// Tests: ContextCallTests.swift
import GraphReplica

extension ObjectContext {
  /// The client of the context, of a child of it, or of its past; nil once the client has been released, and in a
  /// context that no client has made.
  public var client: GraphClient? {
    switch owner {
    case let client as GraphClient: client
    case let past as PastGraph: past.client
    default: nil
    }
  }
}
