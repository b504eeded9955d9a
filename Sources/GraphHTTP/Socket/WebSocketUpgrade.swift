// Tests: WebSocketTests.swift
import Crypto
import GraphModel
import HTTPTypes
import NIOCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A request to speak the graph's protocol over a WebSocket (RFC 6455, section 4).
struct WebSocketUpgrade: Sendable {
  /// The subprotocol: version 1 of the graph's protocol.
  static let subprotocol = "graph.1"
  /// The version of WebSockets.
  private static let version = "13"
  /// Appended to the client's key, by RFC 6455.
  private static let keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The client's key.
  let key: String
  let login: WebSocketLogin

  /// - Parameter login: the identity that the checks of all requests have found.
  /// - Throws: `Problem` for a request that is not an upgrade to such a WebSocket.
  init(_ head: HTTPRequest, _ login: WebSocketLogin) throws(Problem) {
    let fields = head.headerFields
    guard Self.tokens(fields[values: .upgrade]).contains("websocket"),
      Self.tokens(fields[values: .connection]).contains("upgrade")
    else { throw Self.required("this resource is a WebSocket: send Upgrade: websocket and Connection: Upgrade") }
    guard fields[values: .secWebSocketVersion] == [Self.version] else {
      throw Self.required("Sec-WebSocket-Version must be \(Self.version)")
    }
    let keys = fields[values: .secWebSocketKey]
    guard keys.count == 1, let key = keys.first, Data(base64Encoded: key)?.count == 16, key.utf8.count == 24 else {
      throw .malformed("Sec-WebSocket-Key must be sixteen bytes in base64")
    }
    guard Self.tokens(fields[values: .secWebSocketProtocol]).contains(Self.subprotocol) else {
      throw .malformed("Sec-WebSocket-Protocol must be \(Self.subprotocol)")
    }
    let length = fields[.contentLength]
    guard length == nil || length == "0", fields[.transferEncoding] == nil else {
      throw .malformed("a request for a WebSocket has no body")
    }
    (self.key, self.login) = (key, login)
  }

  private static func required(_ detail: String) -> Problem {
    var problem = Problem(.upgradeRequired, "malformed", detail)
    problem.fields[.upgrade] = "websocket"
    problem.fields[.connection] = "upgrade"
    problem.fields[.secWebSocketVersion] = version
    return problem
  }

  /// The elements of a list, in lower case.
  private static func tokens(_ values: [String]) -> [String] {
    values.flatMap { $0.lowercased().split(separator: ",") }.map { token in
      String(token.filter { $0 != " " && $0 != "\t" })
    }
  }

  /// The bytes of the answer. They do not pass through the HTTP handlers, which have been removed by then.
  var answer: ByteBuffer {
    let hash = Insecure.SHA1.hash(data: Data((key + Self.keySuffix).utf8))
    let lines = [
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(Data(hash).base64EncodedString())", "Sec-WebSocket-Protocol: \(Self.subprotocol)",
    ]
    return ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
  }
}
