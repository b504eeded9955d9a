// Tests: KnownServersTests.swift
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

/// The file in which a user's clients remember encrypted servers. Each line has a host, a port, and the hash of the
/// server's key, or the word `authority` for a server that an authority vouches for. The last line of a host and port
/// counts, so lines are only appended.
///
/// Only its owner may write the file, because a line decides which server is trusted.
public struct KnownServers: Hashable, Sendable {
  /// The path of the file; its directory is created when needed.
  public let path: String

  /// A larger file is refused.
  static let maximumSize = 1 << 20

  /// The servers in a file, which need not exist yet.
  public init(path: String) { self.path = path }

  /// The way in which a server was verified at its last connection.
  enum Entry: Hashable {
    case authority
    case key(PublicKeyHash)

    var text: String {
      switch self {
      case .authority: "authority"
      case .key(let hash): "\(hash)"
      }
    }
  }

  /// A problem of the file, with advice.
  struct FileError: Error, CustomStringConvertible { let description: String }

  /// The entry of a server; nil if it is not known.
  /// - Throws: `FileError` if the file can't be trusted.
  func entry(host: String, port: Int) throws(FileError) -> Entry? {
    try lines().last { $0.host == host.lowercased() && $0.port == port }?.entry
  }

  /// Whether a host was encrypted before, at any port.
  func hasUsedEncryption(host: String) throws(FileError) -> Bool {
    try lines().contains { $0.host == host.lowercased() }
  }

  private struct Line {
    let host: String
    let port: Int
    let entry: Entry
  }

  private func lines() throws(FileError) -> [Line] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return [] }
      throw FileError(description: "the file of known servers \(path) can't be read (\(Self.systemError))")
    }
    defer { close(descriptor) }
    try checkOwner(descriptor)
    var bytes = [UInt8]()
    while bytes.count <= Self.maximumSize {
      let part = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
        count = max(0, read(descriptor, buffer.baseAddress, buffer.count))
      }
      if part.isEmpty { break }
      bytes += part
    }
    guard bytes.count <= Self.maximumSize else {
      throw FileError(description: "the file of known servers \(path) is larger than \(Self.maximumSize) bytes")
    }
    let texts = String(decoding: bytes, as: UTF8.self)
      .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var lines = [Line]()
    for (index, text) in texts.enumerated() where !text.isEmpty && !text.hasPrefix("#") {
      guard let line = Self.line(text) else {
        throw FileError(
          description: "line \(index + 1) of the file of known servers \(path) is not a host, a port, and the hash "
            + "of a key or the word authority; correct or remove the line")
      }
      lines.append(line)
    }
    return lines
  }

  private static func line(_ text: Substring) -> Line? {
    let words = text.split(separator: " ")
    guard words.count == 3, let port = Int(words[1]) else { return nil }
    let entry: Entry
    if words[2] == "authority" {
      entry = .authority
    } else if let hash = try? PublicKeyHash(parsing: String(words[2])) {
      entry = .key(hash)
    } else {
      return nil
    }
    return Line(host: words[0].lowercased(), port: port, entry: entry)
  }

  /// Another user who can write the file decides which servers are trusted.
  private func checkOwner(_ descriptor: Int32) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw FileError(description: "the file of known servers \(path) is not a regular file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else {
      throw FileError(
        description: "other users may write the file of known servers \(path); check its lines, then protect it with: "
          + "chmod 600 \(path)")
    }
  }

  /// Appends a line, unless the entry is there.
  /// - Throws: `FileError` if the file can't be written.
  func record(_ entry: Entry, host: String, port: Int) throws(FileError) {
    if try self.entry(host: host, port: port) == entry { return }
    let directory = path.split(separator: "/").dropLast()
    var parent = path.hasPrefix("/") ? "" : "."
    for part in directory {
      parent += "/" + part
      // A directory that is missing and can't be created is an error of the following open.
      mkdir(parent, 0o700)
    }
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw FileError(description: "the file of known servers \(path) can't be written (\(Self.systemError))")
    }
    defer { close(descriptor) }
    try checkOwner(descriptor)
    // Writes the line with one system call, so that lines of two programs do not mix. A line that a full disk has cut
    // ends here.
    let line = Array("\(host.lowercased()) \(port) \(entry.text)\n".utf8)
    guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
      throw FileError(description: "the file of known servers \(path) can't be written (\(Self.systemError))")
    }
  }

  private static var systemError: String { String(cString: strerror(errno)) }
}
