import GraphClient
import GraphModel
import GraphWire
import StickiesModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file with the token for one server, `$XDG_STATE_HOME/stickies/tokens/ADDRESS`, which only its owner can read.
package struct LoginFile: Sendable {
  private let file: PrivateFile

  /// The file for a server.
  package init(for address: ServerAddress, environment: ProcessEnvironment = .current) {
    file = PrivateFile(path: environment.stateDirectory + "/tokens/" + Self.name(of: address))
  }

  /// The credentials for a connection to the server; none if the user has not logged in.
  package var credentials: Credentials { file.exists ? .file(path: file.path) : .none }

  /// Stores a token and replaces an earlier one.
  /// - Throws: `Refusal` with the reason why it can't be stored.
  package func write(_ token: String) throws(Refusal) {
    do {
      try file.write(token + "\n")
    } catch {
      throw Self.refusal(error.path, error.cause)
    }
  }

  /// Removes the token.
  /// - Returns: false if there was none.
  package func remove() throws(Refusal) -> Bool {
    if unlink(file.path) == 0 { return true }
    if errno == ENOENT { return false }
    throw Self.refusal(file.path, String(cString: strerror(errno)))
  }

  private static func refusal(_ path: String, _ cause: String) -> Refusal {
    Refusal(.unavailable, "\(path) can't be written: \(cause)")
  }

  /// The address with percent-encoded punctuation, such as `%2F`.
  package static func name(of address: ServerAddress) -> String {
    "\(address)".utf8.map { byte -> String in
      let isPlain =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.utf8.count == 1 ? "0" : "") + digits
    }.joined()
  }
}
