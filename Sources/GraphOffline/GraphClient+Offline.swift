// Tests: OfflineClientTests.swift
import Foundation
import GraphClient
import GraphModel
import GraphReplica
import GraphReplicaStore
import GraphWire

/// Whether and where a client keeps a copy of what it sees, to work without its server.
public enum OfflineMode: Sendable {
  /// In a folder that only this user can read, with a folder in it for each server, store and user.
  case kept(at: URL)

  /// The replica of a server.
  func replica(of address: ServerAddress) -> OfflineReplica {
    switch self {
    case .kept(let folder):
      let name = "\(address)".utf8.map { byte -> String in
        let isPlain = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        return isPlain ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
      }
      return OfflineReplica(in: folder.path, name: name.joined())
    }
  }
}

extension GraphClient {
  /// Connects to a server, or, if it can't be reached, to this computer's copy of what the user may see there.
  ///
  /// With the server, the client first sends the edits that wait and receives what others have committed. Without the
  /// server, a save is an edit that waits, and is on disk when the call returns. `isOffline` says which case applies.
  /// - Parameters:
  ///   - offline: where the copy is kept.
  ///   - actor: the actor that the client belongs to: the caller's.
  /// - Throws: `ConnectFailure` if there is neither a server nor a copy, `StoreFailure` if the copy can't be opened,
  ///   `SecurityFailure` or the server's `Refusal`.
  public static func connect(
    to address: ServerAddress, model: Model, classes: [ManagedObject.Type] = [], options: Options,
    offline: OfflineMode, actor: isolated any Actor = #isolation
  ) async throws -> GraphClient {
    let replica = offline.replica(of: address)
    let client: GraphClient
    do {
      client = try await connect(to: address, model: model, classes: classes, options: options)
    } catch let failure as ConnectFailure {
      guard replica.exists else { throw failure }
      return try await replica.open(model: model, classes: classes, options: options)
    }
    do {
      _ = try await replica.turnOn { id in
        // Captured, so that the closure runs on the actor of the client.
        _ = actor
        var kept = options
        kept.keptReplica = id
        kept.reconnects = false
        return try await connect(to: address, model: model, classes: classes, options: kept, actor: actor)
      }
      return client
    } catch {
      await client.close()
      throw error
    }
  }

  /// Whether the client works on this computer's copy, and its saves wait for the server.
  public var isOffline: Bool { unsentAfter != nil }
}

extension OfflineReplica {
  /// The replica of a server that `GraphClient.connect` keeps.
  public init(of address: ServerAddress, _ mode: OfflineMode) { self = mode.replica(of: address) }

  /// Whether sync is on, and the number of edits that wait.
  public struct Status: Sendable, Equatable {
    /// Whether edits are sent and received when the server can be reached.
    public var isOn: Bool
    /// The number of edits that were not sent.
    public var unsent: Int
    /// The number of edits that the server has refused.
    public var parked: Int
  }

  /// The state of the replica; nil without one.
  /// - Throws: `StoreFailure` if its file can't be read.
  public func status() throws -> Status? {
    guard let unsent = try unsentFile() else { return nil }
    defer { unsent.close() }
    let counts = try unsent.counts()
    return Status(isOn: try unsent.replica.state != .off, unsent: counts.unsent, parked: counts.parked)
  }

  /// An edit that the server has refused, with both values of each conflict.
  public struct ParkedEdit: Sendable, Equatable {
    /// The number of the edit, for `retry` and `discard`.
    public var number: Int64
    /// The user who made it.
    public var author: String
    /// When it was made, by the clock of that computer.
    public var made: Timestamp
    /// The reason, for people.
    public var message: String
    /// The conflicts, with the other values, their authors and revisions.
    public var conflicts: [Conflict]
    /// The rules that the edit breaks.
    public var violations: [Violation]
  }

  /// The edits that the server has refused, oldest first.
  /// - Throws: `Refusal(.notFound)` without a replica, `StoreFailure` if its file can't be read.
  public func conflicts(of model: Model) throws -> [ParkedEdit] {
    let unsent = try openUnsent()
    defer { unsent.close() }
    return try unsent.entries(IntentForm(model), .parked).compactMap { entry in
      guard let intent = entry.intent, case .parked(let parking) = intent.state else { return nil }
      return ParkedEdit(
        number: entry.number, author: intent.author, made: intent.made, message: parking.message,
        conflicts: parking.conflicts, violations: parking.violations)
    }
  }
}
