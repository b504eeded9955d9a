import Foundation
import GraphModel
import GraphWire

/// What the environment says: where data and sockets are, and who the user is.
public struct ProcessEnvironment: Sendable {
  private let variables: [String: String]

  public init(variables: [String: String]) { self.variables = variables }

  public static var current: ProcessEnvironment {
    ProcessEnvironment(variables: ProcessInfo.processInfo.environment)
  }

  private subscript(name: String) -> String? {
    variables[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  private var home: String { self["HOME"] ?? NSHomeDirectory() }

  /// `$XDG_DATA_HOME/stickies`; the specification wants relative paths ignored.
  public var dataDirectory: String {
    let base = self["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
    return base + "/stickies"
  }

  /// The daemon's Unix-domain socket: under `$XDG_RUNTIME_DIR`, or beside the data where there is none.
  public var defaultSocket: ServerAddress {
    if let runtime = self["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") {
      return .unix(path: runtime + "/stickies/socket")
    }
    return .unix(path: dataDirectory + "/socket")
  }

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

  public var wantsNoColor: Bool { self["NO_COLOR"] != nil }
}
