import Dispatch
import Foundation
import GraphModel
import GraphTesting
import Testing

/// A client that writes the bytes of requests itself, so that a test can send what no library sends.
final class RawHTTPClient: @unchecked Sendable {  // Used by one test at a time.
  struct Answer: CustomStringConvertible {
    let status: Int
    /// The values by their names in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    /// Null if the body is not JSON, so that an expectation about a member fails.
    var json: JSON { (try? JSON(parsing: body)) ?? .null }
    var description: String { "\(status) \(fields) \(text)" }
  }

  struct Closed: Error {}
  struct TimedOut: Error {}

  private let descriptor: Int32
  private var received = [UInt8]()
  private var isAtEnd = false

  init(port: Int) throws { descriptor = try PlainSocket.connect(to: .tcp(host: "127.0.0.1", port: port)) }

  func close() { Foundation.close(descriptor) }

  static func request(
    _ method: String, _ target: String, port: Int, _ fields: [String] = [], body: String? = nil
  ) -> String {
    var lines = ["\(method) \(target) HTTP/1.1"]
    if !fields.contains(where: { $0.lowercased().hasPrefix("host:") }) { lines.append("Host: 127.0.0.1:\(port)") }
    lines += fields
    if let body { lines.append("Content-Length: \(body.utf8.count)") }
    return lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
  }

  /// Sends bytes. Bytes that the server does not read are lost, because it has closed the connection.
  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, let count = PlainSocket.send(rest, to: descriptor) { rest = rest.dropFirst(count) }
  }

  /// Waits until the received bytes satisfy a condition.
  func wait(until isComplete: ([UInt8]) -> Bool) async throws {
    while !isComplete(received) {
      if isAtEnd { throw Closed() }
      if let bytes = PlainSocket.receive(from: descriptor) {
        if bytes.isEmpty { isAtEnd = true } else { received += bytes }
      } else {
        try await waitForBytes()
      }
    }
  }

  /// Waits for this number of bytes, and removes them from the received ones.
  func take(_ count: Int) async throws -> [UInt8] {
    try await wait { $0.count >= count }
    defer { received.removeSubrange(..<count) }
    return Array(received[..<count])
  }

  /// Waits until the system has bytes, or the end of the connection; on a thread that may block.
  private func waitForBytes() async throws {
    let isReadable = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [descriptor] in
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // An interrupted call is repeated like a successful one.
        continuation.resume(returning: poll(&wanted, 1, Self.patience) != 0)
      }
    }
    if !isReadable { throw TimedOut() }
  }

  /// The time in milliseconds without a byte after which a test fails.
  private static let patience: Int32 = 30_000

  /// The text that has arrived.
  var text: String { String(decoding: received, as: UTF8.self) }

  /// Waits for the end of the connection.
  func waitForEnd() async throws {
    do { try await wait { _ in false } } catch is Closed {}
  }

  /// Reads one complete answer.
  func answer(isForHead: Bool = false) async throws -> Answer {
    let separator = Array("\r\n\r\n".utf8)
    try await wait { $0.firstRange(of: separator) != nil }
    let end = try #require(received.firstRange(of: separator))
    let head = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
    let status = try #require(Int(head[0].split(separator: " ")[1]))
    var fields = [String: String]()
    for line in head.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    received.removeSubrange(..<end.upperBound)
    if isForHead || status == 304 || status == 101 { return Answer(status: status, fields: fields, body: []) }
    if fields["transfer-encoding"] == "chunked" {
      return Answer(status: status, fields: fields, body: try await chunks())
    }
    let length = try #require(fields["content-length"].flatMap { Int($0) }, "an answer has a length")
    try await wait { $0.count >= length }
    defer { received.removeSubrange(..<length) }
    return Answer(status: status, fields: fields, body: Array(received[..<length]))
  }

  private func chunks() async throws -> [UInt8] {
    var body = [UInt8]()
    let line = Array("\r\n".utf8)
    while true {
      try await wait { $0.firstRange(of: line) != nil }
      let end = try #require(received.firstRange(of: line))
      let length = try #require(Int(String(decoding: received[..<end.lowerBound], as: UTF8.self), radix: 16))
      received.removeSubrange(..<end.upperBound)
      try await wait { $0.count >= length + 2 }
      body += received[..<length]
      received.removeSubrange(..<(length + 2))
      if length == 0 { return body }
    }
  }
}
