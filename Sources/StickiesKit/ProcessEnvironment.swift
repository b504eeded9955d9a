import FoundationEssentials
import GraphModel
import GraphWire

#if canImport(Glibc)
  import Glibc
#endif

/// What the environment says: where data and sockets are, and who the user is.
public struct ProcessEnvironment: Sendable {
  private let variables: [String: String]
  let account: Account

  /// Variables other than the process's own, and another account, for tests.
  public init(variables: [String: String], account: Account = .current) {
    (self.variables, self.account) = (variables, account)
  }

  /// The process's own, as they are now.
  public static var current: ProcessEnvironment {
    ProcessEnvironment(variables: ProcessInfo.processInfo.environment)
  }

  subscript(name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The variables whose names begin with `prefix` and that are not empty.
  public func variables(prefix: String) -> [String: String] {
    variables.filter { $0.key.hasPrefix(prefix) && !$0.value.isEmpty }
  }

  /// The folder that a variable of the XDG specification names, else one in the home directory. The specification wants
  /// relative paths ignored.
  private func folder(_ variable: String, inHome fallback: String) -> String {
    if let folder = self[variable], folder.hasPrefix("/") { return folder }
    let home = self["HOME"] ?? account.home ?? "/"
    return home + "/" + fallback
  }

  /// `$XDG_STATE_HOME/stickies`: what is nobody's store and shall not get lost all the same.
  public var stateDirectory: String { folder("XDG_STATE_HOME", inHome: ".local/state") + "/stickies" }

  /// `$XDG_DATA_HOME/stickies`.
  public var dataDirectory: String { folder("XDG_DATA_HOME", inHome: ".local/share") + "/stickies" }

  /// `$XDG_CONFIG_HOME/stickies/stickiesd.json`, where the daemon's options may stand.
  public var configurationFile: String { folder("XDG_CONFIG_HOME", inHome: ".config") + "/stickies/stickiesd.json" }

  /// `STICKIES_SERVER`, when it is set.
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

  /// `STICKIES_AUTHOR`, else user@host.
  public var author: String {
    if let author = self["STICKIES_AUTHOR"] { return author }
    let user = self["USER"] ?? self["LOGNAME"] ?? "user\(getuid())"
    return "\(user)@\(ProcessInfo.processInfo.hostName)"
  }

  /// Whether `NO_COLOR` is set to anything.
  public var wantsNoColor: Bool { self["NO_COLOR"] != nil }
}
