// Tests: GraphClientTests.swift

// Callers of GraphClient use objects, predicates and addresses, and the operators of typed predicates are found only
// where their module is imported. With these exports one import is enough for a client.
@_exported import GraphModel
@_exported import GraphReplica
@_exported import GraphWire
