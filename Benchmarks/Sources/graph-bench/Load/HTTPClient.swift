import Foundation
import GraphWire

/// A client of HTTP over one connection.
///
/// `@unchecked Sendable`: each is used by one thread at a time.
final class HTTPClient: @unchecked Sendable {
  private let socket: Socket
  private let port: Int

  init(port: Int) throws {
    self.port = port
    socket = try Socket(.tcp(host: "127.0.0.1", port: port))
  }

  /// The bytes of a request.
  func request(_ target: String, accept: String = "*/*") -> [UInt8] {
    Array("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: \(accept)\r\n\r\n".utf8)
  }

  /// Sends a request and returns the body of its answer, which has a length; valid until the next call.
  func get(_ request: [UInt8]) throws -> UnsafeRawBufferPointer {
    try socket.write(request)
    guard let length = try head()["content-length"].flatMap({ Int($0) }) else {
      throw BenchmarkError(description: "an answer has no length")
    }
    return try socket.next(length)
  }

  /// Sends a request, and passes on the parts of its answer as they arrive.
  func getParts(_ request: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void) throws {
    try socket.write(request)
    guard try head()["transfer-encoding"] == "chunked" else {
      throw BenchmarkError(description: "an answer has no parts")
    }
    while true {
      guard let length = Int(try line(), radix: 16) else { throw BenchmarkError(description: "a part has no length") }
      if length > 0 { body(try socket.next(length)) }
      try socket.skip(2)
      if length == 0 { return }
    }
  }

  /// Follows the objects of an entity until the first event is complete.
  func follow(_ entity: String) throws {
    try socket.write(request("/v1/live?entity=\(entity)"))
    while try !line().hasPrefix("id: ") {}
  }

  private func head() throws -> [String: String] {
    let status = try line()
    guard status.hasPrefix("HTTP/1.1 200 ") else { throw BenchmarkError(description: "the server answers \(status)") }
    var fields = [String: String]()
    while case let line = try line(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      fields[parts[0].lowercased()] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
    }
    return fields
  }

  private func line() throws -> String {
    let bytes = try socket.nextLine()
    return String(decoding: bytes.last == 13 ? bytes.dropLast() : bytes[...], as: UTF8.self)
  }
}
