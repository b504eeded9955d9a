// Tests: CopiedReplicaTests.swift
import GraphModel
import GraphWire

/// The recovery of a copied replica: it sends again the transactions that were sent before, then takes a new id and
/// reconnects.
extension Replica {
  /// Requests a new id from the owner when all transactions that were sent under the old one are answered.
  mutating func requestNewID(_ actions: inout [ReplicaAction]) {
    if case .live = state, !pending.contains(where: \.wasSent) {
      identity.requestID()
      actions.append(.copied)
    }
  }

  /// Takes the new id. The next connection's hello names it.
  mutating func renew(_ id: UniqueID, _ actions: inout [ReplicaAction]) {
    // If the connection was lost meanwhile, the next welcome shows the copy again.
    if case .awaitingID = identity.phase {
      identity.renew(id)
      actions.append(.disconnect(Self.copied))
    }
  }

  /// Sends a batch or an import of the owner.
  mutating func sendBatch(_ body: ToServer.Body, as request: RequestID, _ actions: inout [ReplicaAction]) {
    switch body {
    case .batch(var batch):
      identity.recordSent(batch: batch.id, as: request)
      batch.id = identity.wireID(ofBatch: batch.id)
      send(.batch(batch), for: .batch(request), &actions)
    case .importGraph(var graph):
      identity.recordSent(batch: graph.id, as: request)
      graph.id = identity.wireID(ofBatch: graph.id)
      send(.importGraph(graph), for: .batch(request), &actions)
    default: preconditionFailure("only a batch or an import is sent as one: \(body)")
    }
  }

  static let copied = Refusal(
    .unavailable,
    "another client has used the id of this one, which was copied or restored: it connects again under a new id")
}

extension ToServer.Body {
  /// The transaction id of a batch or an import, or of rows for one; nil for other messages.
  var batchID: TransactionID? {
    switch self {
    case .batch(let batch): batch.id
    case .importGraph(let graph): graph.id
    case .batchRows(let rows): rows.id
    default: nil
    }
  }
}
