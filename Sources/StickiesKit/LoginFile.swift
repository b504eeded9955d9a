import FoundationEssentials
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
  /// The path of the file.
  package let path: String
  private let folder: String

  /// The file for a server.
  package init(for address: ServerAddress, environment: ProcessEnvironment = .current) {
    folder = environment.stateDirectory + "/tokens"
    path = folder + "/" + Self.name(of: address)
  }

  /// Whether the user has logged in to the server.
  package var exists: Bool { access(path, F_OK) == 0 }

  /// The credentials for a connection to the server.
  package var credentials: Credentials { exists ? .file(path: path) : .none }

  /// Keeps a token, in place of an earlier one.
  /// - Throws: `Refusal` with the reason why it can't be kept.
  package func write(_ token: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let draft = path + ".new"
    unlink(draft)
    let descriptor = open(draft, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    let bytes = Array((token + "\n").utf8)
    let isWritten = writeBytes(bytes, to: descriptor) && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, rename(draft, path) == 0 else {
      let refusal = failure()
      unlink(draft)
      throw refusal
    }
  }

  /// Removes the token.
  /// - Returns: false if there was none.
  package func remove() throws -> Bool {
    if unlink(path) == 0 { return true }
    if errno == ENOENT { return false }
    throw failure()
  }

  private func failure() -> Refusal {
    Refusal(.unavailable, "\(path) can't be written: \(String(cString: strerror(errno)))")
  }

  /// The address with its punctuation as `%2F`.
  private static func name(of address: ServerAddress) -> String {
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

/// Writes all bytes to a descriptor. Outside of the type, which has a method of the system call's name.
private func writeBytes(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  write(descriptor, bytes, bytes.count) == bytes.count
}
