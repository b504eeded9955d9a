// Who imports GraphClient says objects, predicates and addresses; the operators of typed predicates are found only where
// their module is imported. One import is enough for a client.
@_exported import GraphModel
@_exported import GraphReplica
@_exported import GraphWire
