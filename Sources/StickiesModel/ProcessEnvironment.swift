import GraphModel
import GraphWire

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The settings in the environment: locations of data and sockets, and the user's name.
public struct ProcessEnvironment: Sendable {
  private let variables: [String: String]
  let account: UserAccount

  /// Creates an environment with other variables and another account, for tests.
  public init(variables: [String: String], account: UserAccount = .current) {
    (self.variables, self.account) = (variables, account)
  }

  /// The current environment of the process.
  public static var current: ProcessEnvironment {
    ProcessEnvironment(variables: ProcessInfo.processInfo.environment)
  }

  subscript(name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Returns the non-empty variables whose names begin with `prefix`.
  public func variables(prefix: String) -> [String: String] {
    variables.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty }
  }

  /// Returns the folder in a variable of the XDG specification, otherwise one in the home directory. The
  /// specification requires that relative paths be ignored.
  private func folder(_ variable: String, inHome fallback: String) -> String {
    if let folder = self[variable], folder.hasPrefix("/") { return folder }
    let home = self["HOME"] ?? account.home ?? "/"
    return home + "/" + fallback
  }

  /// `$XDG_STATE_HOME/stickies`, for data that belongs to no store and must not be lost.
  public var stateDirectory: String { folder("XDG_STATE_HOME", inHome: ".local/state") + "/stickies" }

  /// `$XDG_STATE_HOME/stickies/known-servers`, where clients remember encrypted servers.
  public var knownServersFile: String { stateDirectory + "/known-servers" }

  /// `$XDG_DATA_HOME/stickies`.
  public var dataDirectory: String { folder("XDG_DATA_HOME", inHome: ".local/share") + "/stickies" }

  /// `$XDG_CONFIG_HOME/stickies/stickiesd.json`, the file for the daemon's options.
  public var configurationFile: String { folder("XDG_CONFIG_HOME", inHome: ".config") + "/stickies/stickiesd.json" }

  /// The address in `STICKIES_SERVER`; nil if it is not set.
  public var server: ServerAddress? {
    get throws {
      guard let text = self["STICKIES_SERVER"] else { return nil }
      do {
        return try ServerAddress(parsing: text)
      } catch {
        throw Refusal(.malformed, "STICKIES_SERVER: \(error)")
      }
    }
  }

  /// `STICKIES_AUTHOR`, otherwise user@host.
  public var author: String {
    if let author = self["STICKIES_AUTHOR"] { return author }
    let user = self["USER"] ?? self["LOGNAME"] ?? "user\(getuid())"
    return "\(user)@\(ProcessInfo.processInfo.hostName)"
  }

  /// Whether `NO_COLOR` has a value.
  public var wantsNoColor: Bool { self["NO_COLOR"] != nil }
}
