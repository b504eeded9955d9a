// Tests: GraphClientTests.swift

// Callers of GraphClient use objects, predicates and addresses, and the operators of typed predicates are found only
// where their module is imported. With these exports one import is enough for a client. Of GraphControllers, they
// include only the differences of live queries.
@_exported import struct GraphControllers.ResultsDifference
@_exported import enum GraphControllers.ResultsObjectChange
@_exported import struct GraphControllers.ResultsPosition
@_exported import enum GraphControllers.ResultsSectionChange
@_exported import GraphModel
@_exported import GraphReplica
@_exported import GraphWire
