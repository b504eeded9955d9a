// Tests: ContentsTests.swift
import GraphModel
import GraphReplicaStore
import GraphStore

/// The part of the graph that a copy has.
extension OfflineReplica {
  /// A choice of the objects in a copy.
  public enum Contents: Sendable, Equatable {
    /// Everything that the user sees.
    case everything
    /// The objects in the scopes of these containers, and those that belong to no scope or to all. Objects that the
    /// user makes without the server are in it, too.
    case scopes([ObjectID])

    /// The scopes of a mirror.
    /// - Throws: `Refusal(.malformed)` for an object that is no container of a scope, or without any.
    func kept(of model: Model) throws -> KeptScopes? {
      guard case .scopes(let containers) = self else { return nil }
      if containers.isEmpty { throw Refusal(.malformed, "a copy of some scopes names at least one") }
      for id in containers {
        guard let entity = model.entity(id.entity), entity.scope == .container else {
          throw Refusal(.malformed, "\(id) is no container of a scope")
        }
      }
      return KeptScopes(Set(containers.map(\.key)))
    }
  }
}
