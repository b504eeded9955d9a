import Foundation
import GraphAccess
import GraphModel
import GraphWire

/// A daemon with accounts, and the file in which it keeps them.
struct TeamDaemon {
  let daemon: Daemon
  let data: String
  /// The hash of the daemon's key; empty without encryption.
  let pin: String
  private let file: AccessFile

  /// - Parameter encrypts: whether TCP is encrypted, with a certificate of the daemon's own.
  init(_ bench: Bench, encrypts: Bool = false) throws {
    data = bench.place("data")
    try FileManager.default.createDirectory(
      atPath: data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    file = try AccessFile.create(directory: data)
    if encrypts {
      let names = ["certificate", "--data", data, "--name", "localhost", "--name", "127.0.0.1"]
      try ServerProcess(bench.daemon, names, readsOutput: false).wait()
      pin = try ServerProcess(bench.daemon, ["certificate", "--data", data, "--show"]).line()
    } else {
      pin = ""
    }
    daemon = try Daemon(bench, data: data, encrypts: encrypts)
  }

  /// Another opened file of the accounts, as another administrator has it.
  func otherFile() throws -> AccessFile { try AccessFile.create(directory: data) }

  private static var time: Timestamp { Timestamp(Date().timeIntervalSince1970 * 1e6) }

  private static func random() -> UInt64 { .random(in: 0...(.max)) }

  /// Adds a user with a token.
  /// - Parameter boards: the roles of the user on boards.
  func addUser(_ name: String, role: Role? = nil, on boards: [ObjectID: Role] = [:]) throws -> AccessToken {
    _ = try file.addUser(name, role: role, now: Self.time, random: Self.random)
    for (board, role) in boards { _ = try file.grant(role, to: name, on: board.key, now: Self.time) }
    return try file.createToken(of: name, label: "", expires: nil, now: Self.time, random: Self.random)
  }

  func revoke(_ token: AccessToken) throws { _ = try file.revokeToken(token.selector, now: Self.time) }

  static func grant(_ role: Role, to name: String, on board: ObjectID, in file: AccessFile) throws {
    _ = try file.grant(role, to: name, on: board.key, now: time)
  }

  func client(_ token: AccessToken) throws -> WireClient {
    try WireClient(daemon.tcp, credential: token.secretText)
  }

  func stop() { daemon.stop() }
}
