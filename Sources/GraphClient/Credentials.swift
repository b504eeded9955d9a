// Tests: CredentialsTests.swift
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The source of the token with which a client logs in. The client reads it before each connection, so that the next
/// connection uses a token that was replaced.
public enum Credentials: Sendable {
  /// The client sends no token.
  case none
  /// A token.
  case token(String)
  /// A file that contains a token, and that no other user can read.
  case file(path: String)
  /// A function that returns a token, or an empty text for none.
  case provider(@Sendable () async throws -> String)

  /// The largest file, in bytes.
  static let maximumSize = 4_096

  /// The token; empty for none.
  /// - Throws: `Refusal` if the file can't be used, and any error of the provider.
  @concurrent func current() async throws -> String {
    switch self {
    case .none: ""
    case .token(let token): token
    case .file(let path): try Self.token(inFile: path)
    case .provider(let provide): try await provide()
    }
  }

  /// Reads a token from a file.
  private static func token(inFile path: String) throws(Refusal) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw refusal("can't be read (\(String(cString: strerror(errno))))", path) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw refusal("is not a regular file", path)
    }
    guard status.st_mode & 0o077 == 0 else {
      throw refusal("can be read by other users: run chmod 600 on it, and replace the token", path)
    }
    var bytes = [UInt8](repeating: 0, count: maximumSize + 1)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw refusal("can't be read (\(String(cString: strerror(errno))))", path) }
    guard count <= maximumSize, let text = String(validating: bytes.prefix(count), as: UTF8.self) else {
      throw refusal("contains no token", path)
    }
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1, let word = words.first else { throw refusal("contains no token", path) }
    return String(word)
  }

  private static func refusal(_ reason: String, _ path: String) -> Refusal {
    Refusal(.notAllowed, "the file with the token, \(path), \(reason)")
  }
}
